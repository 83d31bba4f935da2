/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_graph_record(): what is submitted to a scope is stored in a graph, and
 * replayed it does what the submissions would have done. Random programs are
 * compared with an interpreter and with the same submissions.
 *
 * test_record [SEED [PROGRAMS]] runs other programs, and more of them.
 */
#include "tests/api/compare.h"

#include <pthread.h>

#define NR_RUNS 3
#define NR_THREADS 4

static struct lkdf_scope *scope_of(struct lkdf *rt, const char *name)
{
	struct lkdf_scope *s;

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = name), &s));
	return s;
}

/*
 * Random programs
 */

/* Each step is told its number. */
static void record_steps(struct world *w, struct lkdf_scope *s)
{
	struct job job = { .w = w };
	struct lkdf_use use[MAX_OPS];
	int rc;

	for (; job.step < w->p->nr_steps; job.step++) {
		uses_of(w, &w->p->step[job.step], use);
		rc = lkdf_submit(w->rt, s,
				 ATTR(lkdf_task, .kind = w->kind, .arg = &job,
				      .use = use,
				      .nr_use = w->p->step[job.step].nr),
				 NULL);
		if (rc != (int)job.step)
			wrong(w, "step %u: recorded as %d: %s", job.step, rc,
			      lkdf_errmsg());
	}
}

/* The scope is put before seal or used further. */
static struct lkdf_graph *graph_of(struct world *w, struct lkdf_scope *s)
{
	struct lkdf_graph *g = api_graph(w->rt, 1 + w->p->seed % 3);
	int rc;

	must(lkdf_graph_record(g, s));
	record_steps(w, s);
	rc = lkdf_scope_wait(w->rt, s, -1);
	if (rc)
		wrong(w, "the scope has %d while nothing runs", rc);
	if (w->p->seed % 2)
		lkdf_scope_put(s);
	rc = lkdf_graph_seal(g, NULL);
	if (rc)
		wrong(w, "seal: %d %s", rc, lkdf_errmsg());
	return g;
}

static void check_round(struct world *w, const struct state *st)
{
	world_check_marks(w, st);
	world_check_order(w);
	world_check_data(w, st);
}

/* One more round: of the interpreter, of the graph, of submissions. */
static void run_round(struct world *recorded, struct world *direct,
		      struct lkdf_graph *g, struct lkdf_scope *s,
		      struct state *st)
{
	const struct program *p = recorded->p;
	uint32_t i;
	int rc, want = 0;

	for (i = 0; i < p->nr_steps; i++) {
		state_step(st, p, i);
		if (!want)
			want = st->result[i];
	}
	memset(recorded->mark, 0, sizeof(recorded->mark));
	memset(direct->mark, 0, sizeof(direct->mark));
	rc = api_run(g, s, NULL);
	if (rc != want)
		wrong(recorded, "run: %d, expected %d", rc, want);
	/* After seal the scope runs what it gets. */
	for (i = 0; i < p->nr_steps; i++)
		world_submit(direct, i, s, NULL);
	rc = lkdf_scope_wait(direct->rt, s, -1);
	if (rc != want)
		wrong(direct, "scope: %d, expected %d", rc, want);
	check_round(recorded, st);
	check_round(direct, st);
}

static int run_recorded(struct lkdf *rt, struct lkdf_kind *k,
			const struct choice *c, uint64_t seed)
{
	struct lkdf_scope *s = scope_of(rt, "recorded");
	static struct program p;
	static struct state st;
	struct world *w[2];
	struct lkdf_graph *g;
	int i, nr;

	program_make(&p, c, seed);
	state_init(&st, &p);
	for (i = 0; i < 2; i++)
		w[i] = world_create(rt, &p, k);
	w[0]->reduces_apart = true;
	g = graph_of(w[0], s);
	for (i = 0; i < NR_RUNS; i++)
		run_round(w[0], w[1], g, seed % 2 ? NULL : s, &st);
	if (seed % 2 == 0)
		lkdf_scope_put(s);
	lkdf_graph_put(g);
	lkdf_scope_wait(rt, NULL, -1);
	nr = atomic_load(&w[0]->nr_wrong) + atomic_load(&w[1]->nr_wrong);
	if (nr)
		program_say(&p);
	world_destroy(w[0]);
	world_destroy(w[1]);
	return nr;
}

static const struct choice choices[] = {
	{ .modes = LKDF_RW, .max_data = 4, .max_parts = 1, .max_steps = 50 },
	{ .modes = LKDF_RW | LKDF_COMMUTE,
	  .max_data = 12,
	  .max_parts = 1,
	  .max_steps = 90,
	  .has_twice = true },
	{ .modes = LKDF_RW | LKDF_COMMUTE | LKDF_REDUCE,
	  .max_data = 4,
	  .max_parts = MAX_PARTS,
	  .max_steps = 60 },
	{ .modes = LKDF_RW,
	  .max_data = 5,
	  .max_parts = 1,
	  .max_steps = 50,
	  .error = -EILSEQ },
};

