/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sealed graphs whose tasks use data: uses become edges, runs share data with
 * each other and with submitted tasks. Random programs are compared with an
 * interpreter, run after run. LKDF_DATA_ONCE: test_data_once.c.
 *
 * test_data_graph [SEED [PROGRAMS]] runs other programs, and more of them.
 */
#include "tests/api/compare.h"

#include <pthread.h>

/*
 * Random programs
 */

enum way {
	WAY_ONE_BY_ONE, /* each run is waited for, and checked */
	WAY_AT_ONCE,
	WAY_TIMES,
	WAY_MIXED, /* in between the steps are submitted */
	NR_WAYS,
};

#define NR_RUNS 3

struct trial {
	struct world *w;
	struct state *st;
	struct lkdf_graph *g;
	enum way way;
};

static struct lkdf_graph *graph_of(struct world *w, uint32_t inflight)
{
	struct lkdf_graph *g = api_graph(w->rt, inflight);
	struct lkdf_use use[MAX_OPS];
	struct job job = { .w = w };
	int rc;

	for (; job.step < w->p->nr_steps; job.step++) {
		uses_of(w, &w->p->step[job.step], use);
		rc = lkdf_graph_add(g, w->kind, &job, use,
				    w->p->step[job.step].nr);
		if (rc != (int)job.step)
			wrong(w, "step %u: add: %d %s", job.step, rc,
			      lkdf_errmsg());
	}
	rc = lkdf_graph_seal(g, NULL);
	if (rc)
		wrong(w, "seal: %d %s", rc, lkdf_errmsg());
	return g;
}

static void interpret(struct trial *t)
{
	uint32_t i;

	for (i = 0; i < t->w->p->nr_steps; i++)
		state_step(t->st, t->w->p, i);
}

/* The first error of the steps; 0: all go well. */
static int expected(const struct trial *t)
{
	uint32_t i;

	for (i = 0; i < t->w->p->nr_steps; i++)
		if (t->st->result[i])
			return t->st->result[i];
	return 0;
}

static void run_and_check(struct trial *t)
{
	int rc;

	memset(t->w->mark, 0, sizeof(t->w->mark));
	interpret(t);
	rc = api_run(t->g, NULL, NULL);
	if (rc != expected(t))
		wrong(t->w, "run: %d, expected %d", rc, expected(t));
	world_check_marks(t->w, t->st);
	world_check_order(t->w);
	world_check_data(t->w, t->st);
}

static void run_at_once(struct trial *t)
{
	struct world *w = t->w;
	uint32_t i, step;

	for (i = 0; i < NR_RUNS; i++) {
		interpret(t);
		if (t->way == WAY_TIMES && i)
			continue;
		if (t->way == WAY_TIMES)
			must(lkdf_graph_run(t->g, NULL,
					    ATTR(lkdf_run, .times = NR_RUNS),
					    NULL));
		else if (t->way == WAY_AT_ONCE || i % 2 == 0)
			must(lkdf_graph_run(t->g, NULL, NULL, NULL));
		else
			for (step = 0; step < w->p->nr_steps; step++)
				world_submit(w, step, NULL, NULL);
	}
	if (w->p->seed % 2)
		world_check_data(w, t->st);
	world_check_runs(w, t->st, NR_RUNS);
}

static int run_graph(struct lkdf *rt, struct lkdf_kind *k,
		     const struct choice *c, uint64_t seed)
{
	static struct program p;
	static struct state st;
	struct trial t = { .st = &st };
	int nr, i;

	program_make(&p, c, seed);
	state_init(&st, &p);
	t.w = world_create(rt, &p, k);
	t.w->reduces_apart = true;
	t.g = graph_of(t.w, 1 + seed / NR_WAYS % 4);
	t.way = c->error ? WAY_ONE_BY_ONE : (enum way)(seed % NR_WAYS);
	if (t.way == WAY_ONE_BY_ONE)
		for (i = 0; i < NR_RUNS; i++)
			run_and_check(&t);
	else
		run_at_once(&t);
	if (!c->error && !c->has_twice && !(c->modes & LKDF_REDUCE))
		world_check_versions(t.w, &st);
	nr = atomic_load(&t.w->nr_wrong);
	if (nr) {
		printf("# way %d, inflight %d\n", t.way,
		       (int)(1 + seed / NR_WAYS % 4));
		program_say(&p);
	}
	lkdf_graph_put(t.g);
	lkdf_scope_wait(rt, NULL, -1);
	world_destroy(t.w);
	return nr;
}

