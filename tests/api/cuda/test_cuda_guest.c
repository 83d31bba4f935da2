/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The program's own code of CUDA beside the library's: while it captures a
 * graph, in each of three modes, the library does all that it does on a card,
 * for the thread that captures. The capture ends well, the graph computes, the
 * thread keeps its context and its mode, and no card is lost. Each case is a
 * process of its own, also on a driver whose calls want a current context.
 */
#include "tests/cuda/child.h"
#include "tests/cuda/load.h"

#include <pthread.h>

#define CARDS 2
#define BIG (1 << 20) /* bytes that go by the thread for pageable ones */
#define ROW 64 /* bytes of a row, and rows */

static struct lkdf *rt;
static struct lkdf_place *place[CARDS];
static struct cu cu;
static long (*nr_calls)(const char *call); /* NULL: a real driver */
static int (*let_fail)(const char *call, unsigned result, unsigned after);
static int nr_wrong;

static const char text[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	/* x[0] = 2 * x[0] + value */
	".visible .entry step(.param .u64 at, .param .u64 value)\n{\n"
	" .reg .u64 %a, %v, %w;\n"
	" ld.param.u64 %a, [at];\n ld.param.u64 %v, [value];\n"
	" ld.global.u64 %w, [%a];\n add.u64 %w, %w, %w;\n"
	" add.u64 %w, %w, %v;\n st.global.u64 [%a], %w;\n ret;\n}\n"
	/* until the word at the address that is a value is not 0 */
	".visible .entry stay(.param .u64 at, .param .u64 flag)\n{\n"
	" .reg .u64 %f;\n .reg .u32 %v;\n .reg .pred %p;\n"
	" ld.param.u64 %f, [flag];\nagain:\n"
	" ld.volatile.global.u32 %v, [%f];\n setp.eq.u32 %p, %v, 0;\n"
	" @%p bra again;\n ret;\n}\n";

/* One line for each fact that is not so. */
static void want(long got, long is, const char *what)
{
	if (got == is)
		return;
	nr_wrong++;
	printf("# %s: %ld, not %ld: %s\n", what, got, is, lkdf_errmsg());
}

/* ---- what is the program's ---------------------------------------------- */

static struct own {
	cu_ctx ctx;
	cu_stream stream, other;
	cu_func step;
	cu_ptr word;
	uint64_t value;
} own;

/* On the last card, whose context is current in this thread. */
static void open_own(void)
{
	cu_mod m = NULL;

	must((int)cu.cuDevicePrimaryCtxRetain(&own.ctx, CARDS - 1));
	must((int)cu.cuCtxSetCurrent(own.ctx));
	must((int)cu.cuStreamCreate(&own.stream, CU_NON_BLOCKING));
	must((int)cu.cuStreamCreate(&own.other, CU_NON_BLOCKING));
	must((int)cu.cuModuleLoadData(&m, text));
	must((int)cu.cuModuleGetFunction(&own.step, m, "step"));
	must((int)cu.cuMemAlloc(&own.word, sizeof(own.value)));
	must((int)cu.cuMemcpyHtoD(own.word, &own.value, sizeof(own.value)));
}

static void give_step(cu_stream s, uint64_t by)
{
	const struct cu_config c = { .grid = { 1, 1, 1 },
				     .block = { 1, 1, 1 },
				     .stream = s };
	void *params[] = { &own.word, &by };

	want(cu.cuLaunchKernelEx(&c, own.step, params, NULL), 0, "a launch");
}

static void run_graph_of(cu_graph g)
{
	cu_exec x = NULL;
	uint64_t got = 0;
	int i;

	want(cu.cuGraphInstantiateWithFlags(&x, g, 0), 0, "an exec of it");
	for (i = 0; i < 2; i++)
		want(cu.cuGraphLaunch(x, own.stream), 0, "a run of it");
	want(cu.cuStreamSynchronize(own.stream), 0, "its end");
	for (i = 0; i < 2; i++)
		own.value = 2 * (2 * own.value + 3) + 4;
	want(cu.cuMemcpyDtoH(&got, own.word, sizeof(got)), 0, "its bytes");
	want((long)got, (long)own.value, "what it has computed");
	cu.cuGraphExecDestroy(x);
	cu.cuGraphDestroy(g);
}

/* Rows to the card, packed, and back behind the steps of the stream. */
static void carry_rows(void)
{
	struct cu_copy_2d c = { .width = ROW, .height = ROW };
	unsigned char *rows = NULL;
	cu_ptr there = 0;
	int i, right = 0;

	must((int)cu.cuMemHostAlloc((void **)&rows, 4 * ROW * ROW, 1));
	must((int)cu.cuMemAlloc(&there, ROW * ROW));
	for (i = 0; i < 4 * ROW * ROW; i++)
		rows[i] = (unsigned char)(i / ROW);
	c.from = (struct cu_side){ .place = CU_PLACE_HOST,
				   .host = rows,
				   .pitch = 2 * ROW };
	c.to = (struct cu_side){ .place = CU_PLACE_DEVICE,
				 .device = there,
				 .pitch = ROW };
	want(cu.cuMemcpy2DAsync(&c, own.stream), 0, "rows there");
	c.from = c.to;
	c.to = (struct cu_side){
		.place = CU_PLACE_HOST, .x = ROW, .host = rows, .pitch = 2 * ROW
	};
	want(cu.cuMemcpy2DAsync(&c, own.stream), 0, "rows back");
	want(cu.cuStreamSynchronize(own.stream), 0, "their end");
	for (i = 0; i < ROW; i++)
		right += rows[2 * i * ROW + ROW] == 2 * i;
	want(right, ROW, "rows that are right");
	cu.cuMemFree(there);
	cu.cuMemFreeHost(rows);
}

/* ---- what the library does ---------------------------------------------- */

static struct lkdf_kind *kind_of(const char *entry)
{
	const struct lkdf_code code = { .device = "cuda",
					.image = text,
					.entry = entry };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = entry,
					      .arg_size = sizeof(uint64_t)),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { 1, 1, 1 }),
		&k));
	return k;
}

