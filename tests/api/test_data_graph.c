/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sealed graphs whose tasks use data: uses become edges, runs share data with
 * each other and with submitted tasks, and LKDF_DATA_ONCE ties producers to
 * readers in any order. Random programs are compared with an interpreter, run
 * after run.
 *
 * test_data_graph [SEED [PROGRAMS]] runs other programs, and more of them.
 */
#include "tests/api/world.h"

#define ON(d, m)                         \
	(struct lkdf_use)                \
	{                                \
		.data = (d), .mode = (m) \
	}

#define DATA(rt, ...) make_data(rt, ATTR(lkdf_data_attr, __VA_ARGS__))

static struct lkdf_data *make_data(struct lkdf *rt,
				   const struct lkdf_data_attr *a)
{
	struct lkdf_data *d = NULL;

	must(lkdf_data_create(rt, a, &d));
	return d;
}

static int submit_on(struct lkdf *rt, struct lkdf_kind *k, const void *arg,
		     struct lkdf_use use, struct lkdf_event *done)
{
	return lkdf_submit(rt, NULL,
			   ATTR(lkdf_task, .kind = k, .arg = arg, .use = &use,
				.nr_use = 1),
			   done);
}

static int add_on(struct lkdf_graph *g, struct lkdf_kind *k, const void *arg,
		  struct lkdf_use use)
{
	return lkdf_graph_add(g, k, arg, &use, 1);
}

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
	if (lkdf_scope_wait(w->rt, NULL, -1))
		wrong(w, "scope: %s", lkdf_errmsg());
	for (i = 0; i < w->p->nr_steps; i++) {
		if (w->mark[i].nr_ran != NR_RUNS)
			wrong(w, "step %u ran %u times in %d runs", i,
			      w->mark[i].nr_ran, NR_RUNS);
		w->mark[i].nr_ran = 1;
	}
	world_check_marks(w, t->st);
	world_check_order(w);
	world_check_data(w, t->st);
}