static const struct choice choices[] = {
	{ .modes = LKDF_RW | LKDF_MAYBE,
	  .max_data = 4,
	  .max_parts = 1,
	  .max_steps = 50 },
	{ .modes = LKDF_RW | LKDF_COMMUTE,
	  .max_data = 12,
	  .max_parts = 1,
	  .max_steps = 90,
	  .has_twice = true },
	{ .modes = LKDF_RW | LKDF_COMMUTE | LKDF_MAYBE,
	  .max_data = 4,
	  .max_parts = MAX_PARTS,
	  .max_steps = 80 },
	{ .modes = LKDF_RW | LKDF_COMMUTE,
	  .max_data = 4,
	  .max_parts = MAX_PARTS,
	  .max_steps = 80,
	  .has_twice = true },
	{ .modes = LKDF_RW | LKDF_COMMUTE | LKDF_REDUCE,
	  .max_data = 6,
	  .max_parts = 1,
	  .max_steps = 60 },
	{ .modes = LKDF_RW | LKDF_COMMUTE | LKDF_REDUCE,
	  .max_data = 4,
	  .max_parts = MAX_PARTS,
	  .max_steps = 60 },
	{ .modes = LKDF_RW | LKDF_MAYBE,
	  .max_data = 5,
	  .max_parts = 1,
	  .max_steps = 50,
	  .error = -EILSEQ },
};

/*
 * The boundary
 */

struct expectation {
	atomic_int nr_wrong, is_failing;
};

static int fail_if_told(struct lkdf_ctx *c, void *arg)
{
	struct expectation *x = *(struct expectation **)arg;

	*(uint64_t *)lkdf_ptr(c, 0) = 1;
	return atomic_load(&x->is_failing) ? lkdf_fail(c, -EIO, "as told") : 0;
}

static void what_nobody_has_written_is_refused(struct lkdf *rt)
{
	struct lkdf_data *d = DATA(rt, .bytes = 8, .name = "late");
	struct lkdf_kind *k = api_kind(rt, "adds", add_one, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);

	must(add_on(g, k, NULL, ON(d, LKDF_RW)));
	must(lkdf_graph_seal(g, NULL));
	is(lkdf_graph_run(g, NULL, NULL, NULL), -ENODATA,
	   "a run that reads what nobody has written");
	has(lkdf_errmsg(), "late", "is refused by name");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "nothing is left of it");
	must(submit_on(rt, k, NULL, ON(d, LKDF_WRITE), NULL));
	is(api_run(g, NULL, NULL), 0, "after a write it runs");
	is(lkdf_data_version(d), 2, "and counts as a write");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* What a run has failed to write is poison outside; the next run heals. */
static void errors_cross_the_boundary(struct lkdf *rt)
{
	struct expectation expect = { .is_failing = 1 }, *x = &expect;
	struct lkdf_data *d = DATA(rt, .bytes = 8);
	struct lkdf_data *e = DATA(rt, .bytes = 8, .init = &(uint64_t){ 1 });
	struct lkdf_kind *fails, *adds;
	struct lkdf_graph *g = api_graph(rt, 1), *reads = api_graph(rt, 1);
	struct lkdf_event done;

	fails = api_kind(rt, "fails", fail_if_told, sizeof(x), 0);
	adds = api_kind(rt, "adds", add_one, 0, 0);
	must(add_on(g, fails, &x, ON(d, LKDF_WRITE)));
	must(add_on(g, adds, NULL, ON(d, LKDF_RW)));
	must(add_on(g, adds, NULL, ON(e, LKDF_RW)));
	must(lkdf_graph_seal(g, NULL));
	must(add_on(reads, adds, NULL, ON(d, LKDF_RW)));
	must(add_on(reads, adds, NULL, ON(e, LKDF_RW)));
	must(lkdf_graph_seal(reads, NULL));
	is(api_run(g, NULL, NULL), -EIO, "a run fails");
	must(submit_on(rt, adds, NULL, ON(d, LKDF_RW), &done));
	is(lkdf_event_wait(done, -1), -EIO, "a task outside is skipped");
	must(submit_on(rt, adds, NULL, ON(e, LKDF_RW), &done));
	is(lkdf_event_wait(done, -1), 0, "with other data it is not");
	is(api_run(reads, NULL, NULL), -EIO, "another graph has the error");
	must(submit_on(rt, adds, NULL, ON(e, LKDF_RW), &done));
	is(lkdf_event_wait(done, -1), 0, "but writes what it can");
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), -EIO, "acquire, too");
	atomic_store(&x->is_failing, 0);
	is(api_run(g, NULL, NULL), 0, "the next run heals");
	is(api_run(reads, NULL, NULL), 0, "then the other graph runs");
	must(submit_on(rt, adds, NULL, ON(d, LKDF_RW), &done));
	is(lkdf_event_wait(done, -1), 0, "and the task");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_graph_put(reads);
	lkdf_data_put(d);
	lkdf_data_put(e);
	lkdf_kind_put(fails);
	lkdf_kind_put(adds);
}