/* Six kernels, each behind the one before. */
static struct lkdf_graph *graph_of(struct lkdf_place *p, struct lkdf_kind *k,
				   struct lkdf_data *d, uint64_t by)
{
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_graph *g;
	int i;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < 6; i++)
		must(lkdf_graph_add_task(g, LKDF_TASK(.kind = k, .place = p,
						      .arg = &by, .use = &use,
						      .nr_use = 1)));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static int run_once(struct lkdf_graph *g)
{
	struct lkdf_event done;
	int rc = lkdf_graph_run(g, NULL, NULL, &done);

	return rc ? rc : lkdf_event_wait(done, -1);
}

static void use_kernels(struct lkdf_place *p)
{
	struct lkdf_kind *k = kind_of("step");
	struct lkdf_data *d = device_data(rt, 8, 1);
	struct lkdf_graph *g;
	uint64_t by = 3, x = 1;
	int i;

	want(device_call(rt, k, p, d, &by), 0, "a kernel whose code is new");
	g = graph_of(p, k, d, by);
	for (i = 0; i < 4; i++)
		want(run_once(g), 0, "a run of a sealed graph");
	for (i = 0; i < 1 + 4 * 6; i++)
		x = 2 * x + by;
	want(device_first_wrong(d, 1, x), -1, "its word");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void use_memory(struct lkdf_place *p)
{
	static const enum lkdf_mem_kind kinds[] = { LKDF_MEM_OWN,
						    LKDF_MEM_MANAGED,
						    LKDF_MEM_HOST_PINNED };
	char *pageable = malloc(BIG), *v[3] = { NULL };
	int i;

	memset(pageable, 7, BIG);
	for (i = 0; i < 3; i++)
		want(lkdf_alloc(p, kinds[i], BIG, 0, "own", (void **)&v[i]), 0,
		     "memory");
	want(lkdf_copy(rt, NULL, v[0], pageable, BIG, NULL), 0, "a copy there");
	want(lkdf_copy(rt, NULL, v[1], v[0], BIG, NULL), 0, "a copy within");
	want(lkdf_copy(rt, NULL, v[2], v[1], BIG, NULL), 0, "a copy to pinned");
	want(v[2][BIG - 1], 7, "its bytes");
	memset(pageable, 0, BIG);
	want(lkdf_copy(rt, NULL, pageable, v[0], BIG, NULL), 0, "a copy back");
	want(pageable[BIG - 1], 7, "its bytes");
	for (i = 0; i < 3; i++)
		lkdf_free(rt, v[i]);
	free(pageable);
}

/* The driver is asked for faults, which it is in a silence of 2 ms. */
static void await_question(struct lkdf_event done, long before)
{
	int i;

	for (i = 0; i < 20000; i++) {
		if (lkdf_event_wait(done, SECOND / 1000) != 1)
			return; /* it has failed: its end says so */
		if (nr_calls ? nr_calls("cuStreamQuery") > before : i == 20)
			return;
	}
	want(0, 1, "the driver is asked for faults");
}

static void use_silence(struct lkdf_place *p)
{
	struct lkdf_kind *k = kind_of("stay");
	struct lkdf_data *d = device_data(rt, 8, 1);
	struct lkdf_event done;
	void *flag = NULL;
	uint64_t at;

	must(lkdf_alloc(p, LKDF_MEM_MANAGED, 64, 0, "flag", &flag));
	*(uint32_t *)flag = 0;
	at = (uintptr_t)flag;
	done = device_submit(rt, k, p, d, &at);
	await_question(done, nr_calls ? nr_calls("cuStreamQuery") : 0);
	__atomic_store_n((uint32_t *)flag, 1, __ATOMIC_RELEASE);
	want(lkdf_event_wait(done, -1), 0, "a kernel that takes long");
	lkdf_free(rt, flag);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void use_event(struct lkdf_place *p, cu_event event)
{
	struct lkdf_event e;

	want(lkdf_event_from_device(p, event, &e), 0, "an event");
	want(lkdf_event_wait(e, PATIENCE_NS), 0, "which comes");
}

/* It finds the stream's context, and leaves another one. */
static int give_nothing(struct lkdf_ctx *c, void *arg, void *queue)
{
	cu_ctx of = NULL, is = NULL;

	(void)c;
	(void)arg;
	if (cu.cuStreamGetCtx(queue, &of) || cu.cuCtxGetCurrent(&is))
		return -EIO;
	cu.cuCtxSetCurrent(NULL);
	return of == is ? 0 : -EBADMSG;
}

static void use_enqueue(struct lkdf_place *p)
{
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "nothing"),
			    .enqueue = give_nothing),
		&k));
	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = p), &done));
	want(lkdf_event_wait(done, -1), 0, "an enqueue()");
	lkdf_kind_put(k);
}

