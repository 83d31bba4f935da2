/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Streams, events and functions of CUDA that the program has made itself; and,
 * at the end, a kernel that faults: who waits is told, and so is whoever comes
 * later, in another runtime as well.
 */
#include "tests/api/device/device.h"
#include "tests/cuda/load.h"

#define SOON_NS 50000000

static struct lkdf *rt;
static struct lkdf_place *place;
static struct cu cu;

static const char text[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	/* x[0] = 2 * x[0] + value */
	".visible .entry step(.param .u64 at, .param .u32 value)\n{\n"
	" .reg .u64 %a;\n .reg .u32 %v, %w;\n"
	" ld.param.u64 %a, [at];\n ld.param.u32 %v, [value];\n"
	" ld.global.u32 %w, [%a];\n add.u32 %w, %w, %w;\n"
	" add.u32 %w, %w, %v;\n st.global.u32 [%a], %w;\n ret;\n}\n"
	/* the same at an address that is a value, and then there */
	".visible .entry wild(.param .u64 at, .param .u64 there)\n{\n"
	" .reg .u64 %a;\n .reg .u32 %w;\n ld.param.u64 %a, [there];\n"
	" ld.global.u32 %w, [%a];\n st.global.u32 [%a], %w;\n ret;\n}\n";

static struct lkdf_kind *kind_of(const char *entry, uint64_t arg_size,
				 void *function)
{
	const struct lkdf_code code = { .device = "cuda",
					.image = function ? NULL : text,
					.entry = function ? NULL : entry,
					.function = function };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = entry,
					      .arg_size = arg_size),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { 1, 1, 1 }),
		&k));
	return k;
}

/* ---- what is the program's ---------------------------------------------- */

/* A stream that waits until the gate is opened. */
struct shut {
	cu_stream stream;
	uint32_t *word;
};

static void make_gate(struct shut *g)
{
	cu_ptr there = 0;

	must((int)cu.cuMemHostAlloc((void **)&g->word, 64,
				    CU_HOST_PORTABLE | CU_HOST_MAPPED));
	*g->word = 0;
	must((int)cu.cuMemHostGetDevicePointer(&there, g->word, 0));
	must((int)cu.cuStreamCreateWithPriority(&g->stream, CU_NON_BLOCKING,
						0));
	must((int)cu.cuStreamWaitValue32(g->stream, there, 1, 0));
}

static void open_gate(struct shut *g)
{
	__atomic_store_n(g->word, 1, __ATOMIC_RELEASE);
}

static void a_stream_becomes_a_place(void)
{
	struct lkdf_kind *k = kind_of("step", 4, NULL);
	struct lkdf_data *d = device_data(rt, 8, 1);
	struct lkdf_place *q = NULL;
	struct lkdf_event done;
	uint32_t by = 3;
	struct shut g;

	is(lkdf_place_from_queue(place, (void *)2, &q), -EINVAL,
	   "the stream of a thread");
	has(lkdf_errmsg(), "stream 2", "is refused by name");
	make_gate(&g);
	is(lkdf_place_from_queue(place, g.stream, &q), 0, "one of its own");
	done = device_submit(rt, k, q, d, &by);
	is(lkdf_event_wait(done, SOON_NS), 1,
	   "a kernel is behind what the program gave the stream");
	open_gate(&g);
	is(lkdf_event_wait(done, -1), 0, "and then runs");
	is(device_call(rt, k, place, d, &by), 0, "one for the card");
	is(device_first_wrong(d, 1, 13), -1, "has the same bytes");
	must((int)cu.cuStreamBeginCapture(g.stream, CU_CAPTURE_RELAXED));
	is(device_call(rt, k, q, d, &by), -EBUSY, "while it is captured");
	has(lkdf_errmsg(), "captured", "a kernel says so");
	is(lkdf_place_from_queue(place, g.stream, &q), -EINVAL,
	   "nor does it become another place");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	/* It is the program's until the runtime has closed. */
}

