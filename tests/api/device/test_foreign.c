/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Queues and events of the program's own: a queue that is given becomes a
 * place whose kernels go there, behind what the program has given it; an event
 * of the device fires one of the runtime, once, also with an error, before the
 * call returns, and not after the runtime has closed. On the emulated device
 * and on OpenCL, whose gates are user events, so that nothing is a matter of
 * time.
 */
#include "tests/api/device/device.h"

#include <dlfcn.h>

#define SOON_NS 5000000

/* ---- the emulated device ------------------------------------------------ */

/* An event of the emulated device: whom it tells. */
struct bell {
	void (*fired)(void *u, int error);
	void *u;
	bool is_early; /* it has come already */
	int error, refuses;
};

static int emu_watch(void *dev, void *event, void (*fired)(void *u, int error),
		     void *u)
{
	struct bell *b = event;

	(void)dev;
	if (b->refuses)
		return b->refuses;
	if (b->is_early) {
		fired(u, b->error);
		return 0;
	}
	b->fired = fired;
	b->u = u;
	return 0;
}

/* A queue of the emulated device is another device of its sort. */
static int emu_adopt(void *dev, void *queue, void **out)
{
	if (queue == dev)
		return -EINVAL;
	*out = queue;
	return 0;
}

static struct lkdf_place *add(struct lkdf *rt, struct emu *e)
{
	struct lkdf_device_ops ops = emu_ops(e);
	struct lkdf_place *p = NULL;

	ops.adopt = emu_adopt;
	ops.watch = emu_watch;
	must(lkdf_place_register(rt, &ops, e, &p));
	return p;
}

static int count_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(*(atomic_int **)arg, 1);
	return 0;
}

static struct lkdf_event submit_after(struct lkdf *rt, struct lkdf_kind *k,
				      atomic_int *nr, struct lkdf_event e)
{
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &nr, .after = &e,
				   .nr_after = 1),
			 &done));
	return done;
}

static void *ring(void *arg)
{
	struct bell *b = arg;

	b->fired(b->u, b->error);
	return NULL;
}

static void ring_elsewhere(struct bell *b)
{
	pthread_t thread;

	pthread_create(&thread, NULL, ring, b);
	pthread_join(thread, NULL);
}

static void an_event_of_the_device_fires_ours(void)
{
	struct bell bell = { .error = 0 }, bad = { .error = -EIO },
		    early = { .is_early = true }, never = { .error = 0 },
		    none = { .refuses = -EBUSY };
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_kind *k =
		api_kind(rt, "count", count_body, sizeof(atomic_int *), 0);
	struct lkdf_event e, done;
	struct lkdf_place *p;
	atomic_int nr = 0;
	struct emu emu;

	emu_init(&emu, EMU_OWN, device_kernels);
	p = add(rt, &emu);
	is(lkdf_event_from_device(p, &bell, &e), 0, "an event of the device");
	done = submit_after(rt, k, &nr, e);
	is(lkdf_event_wait(done, SOON_NS), 1, "a task waits until it has come");
	ring_elsewhere(&bell);
	is(lkdf_event_wait(done, -1), 0, "and then it runs");
	is(lkdf_event_wait(e, -1), 0, "the event has fired");
	is(atomic_load(&nr), 1, "once");

	must(lkdf_event_from_device(p, &early, &e));
	is(lkdf_event_wait(e, -1), 0, "one that has come before");
	must(lkdf_event_from_device(p, &bad, &e));
	ring_elsewhere(&bad);
	is(lkdf_event_wait(e, -1), -EIO, "its error is ours");
	is(lkdf_event_from_device(p, &none, &e), -EBUSY,
	   "what watch returns is returned");
	has(lkdf_errmsg(), "emu", "with the name of the device");
	is(lkdf_event_from_device(p, NULL, &e), -EINVAL, "no event");
	is(lkdf_event_from_device(lkdf_place_node(rt, 0), &bell, &e), -EINVAL,
	   "a node is no device");

	must(lkdf_event_from_device(p, &never, &e));
	lkdf_event_put(e);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "the runtime closes before it comes");
	ring_elsewhere(&never);
	ok(true, "and then it finds nobody");
	emu_check(&emu, "events");
}