static void use_place(struct lkdf_place *p, cu_event event)
{
	use_enqueue(p);
	use_kernels(p);
	use_memory(p);
	use_event(p, event);
	use_silence(p);
}

/* ---- both --------------------------------------------------------------- */

/* The thread is what it was. */
static void check_thread(const char *what)
{
	unsigned mode = CU_CAPTURE_GLOBAL;
	cu_ctx is = NULL;

	cu.cuCtxGetCurrent(&is);
	want(is == own.ctx, 1, what);
	cu.cuThreadExchangeStreamCaptureMode(&mode);
	want(mode, CU_CAPTURE_GLOBAL, what);
}

static void capture_beside(unsigned mode)
{
	cu_event event = NULL;
	cu_graph g = NULL;
	int i;

	must((int)cu.cuEventCreate(&event, CU_EVENT_NO_TIMING));
	must((int)cu.cuEventRecord(event, own.other));
	want(cu.cuStreamBeginCapture(own.stream, mode), 0, "a capture begins");
	give_step(own.stream, 3);
	for (i = 0; i < CARDS; i++)
		use_place(place[i], event);
	give_step(own.stream, 4);
	want(cu.cuStreamEndCapture(own.stream, &g), 0, "a capture ends");
	if (g)
		run_graph_of(g);
	cu.cuEventDestroy(event);
	check_thread("the thread that has captured");
}

/* Another thread that captures all the time, in mode global. */
static _Atomic(int) is_over;

