/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each call of the driver that the library makes fails once with each error
 * that the recorded driver gives for it, and for ever with the first of them: a
 * task that fails says the call or the error, the others are right, nothing
 * hangs and the runtime closes. Each case is a process of its own.
 */
#include "tests/cuda/cache.h"
#include "tests/cuda/child.h"
#include "tests/cuda/faults.h"
#include "tests/cuda/text.h"

#include <dlfcn.h>

static int keep_first(int rc, int got)
{
	if (got && !rc)
		printf("# %s\n", lkdf_errmsg());
	return rc ? rc : got;
}

/* Memory of each sort, and copies between them; the first error. */
static int use_memory(struct lkdf *rt, struct lkdf_place *p)
{
	static const enum lkdf_mem_kind kinds[] = { LKDF_MEM_OWN,
						    LKDF_MEM_HOST_PINNED,
						    LKDF_MEM_MANAGED };
	char *v[3] = { NULL };
	int rc = 0, i;

	for (i = 0; i < 3; i++)
		rc = keep_first(rc, lkdf_alloc(p, kinds[i], 4096, 4096, "block",
					       (void **)&v[i]));
	if (!rc)
		rc = keep_first(rc,
				lkdf_copy(rt, NULL, v[0], v[1], 4096, NULL));
	if (!rc)
		rc = keep_first(rc, lkdf_copy(rt, NULL, v[0] + 2048, v[0], 2048,
					      NULL));
	if (!rc)
		rc = keep_first(rc,
				lkdf_copy(rt, NULL, v[2], v[0], 4096, NULL));
	for (i = 0; i < 3; i++)
		lkdf_free(rt, v[i]);
	return rc;
}

static int see_body(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *x = lkdf_ptr(c, 0);

	(void)arg;
	return x[NR - 1] == 2 ? 0 : -EDOM;
}

static int add_to(struct lkdf_graph *g, struct lkdf_kind *k,
		  struct lkdf_place *p, const void *arg,
		  const struct lkdf_use *use, unsigned nr)
{
	int t = lkdf_graph_add_task(g,
				    LKDF_TASK(.kind = k, .place = p, .arg = arg,
					      .use = use, .nr_use = nr));

	return t < 0 ? t : 0;
}

/* Of six kernels, one more that copies, and a task that sees the copy. */
static int build_graph(struct lkdf_graph *g, struct lkdf_place *p,
		       struct lkdf_kind **k, struct lkdf_data **d,
		       const uint64_t *value)
{
	const struct lkdf_use rw = { d[0], LKDF_RW, 0 },
			      read = { d[1], LKDF_READ, 0 },
			      both[] = { { d[0], LKDF_READ, 0 },
					 { d[1], LKDF_WRITE, 0 } };
	const uint64_t zero = 0;
	int rc = 0, i;

	for (i = 0; i < 6 && !rc; i++) {
		rc = add_to(g, k[0], p, &value[i & 1], &rw, 1);
		if (!rc && i == 3)
			rc = add_to(g, k[1], p, &zero, both, 2);
		if (!rc && i == 3)
			rc = add_to(g, k[2], NULL, NULL, &read, 1);
	}
	return rc ? rc : lkdf_graph_seal(g, NULL);
}

/* Four runs, the third one with other values: the first error. */
static int run_graph(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_kind *k[] = { borrowing_kind(rt, "add"),
				  device_kind(rt, "copy"),
				  api_kind(rt, "see", see_body, 0, 0) };
	struct lkdf_data *d[] = { device_data(rt, NR, 2),
				  device_data(rt, NR, 0) };
	uint64_t value[] = { 1, -1 };
	struct lkdf_event done;
	struct lkdf_graph *g;
	int rc, i;

	must(lkdf_graph_create(rt, NULL, &g));
	rc = build_graph(g, p, k, d, value);
	for (i = 0; i < 4 && !rc; i++) {
		value[0] = i == 2 ? 5 : value[0];
		value[1] = -value[0];
		rc = lkdf_graph_run(g, NULL, NULL, &done);
		rc = keep_first(0, rc ? rc : lkdf_event_wait(done, -1));
		rc = rc ? rc : keep_first(0, check_data(d[0]));
	}
	lkdf_graph_put(g);
	for (i = 0; i < 3; i++)
		lkdf_kind_put(k[i]);
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	return rc;
}

static int use_all(struct lkdf *rt, struct lkdf_place *p)
{
	int rc = run_kernels(rt, p);

	rc = rc ? rc : use_memory(rt, p);
	return rc ? rc : run_graph(rt, p);
}

