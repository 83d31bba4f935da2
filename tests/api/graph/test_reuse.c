/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Graphs, kinds and scratch that come and go: a worker must not remember what
 * has ended, and what is given back stays until its last task.
 */
#include "tests/api/api.h"

struct filler {
	struct gate gate;
	struct lkdf_kind *k;
	atomic_int nr;
};

/* So much that the worker looks into its inbox before it is idle again. */
static int pass_gate_and_submit(struct lkdf_ctx *c, void *arg)
{
	struct filler *f = arg;
	int i;

	gate_pass(&f->gate);
	for (i = 0; i < 200; i++)
		must(lkdf_submit(lkdf_runtime(c), NULL,
				 ATTR(lkdf_task, .kind = f->k, .arg = &f->nr),
				 NULL));
	return 0;
}

struct stage {
	struct lkdf *rt;
	struct lkdf_kind *gate_kind, *filler_kind, *count;
	struct gate gate;
	struct filler filler;
};

static void stage_init(struct stage *st, struct lkdf *rt)
{
	*st = (struct stage){ .rt = rt };
	st->gate_kind = api_kind(rt, "gate", pass_gate, 0, 0);
	st->filler_kind = api_kind(rt, "fill", pass_gate_and_submit, 0, 0);
	st->count = api_kind(rt, "count", api_count, 0, 0);
	st->filler.k = st->count;
}

static void stage_fini(struct stage *st)
{
	lkdf_kind_put(st->gate_kind);
	lkdf_kind_put(st->filler_kind);
	lkdf_kind_put(st->count);
}

static struct lkdf_graph *one_task(struct lkdf *rt, struct lkdf_kind *k,
				   atomic_int *ran)
{
	struct lkdf_graph *g = api_graph(rt, 1);

	must(lkdf_graph_add(g, k, ran, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/* The worker, held at a gate, finds the graph's run and then the filler. */
static void run_before_filler(struct stage *st, struct lkdf_graph *g,
			      struct lkdf_scope *s, struct lkdf_event *done,
			      bool cancel)
{
	must(lkdf_submit(st->rt, NULL,
			 ATTR(lkdf_task, .kind = st->gate_kind,
			      .arg = &st->gate),
			 NULL));
	api_until(&st->gate.entered);
	must(lkdf_graph_run(g, s, NULL, done));
	must(lkdf_submit(st->rt, NULL,
			 ATTR(lkdf_task, .kind = st->filler_kind,
			      .arg = &st->filler),
			 NULL));
	if (cancel)
		must(lkdf_scope_cancel(st->rt, s, -EINTR));
	atomic_store(&st->gate.open, 1);
	api_until(&st->filler.gate.entered);
}

static void a_run_after_a_cancelled_one_is_not_skipped(struct lkdf *rt)
{
	struct lkdf_event first, second;
	struct lkdf_scope *s;
	struct lkdf_graph *g;
	atomic_int ran = 0;
	struct stage st;

	stage_init(&st, rt);
	must(lkdf_scope_create(rt, NULL, &s));
	g = one_task(rt, st.count, &ran);
	run_before_filler(&st, g, s, &first, true);
	is(lkdf_event_wait(first, -1), -EINTR, "the first run is cancelled");
	is(lkdf_scope_wait(rt, s, -1), -EINTR, "its scope is cleared");
	must(lkdf_graph_run(g, s, NULL, &second));
	atomic_store(&st.filler.gate.open, 1);
	is(lkdf_event_wait(second, -1), 0, "the second ends well");
	is(ran, 1, "and its task ran");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "nothing failed");
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	stage_fini(&st);
}

/* The second graph may get the first one's number and memory. */
static void a_graph_may_go_while_its_worker_is_busy(struct lkdf *rt)
{
	struct lkdf_event first, second;
	atomic_int ran = 0, ran_second = 0;
	struct lkdf_graph *g;
	struct stage st;

	stage_init(&st, rt);
	g = one_task(rt, st.count, &ran);
	run_before_filler(&st, g, NULL, &first, false);
	is(lkdf_event_wait(first, -1), 0, "the first graph runs");
	lkdf_graph_put(g);
	g = one_task(rt, st.count, &ran_second);
	must(lkdf_graph_run(g, NULL, NULL, &second));
	atomic_store(&st.filler.gate.open, 1);
	is(lkdf_event_wait(second, -1), 0, "the second graph runs");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the rest too");
	ok(ran == 1 && ran_second == 1, "each ran its own task");
	lkdf_graph_put(g);
	stage_fini(&st);
}

static struct lkdf_kind *last_kind;

static int put_own_kind(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add((atomic_int *)arg, 1);
	lkdf_kind_put(last_kind);
	return lkdf_fail(c, -ENOTTY, "after the kind is put");
}

static void a_kind_stays_until_its_last_task(struct lkdf *rt)
{
	struct gate gate = { 0 };
	atomic_int ran = 0;
	struct lkdf_kind *k, *queued;
	int i;

	last_kind = api_kind(rt, "own", put_own_kind, 0, 0);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = last_kind, .arg = &ran),
			 NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -ENOTTY, "its text stays");
	has(lkdf_errmsg(), "own: after the kind is put", "with its name");
	k = api_kind(rt, "gate", pass_gate, 0, 0);
	queued = api_kind(rt, "queued", api_count, 0, 0);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &gate),
			 NULL));
	api_until(&gate.entered);
	for (i = 0; i < 100; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = queued, .arg = &ran),
				 NULL));
	lkdf_kind_put(k);
	lkdf_kind_put(queued);
	/* Whoever gets its memory now must not be run instead. */
	k = api_kind(rt, "nothing", api_nothing, 0, 0);
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "tasks of put kinds end well");
	is(ran, 101, "and ran");
	lkdf_kind_put(k);
}

static struct lkdf_kind *small_kind, *big_kind;

static int use_big_scratch(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	memset(lkdf_scratch(c), 2, 1 << 20);
	return 0;
}

/* The child runs on the same stack and needs more. */
static int use_small_scratch(struct lkdf_ctx *c, void *arg)
{
	char *scratch = lkdf_scratch(c);

	(void)arg;
	if ((uintptr_t)scratch % 64)
		return -EFAULT;
	memset(scratch, 1, 100);
	must(lkdf_spawn(c, big_kind, NULL));
	must(lkdf_join(c));
	memset(scratch, 3, 100);
	return 0;
}

static int has_no_scratch(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_scratch(c) ? -EEXIST : 0;
}

static void scratch_outlives_a_join(struct lkdf *rt)
{
	struct lkdf_kind *none = api_kind(rt, "none", has_no_scratch, 0, 0);

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "small",
				   .fn = use_small_scratch,
				   .scratch_size = 100),
			      &small_kind));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "big",
				   .fn = use_big_scratch,
				   .scratch_size = 1 << 20),
			      &big_kind));
	is(api_call(rt, small_kind, NULL), 0,
	   "scratch stays there while a child takes more");
	is(api_call(rt, none, NULL), 0, "without a size there is none");
	lkdf_kind_put(none);
	lkdf_kind_put(small_kind);
	lkdf_kind_put(big_kind);
}

int main(void)
{
	struct lkdf *rt;

	tap_start(60);
	rt = api_open_workers(1);
	a_run_after_a_cancelled_one_is_not_skipped(rt);
	a_graph_may_go_while_its_worker_is_busy(rt);
	a_kind_stays_until_its_last_task(rt);
	scratch_outlives_a_join(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