/* Parts alone: the others stay good. */
static void a_failed_part_poisons_no_other(struct lkdf *rt)
{
	struct expectation expect = { .is_failing = 1 }, *x = &expect;
	struct lkdf_data *d =
		DATA(rt, .bytes = 16, .init = (uint64_t[]){ 1, 1 });
	struct lkdf_kind *fails, *adds;
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_event done;

	must(lkdf_data_split(d, 2, 8));
	fails = api_kind(rt, "fails", fail_if_told, sizeof(x), 0);
	adds = api_kind(rt, "adds", add_one, 0, 0);
	must(add_on(g, fails, &x, ON_PART(d, LKDF_WRITE, 1)));
	must(add_on(g, adds, NULL, ON_PART(d, LKDF_RW, 2)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "a writer of part 1 fails");
	must(submit_on(rt, adds, NULL, ON_PART(d, LKDF_RW, 2), &done));
	is(lkdf_event_wait(done, -1), 0, "part 2 is good");
	must(submit_on(rt, adds, NULL, ON_PART(d, LKDF_RW, 1), &done));
	is(lkdf_event_wait(done, -1), -EIO, "part 1 is not");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(fails);
	lkdf_kind_put(adds);
}

/* In one run: whoever reads the whole after all parts were written anew. */
static void parts_heal_the_whole_in_a_run(struct lkdf *rt)
{
	struct expectation expect = { .is_failing = 1 }, *x = &expect;
	struct lkdf_data *d = DATA(rt, .bytes = 16);
	struct lkdf_kind *fails, *adds, *counts;
	struct lkdf_graph *g = api_graph(rt, 1);
	atomic_int nr = 0;

	must(lkdf_data_split(d, 2, 8));
	fails = api_kind(rt, "fails", fail_if_told, sizeof(x), 0);
	adds = api_kind(rt, "adds", add_one, 0, 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	must(add_on(g, fails, &x, ON(d, LKDF_WRITE)));
	must(add_on(g, adds, NULL, ON_PART(d, LKDF_WRITE, 1)));
	must(add_on(g, adds, NULL, ON_PART(d, LKDF_WRITE, 2)));
	must(add_on(g, counts, &nr, ON(d, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "a writer of the whole fails");
	is(nr, 1, "both parts are written anew: a reader of the whole runs");
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), 0, "and acquire is good");
	lkdf_data_release(d);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(fails);
	lkdf_kind_put(adds);
	lkdf_kind_put(counts);
}

/* It waits for data when the cancel comes. */
static void a_waiting_run_is_cancelled(struct lkdf *rt)
{
	struct lkdf_data *d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 1 });
	struct lkdf_kind *gates, *adds;
	struct lkdf_graph *g = api_graph(rt, 2);
	struct gate gate = { 0 };
	struct lkdf_event done;
	struct lkdf_scope *s;

	gates = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	adds = api_kind(rt, "adds", add_one, 0, 0);
	must(add_on(g, adds, NULL, ON(d, LKDF_RW)));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_scope_create(rt, NULL, &s));
	must(submit_on(rt, gates, &gate, ON(d, LKDF_RW), NULL));
	must(lkdf_graph_run(g, s, NULL, NULL));
	must(lkdf_graph_run(g, s, NULL, &done));
	api_until(&gate.entered);
	is(lkdf_event_wait(done, 0), 1, "runs wait for data");
	must(lkdf_scope_cancel(rt, s, -ETIME));
	atomic_store(&gate.open, 1);
	is(lkdf_event_wait(done, -1), -ETIME, "cancelled, they end");
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "the scope, too");
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), -ETIME,
	   "what they should have written is poison");
	must(submit_on(rt, adds, NULL, ON(d, LKDF_WRITE), NULL));
	is(api_run(g, s, NULL), 0, "after a WRITE the graph runs again");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_scope_put(s);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(gates);
	lkdf_kind_put(adds);
}