/*
 * Threads
 */

struct recorder {
	struct lkdf *rt;
	struct lkdf_scope *s;
	struct lkdf_kind *k;
	struct lkdf_data *d;
	int nr_each;
	atomic_uint *nr_times; /* each number was given */
	atomic_int nr_wrong;
};

static void *record_many(void *arg)
{
	struct recorder *r = arg;
	struct lkdf_use use = ON(r->d, LKDF_RW);
	struct lkdf_task t = {
		.size = sizeof(t), .kind = r->k, .use = &use, .nr_use = 1
	};
	int i, nr, last = -1;

	for (i = 0; i < r->nr_each; i++) {
		nr = lkdf_submit(r->rt, r->s, &t, NULL);
		if (nr <= last || nr >= NR_THREADS * r->nr_each)
			atomic_fetch_add(&r->nr_wrong, 1);
		else
			atomic_fetch_add(&r->nr_times[nr], 1);
		last = nr;
	}
	return NULL;
}

static void threads_record_one_after_another(struct lkdf *rt)
{
	struct recorder r = { .rt = rt, .nr_each = 1000 };
	int i, nr = NR_THREADS * r.nr_each, nr_odd = 0;
	struct lkdf_graph *g = api_graph(rt, 2);
	pthread_t thread[NR_THREADS];

	r.s = scope_of(rt, "threads");
	r.k = api_kind(rt, "adds", add_one, 0, 0);
	r.d = number(rt, NULL, &(uint64_t){ 0 });
	r.nr_times = calloc((size_t)nr, sizeof(*r.nr_times));
	must(lkdf_graph_record(g, r.s));
	for (i = 0; i < NR_THREADS; i++)
		if (pthread_create(&thread[i], NULL, record_many, &r))
			exit(1);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < nr; i++)
		nr_odd += r.nr_times[i] != 1;
	is(r.nr_wrong, 0, "%d threads record, each is counted up", NR_THREADS);
	is(nr_odd, 0, "each number is given once");
	is(lkdf_data_version(r.d), 1, "nothing has run");
	is(lkdf_graph_seal(g, NULL), 0, "seal");
	for (i = 0; i < NR_RUNS; i++)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "it runs");
	is(value_of(r.d), NR_RUNS * nr, "each task, each time");
	lkdf_graph_put(g);
	lkdf_scope_put(r.s);
	lkdf_kind_put(r.k);
	lkdf_data_put(r.d);
	free(r.nr_times);
}

/* Threads submit when seal comes: each is recorded or runs, none is lost. */
static void *submit_over_seal(void *arg)
{
	struct recorder *r = arg;
	struct lkdf_use use = ON(r->d, LKDF_COMMUTE);
	struct lkdf_task t = {
		.size = sizeof(t), .kind = r->k, .use = &use, .nr_use = 1
	};
	int i;

	for (i = 0; i < r->nr_each; i++)
		if (lkdf_submit(r->rt, r->s, &t, NULL) < 0)
			atomic_fetch_add(&r->nr_wrong, 1);
	return NULL;
}

static void none_is_lost_at_seal(struct lkdf *rt)
{
	struct recorder r = { .rt = rt, .nr_each = 300 };
	pthread_t thread[NR_THREADS];
	struct lkdf_graph *g;
	int i, j;

	r.s = scope_of(rt, "over seal");
	r.k = api_kind(rt, "adds", add_one, 0, 0);
	r.d = number(rt, NULL, &(uint64_t){ 0 });
	for (j = 0; j < 20; j++) {
		g = api_graph(rt, 1);
		must(lkdf_graph_record(g, r.s));
		for (i = 0; i < NR_THREADS; i++)
			if (pthread_create(&thread[i], NULL, submit_over_seal,
					   &r))
				exit(1);
		api_nap_ns(20000 * j);
		must(lkdf_graph_seal(g, NULL));
		for (i = 0; i < NR_THREADS; i++)
			pthread_join(thread[i], NULL);
		must(lkdf_graph_run(g, r.s, NULL, NULL));
		lkdf_graph_put(g);
	}
	is(lkdf_scope_wait(rt, r.s, -1), 0, "threads submit over a seal");
	is(r.nr_wrong, 0, "no submission is refused");
	is(value_of(r.d), 20 * NR_THREADS * r.nr_each,
	   "each is recorded or runs, once");
	lkdf_scope_put(r.s);
	lkdf_kind_put(r.k);
	lkdf_data_put(r.d);
}

static void tests(struct lkdf *rt, bool is_serial)
{
	(void)is_serial;
	threads_record_one_after_another(rt);
	none_is_lost_at_seal(rt);
}

static const struct suite suite = {
	.batch = { choices, LENGTH(choices), run_recorded, step_body },
	.seed = 60000,
	.nr = 120,
	.nr_sanitized = 30,
	.is_short = true,
	.tests = tests,
};

int main(int argc, char **argv)
{
	suite_run(&suite, argc, argv);
	return tap_end();
}