/* The default stream, which torch and cudart use where nobody says another. */
static void the_default_stream_becomes_a_place(cu_stream handle,
					       const char *what)
{
	struct lkdf_kind *k = kind_of("step", 4, NULL);
	struct lkdf_data *d = device_data(rt, 8, 1);
	struct lkdf_place *q = NULL;
	cu_stream blocking = NULL;
	struct lkdf_event done;
	uint32_t by = 3, *word = NULL;
	cu_graph graph = NULL;
	cu_ptr there = 0;

	must((int)cu.cuMemHostAlloc((void **)&word, 64,
				    CU_HOST_PORTABLE | CU_HOST_MAPPED));
	*word = 0;
	must((int)cu.cuMemHostGetDevicePointer(&there, word, 0));
	is(lkdf_place_from_queue(place, handle, &q), 0, "%s", what);
	must(device_call(rt, k, q, d, &by));
	must((int)cu.cuStreamWaitValue32(NULL, there, 1, 0));
	done = device_submit(rt, k, q, d, &by);
	is(lkdf_event_wait(done, SOON_NS), 1,
	   "a kernel is behind what the program gave it");
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	is(lkdf_event_wait(done, -1), 0, "and then runs");
	is(device_first_wrong(d, 1, 13), -1, "it has the right bytes");
	must((int)cu.cuStreamCreateWithPriority(&blocking, 0, 0));
	must((int)cu.cuStreamBeginCapture(blocking, CU_CAPTURE_RELAXED));
	is(device_call(rt, k, q, d, &by), -EBUSY,
	   "while a stream that waits for it is captured a kernel fails");
	is(cu.cuStreamEndCapture(blocking, &graph), 0, "the capture is whole");
	must((int)cu.cuGraphDestroy(graph));
	must((int)cu.cuStreamDestroy(blocking));
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* ---- libraries ---------------------------------------------------------- */

static int library;
static cu_ctx context_of_create;

static int make_handle(void *u, void *queue, void **handle)
{
	(void)u;
	must((int)cu.cuCtxGetCurrent(&context_of_create));
	*handle = queue;
	return 0;
}

/* cuBLAS would be called with the handle here. */
static int use_handle(struct lkdf_ctx *c, void *arg, void *queue)
{
	void *handle = NULL;
	int rc = lkdf_library(c, library, &handle);

	(void)arg;
	return rc ? rc : handle == queue ? 0 : -EDOM;
}

static void a_library_has_a_handle_for_each_stream(void)
{
	const struct lkdf_library_attr a = { .size = sizeof(a),
					     .name = "blas",
					     .create = make_handle };
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;
	cu_ctx context = NULL;
	int i;

	library = lkdf_place_library(place, &a);
	must(library < 0 ? library : 0);
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "blas"),
			    .enqueue = use_handle),
		&k));
	for (i = 0; i < 8; i++) {
		must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = place),
				 &done));
		is(lkdf_event_wait(done, -1), 0,
		   "work with its stream's handle");
	}
	must((int)cu.cuDevicePrimaryCtxRetain(&context, 0));
	ok(context_of_create == context, "create has the card's context");
	must((int)cu.cuDevicePrimaryCtxRelease(0));
	lkdf_kind_put(k);
}

static int say_stream(struct lkdf_ctx *c, void *arg, void *queue)
{
	(void)c;
	**(void ***)arg = queue;
	return 0;
}

/* The priority of the stream that a task's enqueue() is given. */
static int priority_of(int prio)
{
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;
	void *stream = NULL, *at = &stream;
	int priority = 1;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "say",
					      .arg_size = sizeof(at)),
			    .enqueue = say_stream),
		&k));
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &at, .place = place,
				   .prio = prio),
			 &done));
	must(lkdf_event_wait(done, -1));
	must((int)cu.cuStreamGetPriority(stream, &priority));
	lkdf_kind_put(k);
	return priority;
}

static void urgent_kernels_have_a_stream(void)
{
	int least = 0, most = 0, i;

	must((int)cu.cuCtxGetStreamPriorityRange(&least, &most));
	for (i = 0; i < 6; i++)
		is(priority_of(LKDF_NORMAL), least,
		   "a kernel goes to a stream like all");
	is(priority_of(LKDF_URGENT), most,
	   "an urgent one to the stream that goes first");
}

static void a_function_is_launched(void)
{
	struct lkdf_data *d = device_data(rt, 8, 1);
	struct lkdf_kind *k;
	cu_func f = NULL;
	cu_mod m = NULL;
	uint64_t by = 3;

	must((int)cu.cuModuleLoadData(&m, text));
	must((int)cu.cuModuleGetFunction(&f, m, "step"));
	k = kind_of("mine", 4, f);
	is(device_call(rt, k, place, d, &by), 0, "a function of the program's");
	is(device_first_wrong(d, 1, 5), -1, "and is right");
	lkdf_kind_put(k);
	k = kind_of("mine", 8, f);
	is(device_call(rt, k, place, d, &by), -EINVAL,
	   "its parameters are known as well");
	lkdf_kind_put(k);
	lkdf_data_put(d);
}

static void events_are_waited_for(void)
{
	struct lkdf_event e, again;
	cu_event event = NULL;
	struct shut g;

	make_gate(&g);
	must((int)cu.cuEventCreate(&event, CU_EVENT_NO_TIMING));
	must((int)cu.cuEventRecord(event, g.stream));
	must(lkdf_event_from_device(place, event, &e));
	must(lkdf_event_from_device(place, event, &again));
	is(lkdf_event_wait(e, SOON_NS), 1, "an event that has not come");
	open_gate(&g);
	is(lkdf_event_wait(e, -1), 0, "and comes");
	is(lkdf_event_wait(again, -1), 0, "for all who wait");
	must(lkdf_event_from_device(place, event, &e));
	is(lkdf_event_wait(e, -1), 0, "one that has come before");
	cu.cuEventDestroy(event);
	cu.cuStreamDestroy(g.stream);
}