/* Was it called, as FAKE_CUDA_FAIL has it? On a real driver: nobody knows. */
static bool was_called(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD),
	     *f = driver ? dlsym(driver, "fake_cuda_calls") : NULL;
	long (*nr_calls)(const char *call);
	char call[80];

	snprintf(call, sizeof(call), "%s", getenv("FAKE_CUDA_FAIL"));
	call[strcspn(call, "=")] = 0;
	memcpy(&nr_calls, &f, sizeof(f));
	return !f || nr_calls(call) > 0;
}

/* In a child: 0 all is right, 1 a task failed, 2 there is no device, 3 the call
 * was not made. */
static int use_device(void)
{
	struct lkdf *rt = api_open(driver_options("workers=2"));
	struct lkdf_place *p;
	int rc;

	if (lkdf_places(rt, LKDF_PLACE_GPU, &p, 1) != 1) {
		printf("# %s\n", lkdf_errmsg());
		return device_close(rt) ? 9 : 2;
	}
	device_is_real = true;
	rc = use_all(rt, p);
	if (rc == -EBADMSG)
		return 8; /* wrong words and no error */
	if (device_close(rt))
		return 9;
	return !was_called() ? 3 : rc ? 1 : 0;
}

/*
 * Has the text the name of a driver's error? Where bytes are lost on their way
 * home the reader is told so; of a function without the entry its name is told;
 * the error of cuFuncGetParamInfo is what ends the list of parameters; and a
 * card that tells no attribute has no managed memory.
 */
static bool has_reason(const struct child *c)
{
	static const char *const reasons[] = {
		"CUDA_ERROR_",
		"could not give them back",
		"the code has no kernel",
		"parameters, 2 are given",
		"LKDF_MEM_MANAGED: device cuda has none",
	};
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strstr(c->said, reasons[i]))
			return true;
	return false;
}

static void tell_child(struct child *c)
{
	static const char *const told[] = { "all is right", "a task fails",
					    "no device", "it is not called" };
	int rc = end_child(c), most = c->is_elsewhere ? 3 : 2;

	ok(rc >= 0 && rc <= most, "%s: %s", c->fail,
	   rc >= 0 && rc <= 3 ? told[rc] : "the process is wrong");
	if (rc < 0 || rc > most)
		printf("# status %d: %s\n", rc, c->said);
	c->said[strcspn(c->said, "\n")] = 0;
	if (rc == 1 || rc == 2)
		ok(has_reason(c), "%s: the text has the driver's reason: %.90s",
		   c->fail, c->said);
	c->fail[strcspn(c->fail, "=")] = 0;
	if (rc == 2)
		has(c->said, c->fail, "%s: and the call", c->fail);
}

#define AT_A_TIME 8

static struct child children[AT_A_TIME];
static size_t nr_children;

/* Some at a time: each waits for the driver. */
static void start_case(const struct cuda_fault *f, unsigned error,
		       const char *how)
{
	struct child *c = &children[nr_children % AT_A_TIME];

	if (nr_children++ >= AT_A_TIME)
		tell_child(c);
	snprintf(c->fail, sizeof(c->fail), "%s=%u%s", f->call, error, how);
	c->is_elsewhere = f->is_elsewhere;
	start_child(c, use_device);
}

/* The text is compiled once, and then found. */
static void each_call_fails_once(void)
{
	struct child first = { .fail = "cuInit=0" };
	size_t i, k;

	start_child(&first, use_device);
	is(end_child(&first), 0, "without an error all is right");
	for (i = 0; i < NR_CUDA_FAULTS; i++)
		for (k = 0; k < CUDA_FAULT_ERRORS && cuda_faults[i].error[k];
		     k++)
			start_case(&cuda_faults[i], cuda_faults[i].error[k],
				   "");
}

/* From its first call on, and from its third. */
static void each_call_fails_for_ever(void)
{
	size_t i;

	for (i = 0; i < NR_CUDA_FAULTS; i++) {
		if (!cuda_faults[i].error[0])
			continue;
		start_case(&cuda_faults[i], cuda_faults[i].error[0], "@1+");
		start_case(&cuda_faults[i], cuda_faults[i].error[0], "@3+");
	}
}

static void tell_rest(void)
{
	size_t i;

	for (i = nr_children - AT_A_TIME; i < nr_children; i++)
		tell_child(&children[i % AT_A_TIME]);
}

int main(void)
{
	tap_start(240);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	cache_begin();
	each_call_fails_once();
	each_call_fails_for_ever();
	tell_rest();
	cache_end();
	return tap_end();
}