/* Threads submit and run on the same data; nothing is lost. */
static void runs_and_tasks_share_data(struct lkdf *rt, uint32_t inflight)
{
	struct lkdf_data *d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 0 });
	struct lkdf_kind *adds = api_kind(rt, "adds", add_one, 0, 0);
	struct lkdf_graph *g = api_graph(rt, inflight);
	uint64_t *at;
	int i;

	for (i = 0; i < 3; i++)
		must(add_on(g, adds, NULL, ON(d, i ? LKDF_RW : LKDF_COMMUTE)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 300; i++) {
		must(lkdf_graph_run(g, NULL, NULL, NULL));
		must(submit_on(rt, adds, NULL, ON(d, LKDF_RW), NULL));
		if (i % 10)
			continue;
		must(lkdf_data_acquire(d, LKDF_RW, -1, (void **)&at));
		*at += 1;
		must(lkdf_data_release(d));
	}
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 100), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "400 runs, %u at a time, and tasks", inflight);
	must(lkdf_data_acquire(d, LKDF_READ, -1, (void **)&at));
	is(*at, 1200 + 300 + 30, "nothing is lost");
	must(lkdf_data_release(d));
	is(lkdf_data_version(d), 1 + 1200 + 300 + 30, "each write counts");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(adds);
}

struct sharer {
	struct lkdf *rt;
	struct lkdf_graph *g;
	struct lkdf_kind *adds;
	struct lkdf_use use[2];
	pthread_t thread;
	int nr, rc;
};

static int add_both(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	*(uint64_t *)lkdf_ptr(c, 1) += 1;
	return 0;
}

/* One run, one task, one acquisition at a time. */
static void *share(void *arg)
{
	struct sharer *s = arg;
	struct lkdf_task t = {
		.size = sizeof(t), .kind = s->adds, .use = s->use, .nr_use = 2
	};
	uint64_t *at;
	int i;

	for (i = 0; i < s->nr; i++) {
		s->rc |= lkdf_graph_run(s->g, NULL, NULL, NULL);
		s->rc |= lkdf_submit(s->rt, NULL, &t, NULL);
		s->rc |= lkdf_data_acquire(s->use[0].data, LKDF_RW, -1,
					   (void **)&at);
		*at += 1;
		s->rc |= lkdf_data_release(s->use[0].data);
	}
	return NULL;
}

/* Half of them use X and Y, the others Y and X. */
static void threads_run_graphs_on_the_same_data(struct lkdf *rt)
{
	struct lkdf_data *d[2] = { number(rt, NULL, &(uint64_t){ 0 }),
				   number(rt, NULL, &(uint64_t){ 0 }) };
	struct lkdf_kind *k = api_kind(rt, "both", add_both, 0, 0);
	struct sharer s[8];
	int i, rc = 0;

	for (i = 0; i < 8; i++) {
		s[i] = (struct sharer){ .rt = rt, .adds = k, .nr = 50 };
		s[i].use[0] = ON(d[i % 2], LKDF_RW);
		s[i].use[1] = ON(d[!(i % 2)], LKDF_RW);
		s[i].g = api_graph(rt, 1 + (uint32_t)i % 3);
		must(lkdf_graph_add(s[i].g, k, NULL, s[i].use, 2));
		must(lkdf_graph_seal(s[i].g, NULL));
	}
	for (i = 0; i < 8; i++)
		must(-pthread_create(&s[i].thread, NULL, share, &s[i]));
	for (i = 0; i < 8; i++) {
		pthread_join(s[i].thread, NULL);
		rc |= s[i].rc;
	}
	is(rc, 0, "8 threads run graphs, submit and acquire the same data");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	is(value_of(d[0]) + value_of(d[1]), 8 * 50 * (2 + 2 + 1),
	   "nothing is lost");
	for (i = 0; i < 8; i++)
		lkdf_graph_put(s[i].g);
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	lkdf_kind_put(k);
}

static void tests(struct lkdf *rt, bool is_serial)
{
	what_nobody_has_written_is_refused(rt);
	errors_cross_the_boundary(rt);
	a_failed_part_poisons_no_other(rt);
	parts_heal_the_whole_in_a_run(rt);
	runs_and_tasks_share_data(rt, 1);
	runs_and_tasks_share_data(rt, 3);
	threads_run_graphs_on_the_same_data(rt);
	/* Here a body waits for this thread. */
	if (!is_serial)
		a_waiting_run_is_cancelled(rt);
}

static const struct suite suite = {
	.batch = { choices, LENGTH(choices), run_graph, step_body },
	.seed = 700000,
	.nr = 200,
	.nr_sanitized = 48,
	.tests = tests,
};

int main(int argc, char **argv)
{
	suite_run(&suite, argc, argv);
	return tap_end();
}
