/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels of sealed graphs as CUDA graphs: captured when they come the second
 * time, run again from then on, with other values as well; tasks on CPUs take
 * results from the middle; what the driver refuses goes kernel by kernel. The
 * driver for tests says how often it was called.
 */
#include "tests/api/device/region.h"
#include "tests/cuda/text.h"

#include <dlfcn.h>

#define NR DEVICE_NR
#define SHORT 6 /* kernels of a graph without a word in the middle */

static struct lkdf *rt;
static struct lkdf_place *place;
static struct lkdf_kind *step, *borrow;

/* ---- the driver for tests ----------------------------------------------- */

static long (*nr_calls)(const char *call);
static int (*let_fail)(const char *call, unsigned result, unsigned after);

/* Not on the driver of a card. */
static bool find_control(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *f;

	if (!driver)
		return false;
	f = dlsym(driver, "fake_cuda_calls");
	memcpy(&nr_calls, &f, sizeof(f));
	f = dlsym(driver, "fake_cuda_fail");
	memcpy(&let_fail, &f, sizeof(f));
	dlclose(driver);
	return nr_calls && let_fail;
}

static uint64_t graphs(void)
{
	return stat_of(rt, "lkdf.cuda.graphs");
}

static uint64_t updates(void)
{
	return stat_of(rt, "lkdf.cuda.updates");
}

static uint64_t refused(void)
{
	return stat_of(rt, "lkdf.cuda.refused");
}

/* ---- chains ------------------------------------------------------------- */

struct chain {
	struct lkdf_graph *g;
	struct lkdf_data *d;
	unsigned nr, block; /* block: of a launch, 0: as the driver chooses */
	uint64_t by, x; /* what all words are */
};

static void open_chain(struct chain *c, struct lkdf_data *d, unsigned nr,
		       uint64_t by)
{
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	unsigned i;

	*c = (struct chain){ .d = d, .nr = nr, .by = by };
	must(lkdf_graph_create(rt, NULL, &c->g));
	for (i = 0; i < nr; i++)
		add_task(c->g, step, place, &use, 1, by);
	must(lkdf_graph_seal(c->g, NULL));
}

/* The kernels borrow the value, so that it may change between two runs. */
static void open_borrowing(struct chain *c, struct lkdf_data *d, unsigned nr)
{
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	unsigned i;

	*c = (struct chain){ .d = d, .nr = nr, .by = 1 };
	must(lkdf_graph_create(rt, NULL, &c->g));
	for (i = 0; i < nr; i++) {
		int32_t t = lkdf_graph_add_task(
			c->g,
			LKDF_TASK(.kind = borrow, .place = place, .arg = &c->by,
				  .use = &use, .nr_use = 1));

		must(t < 0 ? t : 0);
	}
	must(lkdf_graph_seal(c->g, NULL));
}

/* x: of the data, before and after. */
static void run_chain(struct chain *c, uint64_t *x, const char *what)
{
	unsigned i;

	is(run(c->g, NULL), 0, "%s: a run", what);
	for (i = 0; i < c->nr; i++)
		*x = 3 * *x + c->by;
	is(device_first_wrong(c->d, NR, *x), -1, "%s: is right", what);
}

static void close_chain(struct chain *c)
{
	lkdf_graph_put(c->g);
}

static void the_second_run_is_captured(void)
{
	struct lkdf_data *d = device_data(rt, NR, 1);
	long launches, captures;
	uint64_t x = 1, before;
	struct chain c;

	open_chain(&c, d, SHORT, 1);
	before = graphs();
	run_chain(&c, &x, "first");
	is(graphs() - before, 0, "the first run has no CUDA graph");
	launches = nr_calls("cuLaunchKernel");
	captures = nr_calls("cuStreamBeginCapture");
	run_chain(&c, &x, "second");
	is(graphs() - before, 1, "the second one has");
	is(nr_calls("cuStreamBeginCapture") - captures, 1, "it was captured");
	is(nr_calls("cuLaunchKernel") - launches, SHORT, "launch by launch");
	run_chain(&c, &x, "third");
	run_chain(&c, &x, "fourth");
	is(graphs() - before, 3, "so have all others");
	is(nr_calls("cuLaunchKernel") - launches, SHORT,
	   "which launch no kernel any more");
	is(updates(), 0, "nothing has changed");
	close_chain(&c);
	lkdf_data_put(d);
}