static int run_graph(struct lkdf *rt, struct lkdf_kind *k,
		     const struct choice *c, uint64_t seed)
{
	static struct program p;
	static struct state st;
	struct trial t = { .st = &st };
	int nr, i;

	seed_now = seed;
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
	{ .modes = LKDF_RW, .max_data = 4, .max_parts = 1, .max_steps = 50 },
	{ .modes = LKDF_RW | LKDF_COMMUTE,
	  .max_data = 12,
	  .max_parts = 1,
	  .max_steps = 90,
	  .has_twice = true },
	{ .modes = LKDF_RW | LKDF_COMMUTE,
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
	{ .modes = LKDF_RW,
	  .max_data = 5,
	  .max_parts = 1,
	  .max_steps = 50,
	  .error = -EILSEQ },
};

static void graphs_run_as_if_in_order(struct lkdf *rt, const char *options,
				      uint64_t seed, int nr)
{
	struct lkdf_kind *k =
		api_kind(rt, "step", step_body, sizeof(struct job), 0);
	size_t i;
	int j, nr_wrong;

	for (i = 0; i < LENGTH(choices); i++) {
		nr_wrong = 0;
		for (j = 0; j < nr && nr_wrong < 3; j++)
			nr_wrong += run_graph(rt, k, &choices[i],
					      seed + (uint64_t)j) != 0;
		is(nr_wrong, 0, "%s: graphs of sort %zu, seeds %llu to %llu",
		   options, i, (unsigned long long)seed,
		   (unsigned long long)seed + nr - 1);
	}
	lkdf_kind_put(k);
}

/*
 * One producer, in any order
 */

struct once {
	atomic_int nr_read, nr_wrong;
	uint64_t words;
	_Atomic(void *) at; /* of this run, as the producer has it */
};

static int produce(struct lkdf_ctx *c, void *arg)
{
	struct once *o = *(struct once **)arg;
	uint64_t *word = lkdf_ptr(c, 0);

	atomic_store(&o->at, word);
	bytes_fill(word, (uint32_t)o->words, lkdf_seq(c) + 1);
	return 0;
}

static int consume(struct lkdf_ctx *c, void *arg)
{
	struct once *o = *(struct once **)arg;
	uint64_t *word = lkdf_ptr(c, 0), i;

	for (i = 0; i < o->words; i++)
		if (word[i] != lkdf_seq(c) + 1 + i * RAMP)
			break;
	if (i < o->words)
		atomic_fetch_add(&o->nr_wrong, 1);
	atomic_fetch_add(&o->nr_read, 1);
	return 0;
}

static int consume_same(struct lkdf_ctx *c, void *arg)
{
	struct once *o = *(struct once **)arg;

	if (lkdf_ptr(c, 0) != atomic_load(&o->at))
		atomic_fetch_add(&o->nr_wrong, 1);
	return consume(c, arg);
}

static struct lkdf_data *once_data(struct lkdf *rt, const char *name,
				   uint64_t words)
{
	return DATA(rt, .bytes = words * sizeof(uint64_t), .name = name,
		    .flags = LKDF_DATA_ONCE);
}

/* P24: all readers have the same bytes; T6: they may come first. */
static void readers_may_come_before_the_producer(struct lkdf *rt,
						 uint64_t words)
{
	struct once once = { .words = words }, *o = &once;
	struct lkdf_data *d = once_data(rt, NULL, words);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *puts, *gets;
	int i, readers = 8;

	puts = api_kind(rt, "produces", produce, sizeof(o), 0);
	gets = api_kind(rt, "consumes", consume_same, sizeof(o), 0);
	for (i = 0; i < readers; i++)
		must(add_on(g, gets, &o, ON(d, LKDF_READ)));
	must(add_on(g, puts, &o, ON(d, LKDF_WRITE)));
	is(lkdf_graph_seal(g, NULL), 0,
	   "readers are added before the producer");
	/* The graph keeps what it needs. */
	lkdf_data_put(d);
	for (i = 1; i <= 3; i++) {
		is(api_run(g, NULL, NULL), 0, "run %d, %llu bytes", i,
		   (unsigned long long)words * 8);
		is(o->nr_read, i * readers, "each reader runs");
		is(o->nr_wrong, 0, "each has the producer's bytes");
	}
	lkdf_graph_put(g);
	lkdf_kind_put(puts);
	lkdf_kind_put(gets);
}

/* Each run has values of its own, however many there are at a time. */
static void runs_do_not_share_values(struct lkdf *rt, uint32_t inflight)
{
	struct once once = { .words = 100 }, *o = &once;
	struct lkdf_data *d = once_data(rt, NULL, o->words);
	struct lkdf_graph *g = api_graph(rt, inflight);
	struct lkdf_kind *puts, *gets;
	int i;

	puts = api_kind(rt, "produces", produce, sizeof(o), 0);
	gets = api_kind(rt, "consumes", consume, sizeof(o), 0);
	for (i = 0; i < 5; i++)
		must(add_on(g, gets, &o, ON(d, LKDF_READ)));
	must(add_on(g, puts, &o, ON(d, LKDF_WRITE)));
	for (i = 0; i < 5; i++)
		must(add_on(g, gets, &o, ON(d, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 200; i++)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 100), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "300 runs, %u at a time",
	   inflight);
	is(o->nr_read, 3000, "all readers run");
	is(o->nr_wrong, 0, "each with the value of its run");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(puts);
	lkdf_kind_put(gets);
}

/* DFCPP 1: a value from before the run triggered its readers once only. */
static void a_first_value_stays_over_runs(struct lkdf *rt, uint32_t flags)
{
	uint64_t init = 7;
	struct lkdf_data *d =
		DATA(rt, .bytes = sizeof(init), .flags = flags, .init = &init);
	struct lkdf_kind *k = api_kind(rt, "counts", api_count, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 2);
	atomic_int nr = 0;
	int i;

	for (i = 0; i < 4; i++)
		must(add_on(g, k, &nr, ON(d, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 3)), 0,
	   "DFCPP 1: three epochs of a first value%s", flags ? ", ONCE" : "");
	is(nr, 12, "DFCPP 1: each reader runs in each");
	is(api_run(g, NULL, NULL), 0, "DFCPP 1: another run");
	is(nr, 16, "DFCPP 1: and in that");
	is(lkdf_data_version(d), 1, "DFCPP 1: it is one version");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static struct {
	atomic_int live, peak;
} blocks;

static void drop_block(void *bytes)
{
	(void)bytes;
	atomic_fetch_sub(&blocks.live, 1);
}

/* Argument: number in the chain; reads use 1 and writes use 0. */
static int pass_block(struct lkdf_ctx *c, void *arg)
{
	uint32_t nr = *(uint32_t *)arg, words = 2 << 20 >> 3;
	uint64_t *to = lkdf_ptr(c, 0), *from = lkdf_ptr(c, 1);
	int live = atomic_fetch_add(&blocks.live, 1) + 1;

	if (live > atomic_load(&blocks.peak))
		atomic_store(&blocks.peak, live);
	if (nr && (from[0] != nr || from[words - 1] != nr))
		return lkdf_fail(c, -EPROTO, "block %u has %llu", nr,
				 (unsigned long long)from[0]);
	to[0] = to[words / 2] = to[words - 1] = nr + 1;
	return 0;
}

/* DFCPP: 2 MiB on a stack; the bytes live from producer to last reader. */
static void large_values_live_shortly(struct lkdf *rt, uint32_t nr)
{
	struct lkdf_data **d = calloc(nr, sizeof(struct lkdf_data *));
	struct lkdf_kind *k = api_kind(rt, "passes", pass_block, sizeof(nr), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_use use[2];
	uint32_t i;

	blocks.live = blocks.peak = 0;
	for (i = 0; i < nr; i++) {
		d[i] = DATA(rt, .bytes = 2 << 20, .flags = LKDF_DATA_ONCE,
			    .drop = drop_block);
		use[0] = ON(d[i], LKDF_WRITE);
		use[1] = ON(i ? d[i - 1] : d[i], LKDF_READ);
		must(lkdf_graph_add(g, k, &i, use, i ? 2 : 1));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < nr; i++)
		lkdf_data_put(d[i]);
	is(api_run(g, NULL, NULL), 0, "a chain of %u values of 2 MiB", nr);
	is(api_run(g, NULL, NULL), 0, "again");
	is(blocks.live, 0, "each is dropped");
	ok(blocks.peak <= 3, "never more than 3 at a time (%d)", blocks.peak);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	free(d);
}

/* DFCPP 5: nobody looks at whether the producer has written; readers run. */
static void a_lazy_producer_hangs_nobody(struct lkdf *rt)
{
	struct lkdf_data *d = once_data(rt, NULL, 1);
	struct lkdf_kind *k = api_kind(rt, "counts", api_count, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	atomic_int nr = 0;

	must(add_on(g, k, &nr, ON(d, LKDF_READ)));
	must(add_on(g, k, &nr, ON(d, LKDF_WRITE)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "DFCPP 5: a producer that does nothing");
	is(nr, 2, "DFCPP 5: its reader runs");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void kept_values_can_be_acquired(struct lkdf *rt)
{
	struct once once = { .words = 50 }, *o = &once;
	struct lkdf_data *d =
		DATA(rt, .bytes = 400, .flags = LKDF_DATA_ONCE | LKDF_DATA_KEEP,
		     .name = "kept");
	struct lkdf_kind *puts =
		api_kind(rt, "produces", produce, sizeof(o), 0);
	struct lkdf_graph *g = api_graph(rt, 2);
	uint64_t *at = NULL;
	int i;

	must(add_on(g, puts, &o, ON(d, LKDF_WRITE)));
	must(lkdf_graph_seal(g, NULL));
	is(lkdf_data_acquire(d, LKDF_READ, 0, (void **)&at), -ENODATA,
	   "KEEP: nothing is there before a run");
	for (i = 1; i <= 5; i++) {
		must(lkdf_graph_run(g, NULL, NULL, NULL));
		is(lkdf_data_acquire(d, LKDF_READ, -1, (void **)&at), 0,
		   "KEEP: acquire waits for the run");
		is(at[0], i, "KEEP: and has its value");
		must(lkdf_data_release(d));
	}
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(puts);
}

/*
 * What seal and add refuse
 */

static void seal_refuses(struct lkdf *rt, struct lkdf_graph *g, int want,
			 const char *text, const char *what)
{
	struct lkdf_diag why = { .size = sizeof(why) };

	(void)rt;
	is(lkdf_graph_seal(g, &why), want, "%s", what);
	is(why.err, want, "the reason has the same error");
	has(why.text, text, "and says which");
	has(lkdf_errmsg(), text, "as errmsg does");
	lkdf_graph_put(g);
}

static void producers_are_checked(struct lkdf *rt)
{
	struct lkdf_data *d = once_data(rt, "the only one", 1);
	uint64_t init = 1;
	struct lkdf_data *with = DATA(rt, .bytes = 8, .init = &init,
				      .name = "given", .flags = LKDF_DATA_ONCE);
	struct lkdf_kind *k = api_kind(rt, "task", api_nothing, 0, 0);
	struct lkdf_diag why = { .size = sizeof(why) };
	struct lkdf_graph *g = api_graph(rt, 1);
	int a, b;

	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	a = must(add_on(g, k, NULL, ON(d, LKDF_WRITE)));
	b = must(add_on(g, k, NULL, ON(d, LKDF_WRITE)));
	must(lkdf_graph_label(g, a, "first"));
	must(lkdf_graph_label(g, b, "second"));
	is(lkdf_graph_seal(g, &why), -EEXIST, "two producers are refused");
	has(why.text, "the only one", "with the data");
	has(why.text, "first", "the first");
	has(why.text, "second", "and the second");
	ok(why.nr == 2 && why.path[0] == a && why.path[1] == b,
	   "their numbers are in the path");
	lkdf_graph_put(g);
	g = api_graph(rt, 1);
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(add_on(g, k, NULL, ON(d, LKDF_READ)));
	seal_refuses(rt, g, -ENODATA, "the only one", "no producer");
	g = api_graph(rt, 1);
	must(add_on(g, k, NULL, ON(with, LKDF_WRITE)));
	seal_refuses(rt, g, -EEXIST, "given", "a producer and a first value");
	/* The same task twice is one producer. */
	g = api_graph(rt, 1);
	must(lkdf_graph_add(g, k, NULL,
			    (struct lkdf_use[]){ ON(d, LKDF_WRITE),
						 ON(d, LKDF_WRITE) },
			    2));
	is(lkdf_graph_seal(g, NULL), 0, "a task that says it twice is one");
	is(api_run(g, NULL, NULL), 0, "and runs");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_data_put(with);
	lkdf_kind_put(k);
}

static void cycles_through_data_are_refused(struct lkdf *rt)
{
	struct lkdf_data *x = once_data(rt, "x", 1), *y = once_data(rt, "y", 1);
	struct lkdf_kind *k = api_kind(rt, "task", api_nothing, 0, 0);
	struct lkdf_use one[] = { ON(x, LKDF_WRITE), ON(y, LKDF_READ) };
	struct lkdf_use two[] = { ON(y, LKDF_WRITE), ON(x, LKDF_READ) };
	struct lkdf_diag why = { .size = sizeof(why) };
	struct lkdf_graph *g = api_graph(rt, 1);
	int a, b;

	a = must(lkdf_graph_add(g, k, NULL, one, 2));
	b = must(lkdf_graph_add(g, k, NULL, two, 2));
	must(lkdf_graph_label(g, a, "hen"));
	must(lkdf_graph_label(g, b, "egg"));
	is(lkdf_graph_seal(g, &why), -ELOOP, "a cycle through data is refused");
	has(why.text, "hen", "with the path");
	has(why.text, "egg", "by name");
	ok(why.nr >= 2, "and by number");
	lkdf_graph_put(g);
	g = api_graph(rt, 1);
	a = must(add_on(g, k, NULL, ON(x, LKDF_WRITE)));
	b = must(add_on(g, k, NULL, ON(x, LKDF_READ)));
	must(lkdf_graph_order(g, b, a));
	is(lkdf_graph_seal(g, NULL), -ELOOP, "nor one with an order in it");
	lkdf_graph_put(g);
	g = api_graph(rt, 1);
	must(lkdf_graph_add(
		g, k, NULL,
		(struct lkdf_use[]){ ON(x, LKDF_READ), ON(x, LKDF_WRITE) }, 2));
	ok(lkdf_graph_seal(g, NULL) < 0, "nor who reads what he produces");
	lkdf_graph_put(g);
	lkdf_data_put(x);
	lkdf_data_put(y);
	lkdf_kind_put(k);
}

static void adding_is_checked(struct lkdf *rt)
{
	static struct lkdf_use many[LKDF_MAX_USES + 1];
	struct lkdf_data *d = DATA(rt, .bytes = 64, .name = "parted");
	struct lkdf_data *once = once_data(rt, "single", 8), *other;
	struct lkdf_kind *k = api_kind(rt, "task", api_nothing, 0, 0);
	struct lkdf *rt2 = api_open("workers=1");
	struct lkdf_graph *g;
	int i;

	must(lkdf_data_split(d, 4, 16));
	other = DATA(rt2, .bytes = 8, .name = "elsewhere");
	g = api_graph(rt, 1);
	is(add_on(g, k, NULL, (struct lkdf_use)USE_PART(d, LKDF_WRITE, 5)),
	   -ERANGE, "part 5 of 4");
	seal_refuses(rt, g, -ERANGE, "parted", "seal tells the first refusal");
	g = api_graph(rt, 1);
	is(add_on(g, k, NULL, ON(once, LKDF_RW)), -EINVAL, "RW of ONCE");
	seal_refuses(rt, g, -EINVAL, "single", "by its name");
	g = api_graph(rt, 1);
	is(add_on(g, k, NULL, ON(other, LKDF_WRITE)), -EINVAL,
	   "data of another runtime");
	seal_refuses(rt, g, -EINVAL, "elsewhere", "by its name");
	g = api_graph(rt, 1);
	for (i = 0; i <= LKDF_MAX_USES; i++)
		many[i] = ON(d, LKDF_WRITE);
	is(lkdf_graph_add(g, k, NULL, many, LKDF_MAX_USES + 1), -E2BIG,
	   "too many uses");
	seal_refuses(rt, g, -E2BIG, "1025", "with their number");
	g = api_graph(rt, 1);
	is(lkdf_graph_add(g, k, NULL, many, LKDF_MAX_USES), 0,
	   "as many as there may be");
	is(lkdf_graph_seal(g, NULL), 0, "are sealed");
	is(api_run(g, NULL, NULL), 0, "and run");
	is(add_on(g, k, NULL, ON(d, LKDF_READ)), -EROFS, "not after seal");
	lkdf_graph_put(g);
	is(lkdf_data_split(once, 2, 32), -EINVAL, "ONCE is not split");
	lkdf_data_put(d);
	lkdf_data_put(once);
	lkdf_data_put(other);
	lkdf_kind_put(k);
	lkdf_close(rt2);
}

/*
 * The boundary
 */

static int add_one(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	return 0;
}

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
	must(add_on(g, fails, &x, (struct lkdf_use)USE_PART(d, LKDF_WRITE, 1)));
	must(add_on(g, adds, NULL, (struct lkdf_use)USE_PART(d, LKDF_RW, 2)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "a writer of part 1 fails");
	must(submit_on(rt, adds, NULL, (struct lkdf_use)USE_PART(d, LKDF_RW, 2),
		       &done));
	is(lkdf_event_wait(done, -1), 0, "part 2 is good");
	must(submit_on(rt, adds, NULL, (struct lkdf_use)USE_PART(d, LKDF_RW, 1),
		       &done));
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
	must(add_on(g, adds, NULL,
		    (struct lkdf_use)USE_PART(d, LKDF_WRITE, 1)));
	must(add_on(g, adds, NULL,
		    (struct lkdf_use)USE_PART(d, LKDF_WRITE, 2)));
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

static int pass_gate(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	gate_pass(arg);
	return 0;
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

int main(int argc, char **argv)
{
	static const char *const options[] = {
		"workers=1", "workers=2",  "workers=4",
		"workers=8", "serial=yes",
	};
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 700000;
	int nr = argc > 2 ? atoi(argv[2]) : HAS_SANITIZER ? 48 : 200;
	struct lkdf *rt;
	size_t i;

	tap_start(argc > 2 ? 3600 : 240);
	say_seed_in_time();
	for (i = 0; i < LENGTH(options); i++) {
		printf("# %s\n", options[i]);
		rt = api_open(options[i]);
		readers_may_come_before_the_producer(rt, 1);
		readers_may_come_before_the_producer(rt, 2 << 20 >> 3);
		runs_do_not_share_values(rt, 1);
		runs_do_not_share_values(rt, 4);
		a_first_value_stays_over_runs(rt, 0);
		a_first_value_stays_over_runs(rt, LKDF_DATA_ONCE);
		large_values_live_shortly(rt, 300);
		a_lazy_producer_hangs_nobody(rt);
		kept_values_can_be_acquired(rt);
		producers_are_checked(rt);
		cycles_through_data_are_refused(rt);
		adding_is_checked(rt);
		what_nobody_has_written_is_refused(rt);
		errors_cross_the_boundary(rt);
		a_failed_part_poisons_no_other(rt);
		parts_heal_the_whole_in_a_run(rt);
		runs_and_tasks_share_data(rt, 1);
		runs_and_tasks_share_data(rt, 3);
		/* Here a body waits for this thread. */
		if (strcmp(options[i], "serial=yes"))
			a_waiting_run_is_cancelled(rt);
		graphs_run_as_if_in_order(rt, options[i], seed, nr);
		is(lkdf_close(rt), 0, "the runtime closes");
		seed += (uint64_t)nr;
	}
	return tap_end();
}