static void a_queue_is_a_place(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 1);
	struct lkdf_place *p, *q = NULL;
	struct emu emu, queue;
	uint64_t by = 2;

	emu_init(&emu, EMU_OWN, device_kernels);
	emu_init(&queue, EMU_OWN, device_kernels);
	queue.nr_queues = 1;
	p = add(rt, &emu);
	is(lkdf_place_from_queue(p, &emu, &q), -EINVAL, "adopt refuses");
	has(lkdf_errmsg(), "device emu", "and the text has its name");
	is(lkdf_place_from_queue(p, &queue, &q), 0, "a queue becomes a place");
	is(lkdf_place_id(q), lkdf_place_id(p) + 1, "with a number of its own");
	is(device_call(rt, k, q, d, &by), 0, "a kernel for it");
	is(device_call(rt, k, p, d, &by), 0, "and one for the device");
	is(device_first_wrong(d, DEVICE_NR, 5), -1, "have the same bytes");
	is(atomic_load(&queue.nr[EMU_LAUNCH]), 1, "each went to its own");
	is(atomic_load(&emu.nr[EMU_LAUNCH]), 1, "queue");
	is(lkdf_place_from_queue(p, &queue, &q), -EEXIST, "a queue twice");
	is(lkdf_place_from_queue(p, NULL, &q), -EINVAL, "no queue");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "close");
	emu_check(&emu, "device");
	emu_check(&queue, "queue");
}

static void a_device_without_them_is_named(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_place *p, *q = NULL;
	struct lkdf_event e;
	struct emu emu;

	emu_init(&emu, EMU_OWN, device_kernels);
	p = emu_register(rt, &emu);
	is(lkdf_place_from_queue(p, &emu, &q), -EOPNOTSUPP, "no adopt");
	has(lkdf_errmsg(), "device emu takes no queues", "by name");
	is(lkdf_event_from_device(p, &emu, &e), -EOPNOTSUPP, "no watch");
	has(lkdf_errmsg(), "device emu tells of no events", "by name");
	is(device_close(rt), 0, "close");
	emu_check(&emu, "plain");
}

/* ---- OpenCL ------------------------------------------------------------- */

/* Objects of OpenCL, and its calls as the program finds them. */
typedef void *ocl;

static struct {
	int32_t (*platforms)(uint32_t nr, ocl *v, uint32_t *out);
	int32_t (*devices)(ocl platform, uint64_t type, uint32_t nr, ocl *v,
			   uint32_t *out);
	ocl (*make_context)(const intptr_t *list, uint32_t nr, const ocl *v,
			    void *fn, void *arg, int32_t *error);
	int32_t (*free_context)(ocl context);
	ocl (*make_queue)(ocl context, ocl id, const uint64_t *list,
			  int32_t *error);
	int32_t (*free_queue)(ocl queue);
	int32_t (*flush)(ocl queue);
	int32_t (*free_event)(ocl event);
	ocl (*user_event)(ocl context, int32_t *error);
	int32_t (*set_status)(ocl event, int32_t status);
	int32_t (*barrier)(ocl queue, uint32_t nr, const ocl *v, ocl *out);
	ocl id, context;
} cl;

static const struct {
	const char *name;
	void *to;
} calls[] = {
	{ "clGetPlatformIDs", &cl.platforms },
	{ "clGetDeviceIDs", &cl.devices },
	{ "clCreateContext", &cl.make_context },
	{ "clReleaseContext", &cl.free_context },
	{ "clCreateCommandQueueWithProperties", &cl.make_queue },
	{ "clReleaseCommandQueue", &cl.free_queue },
	{ "clFlush", &cl.flush },
	{ "clReleaseEvent", &cl.free_event },
	{ "clCreateUserEvent", &cl.user_event },
	{ "clSetUserEventStatus", &cl.set_status },
	{ "clEnqueueBarrierWithWaitList", &cl.barrier },
};

#define CL_COMPLETE 0
#define CL_DEVICE_TYPE_ALL 0xffffffffull
#define CL_QUEUE_PROPERTIES 0x1093
#define CL_QUEUE_WITHOUT_ORDER 1

/* The program's own context. False: there is no driver. */
static bool open_opencl(void)
{
	void *lib = dlopen("libOpenCL.so.1", RTLD_NOW);
	ocl platform;
	int32_t error = 0;
	size_t i;

	if (!lib)
		return false;
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		*(void **)calls[i].to = dlsym(lib, calls[i].name);
	if (cl.platforms(1, &platform, NULL) ||
	    cl.devices(platform, CL_DEVICE_TYPE_ALL, 1, &cl.id, NULL))
		return false;
	cl.context = cl.make_context(NULL, 1, &cl.id, NULL, NULL, &error);
	return !error;
}

static ocl make_queue(uint64_t properties)
{
	const uint64_t list[] = { CL_QUEUE_PROPERTIES, properties, 0 };
	int32_t error;
	ocl q = cl.make_queue(cl.context, cl.id, list, &error);

	must(error);
	return q;
}

static ocl gate(void)
{
	int32_t error;
	ocl e = cl.user_event(cl.context, &error);

	must(error);
	return e;
}