static void other_values_change_the_graph(void)
{
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t x = 1, before = updates();
	long made = nr_calls("cuGraphInstantiateWithFlags");
	struct chain c;

	open_borrowing(&c, d, SHORT + 1);
	run_chain(&c, &x, "one");
	run_chain(&c, &x, "one again");
	c.by = 2;
	run_chain(&c, &x, "other values");
	is(updates() - before, 1, "other values: the graph is updated");
	run_chain(&c, &x, "the same again");
	is(updates() - before, 1, "and not again");
	c.by = 1;
	run_chain(&c, &x, "the first values");
	is(updates() - before, 2, "but when they have changed again");
	is(nr_calls("cuGraphInstantiateWithFlags") - made, 1, "it is one");
	close_chain(&c);
	lkdf_data_put(d);
}

/* A launch of the same text takes the same place in another graph. */
static void graphs_do_not_share(void)
{
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t x = 1, before = updates();
	struct chain one, two;
	int i;

	open_chain(&one, d, SHORT, 1);
	open_chain(&two, d, SHORT, 2);
	for (i = 0; i < 4; i++) {
		run_chain(&one, &x, "one graph");
		run_chain(&two, &x, "another one");
	}
	is(updates() - before, 0, "two graphs that look alike: no update");
	close_chain(&two);
	close_chain(&one);
	lkdf_data_put(d);
}

/* More than one piece: some lie behind each other in the queue. */
static void long_chains_are_right(void)
{
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t x = 1, before = graphs();
	struct chain c;
	int i;

	open_chain(&c, d, 700, 3);
	for (i = 0; i < 4; i++)
		run_chain(&c, &x, "700 kernels");
	ok(graphs() > before, "700 kernels: %llu runs of graphs",
	   (unsigned long long)(graphs() - before));
	close_chain(&c);
	lkdf_data_put(d);
}

/* ---- a task in the middle ----------------------------------------------- */

static uint64_t *flag;

static int raise_body(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0);

	(void)arg;
	__atomic_store_n(flag, x[NR - 1], __ATOMIC_RELEASE);
	return 0;
}

/* step, copy -> task; step ... and the one that waits for the task. */
static void build_middle(struct lkdf_graph *g, struct lkdf_data **d,
			 struct lkdf_kind *copy, struct lkdf_kind *see,
			 struct lkdf_kind *wait)
{
	const struct lkdf_use rw = { d[0], LKDF_RW, 0 },
			      read = { d[1], LKDF_READ, 0 },
			      both[] = { { d[0], LKDF_READ, 0 },
					 { d[1], LKDF_WRITE, 0 } };
	unsigned i;

	for (i = 0; i < 3; i++)
		add_task(g, step, place, &rw, 1, 1);
	add_task(g, copy, place, both, 2, 0);
	add_task(g, see, NULL, &read, 1, 0);
	for (i = 0; i < 2; i++)
		add_task(g, step, place, &rw, 1, 1);
	add_task(g, wait, place, &rw, 1, (uintptr_t)flag);
	must(lkdf_graph_seal(g, NULL));
}

static void a_task_takes_a_result_from_the_middle(void)
{
	struct lkdf_data *d[] = { device_data(rt, NR, 1),
				  device_data(rt, NR, 0) };
	struct lkdf_kind *wait = text_kind(rt, "stay", stay_text),
			 *copy = device_kind(rt, "copy"),
			 *see = api_kind(rt, "see", raise_body,
					 sizeof(uint64_t), 0);
	uint64_t want, *x;
	struct lkdf_graph *g;
	void *at = NULL;
	int i, rc;

	must(lkdf_alloc(place, LKDF_MEM_MANAGED, 4096, 4096, "flag", &at));
	flag = at;
	must(lkdf_graph_create(rt, NULL, &g));
	build_middle(g, d, copy, see, wait);
	for (i = 0; i < 4; i++) {
		__atomic_store_n(flag, 0, __ATOMIC_RELEASE);
		must(lkdf_data_acquire(d[0], LKDF_WRITE, -1, &at));
		for (x = at; x < (uint64_t *)at + NR; x++)
			*x = 1;
		lkdf_data_release(d[0]);
		rc = run(g, NULL);
		is(rc, 0, "a run with a task in the middle");
		must(lkdf_data_acquire(d[0], LKDF_READ, -1, &at));
		want = *(uint64_t *)at;
		lkdf_data_release(d[0]);
		is(want, steps(1, 3),
		   "the task has begun before the last kernel has ended");
	}
	lkdf_graph_put(g);
	lkdf_free(rt, flag);
	lkdf_kind_put(wait);
	lkdf_kind_put(copy);
	lkdf_kind_put(see);
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
}

/* ---- what is refused ---------------------------------------------------- */