static void *capture_always(void *arg)
{
	int *nr_bad = arg;
	cu_stream s = NULL;
	cu_graph g;

	if (cu.cuCtxSetCurrent(own.ctx) ||
	    cu.cuStreamCreate(&s, CU_NON_BLOCKING))
		*nr_bad = 1;
	while (!is_over && !*nr_bad) {
		g = NULL;
		*nr_bad += cu.cuStreamBeginCapture(s, CU_CAPTURE_GLOBAL) != 0;
		give_step(s, 1);
		sched_yield();
		*nr_bad += cu.cuStreamEndCapture(s, &g) != 0;
		if (g)
			cu.cuGraphDestroy(g);
	}
	return NULL;
}

static void captures_of_another_thread(void)
{
	pthread_t thread;
	int nr_bad = 0, i;

	must(-pthread_create(&thread, NULL, capture_always, &nr_bad));
	for (i = 0; i < 10; i++) {
		use_kernels(place[i % CARDS]);
		use_memory(place[i % CARDS]);
	}
	is_over = 1;
	pthread_join(thread, NULL);
	want(nr_bad, 0, "captures of another thread");
}

static const char *how;

static void find_calls(void)
{
	void *f = dlsym(cu.library, "fake_cuda_calls");

	memcpy(&nr_calls, &f, sizeof(f));
	f = dlsym(cu.library, "fake_cuda_fail");
	memcpy(&let_fail, &f, sizeof(f));
}

static int open_both(void)
{
	char why[256];

	if (cu_load(cuda_driver(), &cu, why, sizeof(why)) || cu.cuInit(0))
		return 98;
	find_calls();
	rt = api_open(driver_options(how));
	if (lkdf_places(rt, LKDF_PLACE_GPU, place, CARDS) != CARDS)
		return 99;
	open_own();
	return 0;
}

/* In a child: how many facts are wrong; 99: there are no two cards. */
static int be_guest(void)
{
	int rc = open_both();
	unsigned mode;

	if (rc)
		return rc;
	for (mode = 0; mode <= CU_CAPTURE_RELAXED; mode++)
		capture_beside(mode);
	carry_rows();
	captures_of_another_thread();
	want(device_close(rt), 0, "close");
	check_thread("the thread that has closed");
	return nr_wrong > 90 ? 90 : nr_wrong;
}

/*
 * A stream of the program's that it begins to capture while kernels of a run
 * are there: that run may fail, the place is not lost.
 */
static int be_captured(void)
{
	struct lkdf_place *q = NULL;
	struct lkdf_graph *g;
	struct lkdf_kind *k;
	struct lkdf_data *d;
	int rc = open_both();
	unsigned i;

	if (rc || !let_fail)
		return rc ? rc : 99;
	must(lkdf_place_from_queue(place[CARDS - 1], own.stream, &q));
	k = kind_of("step");
	for (i = 0; i < 8; i++) {
		d = device_data(rt, 8, 1);
		must(let_fail("cuStreamIsCapturing", 900, i));
		must(let_fail("cuStreamIsCapturing", 900, i));
		g = graph_of(q, k, d, 1);
		rc = run_once(g);
		want(rc == 0 || rc == -EBUSY, 1, "a run beside a capture");
		lkdf_graph_put(g);
		lkdf_data_put(d);
	}
	lkdf_kind_put(k);
	want(device_close(rt), 0, "close");
	return nr_wrong;
}

static void run_case(const char *like, const char *options, int (*fn)(void))
{
	static struct child c;
	int rc;

	how = options;
	setenv("FAKE_CUDA_LIKE", like, 1);
	snprintf(c.fail, sizeof(c.fail), "cuInit=0");
	start_child(&c, fn);
	rc = end_child(&c);
	if (rc == 99)
		skip(options, "no two cards");
	else if (!is(rc, 0, "%s, like \"%s\": %s", options, like,
		     fn == be_guest ? "captures" : "a stream that is captured"))
		printf("%s", c.said);
}

int main(void)
{
	tap_start(120);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	setenv("FAKE_CUDA_CARDS", "2", 1);
	run_case("", "workers=2", be_guest);
	run_case("", "serial=yes", be_guest);
	run_case("current", "workers=2", be_guest);
	run_case("current", "serial=yes", be_guest);
	run_case("", "workers=2", be_captured);
	run_case("", "serial=yes", be_captured);
	return tap_end();
}