/* The first device of the first driver is the program's, too. */
static void opencl_takes_a_queue(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 1);
	ocl queue = make_queue(0), wild = make_queue(CL_QUEUE_WITHOUT_ORDER);
	struct lkdf_place *q = NULL;
	ocl closed = gate();
	struct lkdf_event done;
	uint64_t by = 2;

	is(lkdf_place_from_queue(p, wild, &q), -EINVAL,
	   "OpenCL: a queue without order");
	has(lkdf_errmsg(), "does not keep its order", "is refused by name");
	is(lkdf_place_from_queue(p, queue, &q), 0, "OpenCL: one with order");
	must(cl.barrier(queue, 1, &closed, NULL));
	must(cl.flush(queue));
	done = device_submit(rt, k, q, d, &by);
	is(lkdf_event_wait(done, SOON_NS), 1,
	   "OpenCL: a kernel is behind what the program gave the queue");
	must(cl.set_status(closed, CL_COMPLETE));
	is(lkdf_event_wait(done, -1), 0, "OpenCL: and then runs");
	is(device_call(rt, k, p, d, &by), 0, "OpenCL: one for the device");
	is(device_first_wrong(d, DEVICE_NR, 5), -1,
	   "OpenCL: the two have the same bytes");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	cl.free_event(closed);
	cl.free_queue(wild);
	/* The other one is the program's until the runtime has closed. */
}

#define CL_OUT_OF_RESOURCES -5

/* POCL calls for no command behind one that has failed (POCL #1430). */
static void opencl_forgets_calls(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 1);
	struct lkdf_place *q = NULL;
	ocl queue = make_queue(0), closed = gate(), bad = gate(), behind;
	struct lkdf_event done, e;
	uint64_t by = 2;
	int rc;

	must(lkdf_place_from_queue(p, queue, &q));
	/* POCL uses the event of a command that fails after its end. */
	must(cl.barrier(queue, 1, &closed, &behind));
	must(cl.flush(queue));
	done = device_submit(rt, k, q, d, &by);
	is(lkdf_event_wait(done, 10 * SOON_NS), 1, "OpenCL: a kernel waits");
	must(cl.set_status(closed, CL_OUT_OF_RESOURCES));
	rc = lkdf_event_wait(done, PATIENCE_NS);
	/* A launcher that is late by so much gives it after the failure. */
	ok(rc == -EIO || !rc,
	   "OpenCL: it ends behind a command that failed, with %d", rc);
	must(lkdf_event_from_device(p, bad, &e));
	must(cl.set_status(bad, CL_OUT_OF_RESOURCES));
	is(lkdf_event_wait(e, PATIENCE_NS), -ENOMEM,
	   "OpenCL: an event that is set to an error fires with it");
	lkdf_data_put(d);
	d = device_data(rt, DEVICE_NR, 1);
	is(device_call(rt, k, p, d, &by), 0, "OpenCL: the device works on");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	cl.free_event(behind);
	cl.free_event(closed);
	cl.free_event(bad);
}

static void opencl_tells_of_events(struct lkdf *rt, struct lkdf_place *p,
				   ocl never)
{
	struct lkdf_kind *k =
		api_kind(rt, "count", count_body, sizeof(atomic_int *), 0);
	ocl good = gate();
	struct lkdf_event e, done;
	atomic_int nr = 0;

	is(lkdf_event_from_device(p, good, &e), 0, "OpenCL: an event");
	done = submit_after(rt, k, &nr, e);
	is(lkdf_event_wait(done, SOON_NS), 1, "OpenCL: a task waits for it");
	must(cl.set_status(good, CL_COMPLETE));
	is(lkdf_event_wait(done, -1), 0, "OpenCL: and runs");
	is(lkdf_event_wait(e, -1), 0, "OpenCL: it has fired");
	must(lkdf_event_from_device(p, never, &e));
	lkdf_event_put(e);
	lkdf_kind_put(k);
	cl.free_event(good);
}

static void opencl(void)
{
	struct lkdf_place *p = NULL;
	ocl never;
	struct lkdf *rt;

	/* Whatever driver the other tests use. */
	unsetenv("LKDF_TEST_DEVICE");
	opencl_env(NULL);
	rt = api_open("workers=2,devices=opencl");
	if (lkdf_places(rt, LKDF_PLACE_GPU, &p, 1) < 1 || !open_opencl()) {
		skip("queues and events of OpenCL", lkdf_errmsg());
		lkdf_close(rt);
		return;
	}
	device_is_real = true;
	never = gate();
	opencl_takes_a_queue(rt, p);
	opencl_forgets_calls(rt, p);
	opencl_tells_of_events(rt, p, never);
	is(lkdf_close(rt), 0, "OpenCL: the runtime closes before one comes");
	must(cl.set_status(never, CL_COMPLETE));
	cl.free_event(never);
	cl.free_context(cl.context);
	ok(true, "OpenCL: which then finds nobody");
	device_is_real = false;
}

int main(void)
{
	tap_start(120);
	an_event_of_the_device_fires_ours();
	a_queue_is_a_place();
	a_device_without_them_is_named();
	opencl();
	return tap_end();
}