/* A call that fails once, and what that makes of six runs of a new graph. */
static const struct trouble {
	const char *call;
	unsigned error;
	unsigned graphs, refused, updates;
} troubles[] = {
	/* Refused in the second run, the third one goes kernel by kernel. */
	{ "cuStreamBeginCapture", 401, 3, 1, 0 },
	{ "cuStreamEndCapture", 901, 3, 1, 0 },
	{ "cuGraphInstantiateWithFlags", 2, 3, 1, 0 },
	{ "cuGraphLaunch", 1, 3, 1, 0 },
	/* Another value in the third run, and the first again in the fourth. */
	{ "cuGraphExecUpdate", 910, 5, 0, 2 },
	{ "cuGraphExecUpdate", 1, 3, 1, 0 },
};

static void run_trouble(const struct trouble *t, unsigned nr)
{
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t had[] = { graphs(), refused(), updates() }, x = 1;
	bool is_update = !strcmp(t->call, "cuGraphExecUpdate");
	struct chain c;
	int i;

	open_borrowing(&c, d, nr);
	must(let_fail(t->call, t->error, 0));
	run_chain(&c, &x, t->call);
	run_chain(&c, &x, t->call);
	c.by += is_update;
	run_chain(&c, &x, t->call);
	c.by -= is_update;
	for (i = 0; i < 3; i++)
		run_chain(&c, &x, t->call);
	is(graphs() - had[0], t->graphs, "%s: runs of graphs", t->call);
	is(refused() - had[1], t->refused, "%s: refused", t->call);
	is(updates() - had[2], t->updates, "%s: updates", t->call);
	close_chain(&c);
	lkdf_data_put(d);
}

static void what_is_refused_goes_kernel_by_kernel(void)
{
	size_t i;

	for (i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
		run_trouble(&troubles[i], SHORT);
	}
}

/* A piece that is refused for ever is tried again, ever more rarely. */
static void what_is_refused_rests_longer(void)
{
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t had[] = { graphs(), refused() }, x = 1;
	struct chain c;
	int i;

	open_chain(&c, d, SHORT, 11);
	for (i = 0; i < 4; i++)
		must(let_fail("cuGraphLaunch", 1, 0));
	for (i = 0; i < 30; i++)
		run_chain(&c, &x, "refused again and again");
	/* The first, 4 refusals and their rests of 1, 3, 7 and 15. */
	is(refused() - had[1], 4, "four runs are refused");
	is(graphs() - had[0], 0, "and the others rest");
	run_chain(&c, &x, "the last one that rests");
	run_chain(&c, &x, "when it has rested");
	is(graphs() - had[0], 1, "then it is a graph");
	close_chain(&c);
	lkdf_data_put(d);
}

/* In the first run each is launched. */
static void a_kernel_of_a_chain_says_why_it_failed(void)
{
	struct lkdf_data *d = device_data(rt, NR, 1);
	struct chain c;

	open_chain(&c, d, SHORT, 13);
	must(let_fail("cuLaunchKernel", 701, 3));
	is(run(c.g, NULL), -EINVAL, "a kernel of a chain fails");
	has(lkdf_errmsg(), "cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
	    "with the driver's words");
	close_chain(&c);
	lkdf_data_put(d);
}

/* The launch of a graph and of a kernel say that a kernel has faulted. */
static void a_fault_is_that_of_its_task(void)
{
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t x = 1;
	struct chain c;

	open_chain(&c, d, SHORT - 1, 7);
	run_chain(&c, &x, "before the fault");
	must(let_fail("cuGraphLaunch", 700, 0));
	is(run(c.g, NULL), -ENODEV, "a fault: the run fails");
	has(lkdf_errmsg(), "ILLEGAL_ADDRESS", "with the driver's error");
	close_chain(&c);
	lkdf_data_put(d);
}

int main(void)
{
	tap_start(200);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	rt = api_open(driver_options("workers=2"));
	if (lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) != 1 ||
	    !find_control()) {
		skip("CUDA graphs", "the driver is not that for tests");
		lkdf_close(rt);
		return tap_end();
	}
	device_is_real = true;
	step = device_kind(rt, "step");
	borrow = borrowing_kind(rt, "step");
	the_second_run_is_captured();
	other_values_change_the_graph();
	graphs_do_not_share();
	long_chains_are_right();
	a_task_takes_a_result_from_the_middle();
	what_is_refused_goes_kernel_by_kernel();
	what_is_refused_rests_longer();
	a_kernel_of_a_chain_says_why_it_failed();
	a_fault_is_that_of_its_task();
	lkdf_kind_put(step);
	lkdf_kind_put(borrow);
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