static void close_waits_for_no_event(void)
{
	struct lkdf_event e, other;
	cu_event event = NULL;
	struct shut g;

	make_gate(&g);
	must((int)cu.cuEventCreate(&event, CU_EVENT_NO_TIMING));
	must((int)cu.cuEventRecord(event, g.stream));
	must(lkdf_event_from_device(place, event, &e));
	must(lkdf_event_from_device(place, event, &other));
	lkdf_event_put(other);
	is(device_close(rt), 0, "close does not wait for it");
	open_gate(&g);
	must((int)cu.cuStreamSynchronize(g.stream));
}

/* ---- a fault ------------------------------------------------------------ */

static void a_fault_is_told(void)
{
	struct lkdf_kind *k = kind_of("wild", 8, NULL);
	struct lkdf_data *d = device_data(rt, 8, 1);
	struct lkdf_device_info i = { .size = sizeof(i) };
	struct lkdf_block_info b = { .size = sizeof(b) };
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	uint64_t nowhere = 4096;
	void *own = NULL;
	struct lkdf_event e;
	cu_event event = NULL;
	struct shut g;

	must(lkdf_alloc(place, LKDF_MEM_OWN, 64, 0, "own", &own));
	must(lkdf_block(rt, own, &b));
	is(device_call(rt, k, place, d, &b.device_ptr), 0,
	   "an address of the card's");
	make_gate(&g);
	must((int)cu.cuEventCreate(&event, CU_EVENT_NO_TIMING));
	must((int)cu.cuEventRecord(event, g.stream));
	must(lkdf_event_from_device(place, event, &e));
	is(device_call(rt, k, place, d, &nowhere), -ENODEV, "a fault");
	has(lkdf_errmsg(), "ILLEGAL_ADDRESS", "the text has the reason");
	is(lkdf_event_wait(e, PATIENCE_NS), -ENODEV, "who waits is told");
	is(lkdf_place_info(place, &i), -ENODEV, "the card is lost");
	has(lkdf_errmsg(), "ILLEGAL_ADDRESS", "for that reason");
	is(lkdf_submit(rt, NULL,
		       LKDF_TASK(.kind = k, .arg = &nowhere, .place = place,
				 .use = &use, .nr_use = 1),
		       NULL),
	   -ENODEV, "no further task is taken");
	/* Not before: the driver returns memory once all streams are empty, and
	 * that of the gate never is. */
	lkdf_free(rt, own);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "the runtime closes");
}

static void a_later_runtime_is_told_as_well(void)
{
	struct lkdf_kind *k = kind_of("step", 4, NULL);
	struct lkdf_data *d = device_data(rt, 8, 1);
	uint32_t by = 1;

	is(device_call(rt, k, place, d, &by), -ENODEV, "a later runtime");
	has(lkdf_errmsg(), "ILLEGAL_ADDRESS", "is told the reason");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "and closes");
}

static void open_runtime(void)
{
	rt = api_open(driver_options("workers=2"));
	is(lkdf_places(rt, LKDF_PLACE_GPU, &place, 1), 1, "a card: %s",
	   lkdf_errmsg());
}

int main(void)
{
	cu_ctx context = NULL;
	char why[200] = "";

	tap_start(120);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	if (cu_load(cuda_driver(), &cu, why, sizeof(why)) || cu.cuInit(0)) {
		skip("CUDA that is the program's", why);
		return tap_end();
	}
	must((int)cu.cuDevicePrimaryCtxRetain(&context, 0));
	must((int)cu.cuCtxSetCurrent(context));
	open_runtime();
	a_stream_becomes_a_place();
	the_default_stream_becomes_a_place(NULL, "the NULL stream");
	must(device_close(rt));
	open_runtime();
	the_default_stream_becomes_a_place((cu_stream)CU_LEGACY,
					   "cudaStreamLegacy");
	must((int)cu.cuCtxSetCurrent(NULL));
	must(device_close(rt));
	open_runtime();
	is(lkdf_place_from_queue(place, NULL, &(struct lkdf_place *){ NULL }),
	   0, "that of the card, where no context is current");
	must((int)cu.cuCtxSetCurrent(context));
	urgent_kernels_have_a_stream();
	a_library_has_a_handle_for_each_stream();
	a_function_is_launched();
	events_are_waited_for();
	close_waits_for_no_event();
	open_runtime();
	a_fault_is_told();
	open_runtime();
	a_later_runtime_is_told_as_well();
	return tap_end();
}
