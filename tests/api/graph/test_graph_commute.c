/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * LKDF_COMMUTE in sealed graphs: one at a time, in any order, with several
 * data at once, with children, failures, limits and cancelled runs. Random
 * programs: test_data_graph.c.
 */
#include "tests/api/family.h"
#include "tests/oracle/random.h"

static int set_flag(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	atomic_store((atomic_int *)arg, 1);
	return 0;
}

/* The first that was added waits for something else. */
static void who_is_ready_goes_first(struct lkdf *rt)
{
	struct lkdf_data *d = zeros(rt, NULL, 1), *slow = zeros(rt, NULL, 1);
	struct lkdf_use both[] = { ON(d, LKDF_COMMUTE), ON(slow, LKDF_READ) };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *gates, *sets, *adds;
	atomic_int first = 0, second = 0;
	struct gate gate = { 0 };
	struct lkdf_event done;

	gates = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	sets = api_kind(rt, "sets", set_flag, 0, 0);
	adds = api_kind(rt, "adds", add_one, 0, 0);
	must(add_on(g, gates, &gate, ON(slow, LKDF_WRITE)));
	must(lkdf_graph_add(g, sets, &first, both, 2));
	must(add_on(g, sets, &second, ON(d, LKDF_COMMUTE)));
	must(add_on(g, adds, NULL, ON(d, LKDF_RW)));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, &done));
	api_until(&gate.entered);
	api_until(&second);
	is(first, 0, "the second goes while the first waits");
	atomic_store(&gate.open, 1);
	is(lkdf_event_wait(done, -1), 0,
	   "then the first goes, and the run ends");
	is(value_of(d), 3, "all have run");
	is(lkdf_data_version(d), 4, "and written");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_data_put(slow);
	lkdf_kind_put(gates);
	lkdf_kind_put(sets);
	lkdf_kind_put(adds);
}

/* Against the order of adding: the program's edges say more. */
static void the_program_may_order_them(struct lkdf *rt)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	struct family family = { .nr_wrong = 0 }, *f = &family;
	struct turn one = { f, 0 }, two = { f, 1 };
	struct lkdf_kind *k;

	f->d = zeros(rt, NULL, 1);
	k = api_kind(rt, "turn", take_turn, sizeof(struct turn), 0);
	must(add_on(g, k, &two, ON(f->d, LKDF_COMMUTE)));
	must(add_on(g, k, &one, ON(f->d, LKDF_COMMUTE)));
	must(lkdf_graph_order(g, 1, 0));
	is(lkdf_graph_seal(g, NULL), 0, "the second comes before the first");
	is(api_run(g, NULL, NULL), 0, "it runs");
	is(f->nr_wrong, 0, "in this order");
	lkdf_graph_put(g);
	lkdf_data_put(f->d);
	lkdf_kind_put(k);
}

/*
 * Several data at once
 */

#define NR_DATA 5
#define NR_TASKS 60

struct crowd {
	struct lkdf_data *d[NR_DATA];
	struct lkdf_kind *child;
	atomic_int busy[NR_DATA], nr_wrong;
	uint32_t set[NR_TASKS];
	uint64_t want[NR_DATA];
	bool has_children;
};

struct one {
	struct crowd *c;
	uint32_t task;
};

static uint32_t uses_of_set(const struct crowd *c, uint32_t set, uint32_t mode,
			    struct lkdf_use use[NR_DATA])
{
	uint32_t nr = 0, i;

	for (i = 0; i < NR_DATA; i++)
		if (set >> i & 1)
			use[nr++] = ON(c->d[i], mode);
	return nr;
}

static void enter(struct crowd *c, uint32_t set)
{
	uint32_t i;

	for (i = 0; i < NR_DATA; i++)
		if (set >> i & 1)
			atomic_fetch_add(&c->nr_wrong,
					 atomic_fetch_add(&c->busy[i], 1));
}

static void leave(struct crowd *c, uint32_t set)
{
	uint32_t i;

	for (i = 0; i < NR_DATA; i++)
		if (set >> i & 1)
			atomic_fetch_sub(&c->busy[i], 1);
}

static int add_to_all(struct lkdf_ctx *c, void *arg)
{
	struct one one = *(struct one *)arg;
	uint32_t set = one.c->set[one.task], i, nr = 0;

	enter(one.c, set);
	for (i = 0; i < NR_DATA; i++)
		if (set >> i & 1)
			*(uint64_t *)lkdf_ptr(c, nr++) += 1;
	leave(one.c, set);
	return 0;
}

/* The children are as much alone as their parent. */
static int let_children_add(struct lkdf_ctx *c, void *arg)
{
	struct one one = *(struct one *)arg;
	struct lkdf_use use[NR_DATA];
	uint32_t nr;

	if (!one.c->has_children || one.task % 3)
		return add_to_all(c, arg);
	nr = uses_of_set(one.c, one.c->set[one.task], LKDF_COMMUTE, use);
	return lkdf_spawn_task(c,
			       ATTR(lkdf_task, .kind = one.c->child,
				    .arg = &one, .use = use, .nr_use = nr),
			       NULL);
}

static void add_crowd(struct lkdf_graph *g, struct lkdf_kind *k,
		      struct crowd *c, uint64_t seed)
{
	struct rng rng = { seed };
	struct lkdf_use use[NR_DATA];
	uint32_t i, j, nr;

	for (i = 0; i < NR_TASKS; i++) {
		c->set[i] = rng_range(&rng, 1, (1 << NR_DATA) - 1);
		for (j = 0; j < NR_DATA; j++)
			c->want[j] += c->set[i] >> j & 1;
		nr = uses_of_set(c, c->set[i],
				 rng_one_in(&rng, 8) ? LKDF_RW : LKDF_COMMUTE,
				 use);
		must(lkdf_graph_add(g, k, &(struct one){ c, i }, use, nr));
	}
}

static void a_crowd_commutes(struct lkdf *rt, uint64_t seed, bool has_children)
{
	struct crowd crowd = { .has_children = has_children }, *c = &crowd;
	struct lkdf_graph *g = api_graph(rt, 1 + (uint32_t)seed % 3);
	struct lkdf_kind *k;
	int i, nr_lost = 0;

	for (i = 0; i < NR_DATA; i++)
		c->d[i] = zeros(rt, NULL, 1);
	k = api_kind(rt, "crowd", let_children_add, sizeof(struct one), 0);
	c->child = api_kind(rt, "child", add_to_all, sizeof(struct one), 0);
	add_crowd(g, k, c, seed);
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 10; i++)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 10), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "seed %d: 20 runs of a crowd%s",
	   (int)seed, has_children ? " with children" : "");
	is(c->nr_wrong, 0, "none beside another");
	for (i = 0; i < NR_DATA; i++)
		nr_lost += value_of(c->d[i]) != 20 * c->want[i] ||
			   lkdf_data_version(c->d[i]) != 1 + 20 * c->want[i];
	is(nr_lost, 0, "nothing is lost, and each write counts");
	lkdf_graph_put(g);
	for (i = 0; i < NR_DATA; i++)
		lkdf_data_put(c->d[i]);
	lkdf_kind_put(k);
	lkdf_kind_put(c->child);
}

/*
 * Failure
 */

struct failing {
	atomic_int nr_ran, nr_read, is_failing;
};

static int fail_first(struct lkdf_ctx *c, void *arg)
{
	struct failing *f = arg;

	atomic_fetch_add(&f->nr_ran, 1);
	return atomic_load(&f->is_failing) ? lkdf_fail(c, -EIO, "as told") : 0;
}

static int count_read(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(&((struct failing *)arg)->nr_read, 1);
	return 0;
}

static void after_a_failure_others_are_skipped(struct lkdf *rt)
{
	struct failing f = { .is_failing = 1 };
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_data *d = zeros(rt, NULL, 1);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *k, *writes, *reads;
	int i;

	k = api_kind(rt, "fails", fail_first, 0, 0);
	writes = api_kind(rt, "nothing", api_nothing, 0, 0);
	reads = api_kind(rt, "reads", count_read, 0, 0);
	must(add_on(g, writes, NULL, ON(d, LKDF_WRITE)));
	for (i = 0; i < 4; i++)
		must(add_on(g, k, &f, ON(d, LKDF_COMMUTE)));
	must(add_on(g, reads, &f, ON(d, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "one of four fails");
	is(f.nr_ran, 1, "the others are skipped");
	is(f.nr_read, 0, "and so is the reader");
	lkdf_scope_error(rt, NULL, &e);
	is(e.nr_failed, 1, "one has failed");
	ok(e.nr_skipped >= 4, "%d are counted as skipped", (int)e.nr_skipped);
	lkdf_scope_wait(rt, NULL, -1);
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), -EIO,
	   "outside it is bad");
	atomic_store(&f.is_failing, 0);
	is(api_run(g, NULL, NULL), 0, "the next run goes well");
	is(f.nr_ran, 5, "all four ran");
	is(f.nr_read, 1, "and the reader");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(writes);
	lkdf_kind_put(reads);
}

/* They wait for the token when the cancel comes. */
static void a_run_that_waits_is_cancelled(struct lkdf *rt)
{
	struct lkdf_data *d = zeros(rt, NULL, 1);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *gates, *counts, *adds;
	struct gate gate = { 0 };
	struct lkdf_event done;
	struct lkdf_scope *s;
	atomic_int nr = 0;
	int i;

	gates = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	adds = api_kind(rt, "adds", add_one, 0, 0);
	must(lkdf_scope_create(rt, NULL, &s));
	must(add_on(g, gates, &gate, ON(d, LKDF_COMMUTE)));
	must(add_on(g, gates, &gate, ON(d, LKDF_COMMUTE)));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, s, NULL, &done));
	api_until(&gate.entered);
	for (i = 0; i < 3; i++)
		must(api_call(rt, counts, &nr));
	must(lkdf_scope_cancel(rt, s, -ETIME));
	atomic_store(&gate.open, 1);
	is(lkdf_event_wait(done, -1), -ETIME, "a cancelled run ends");
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "the scope says why");
	must(submit_on(rt, adds, NULL, ON(d, LKDF_WRITE), NULL));
	is(api_run(g, NULL, NULL), 0, "after a WRITE it runs again");
	lkdf_scope_put(s);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(gates);
	lkdf_kind_put(counts);
	lkdf_kind_put(adds);
}

/*
 * What else a kind may ask for
 */

struct mixed {
	struct lkdf_data *once, *sum;
	struct lkdf_kind *child;
	atomic_int nr_wrong;
};

static int look(struct lkdf_ctx *c, void *arg)
{
	struct mixed *m = *(struct mixed **)arg;

	atomic_fetch_add(&m->nr_wrong, *(uint64_t *)lkdf_ptr(c, 0) != 7);
	*(uint64_t *)lkdf_ptr(c, 1) += 1;
	return 0;
}

static int make_and_add(struct lkdf_ctx *c, void *arg)
{
	struct mixed *m = *(struct mixed **)arg;
	struct lkdf_use use[] = { ON(m->once, LKDF_READ), ON(m->sum, LKDF_RW) };

	*(uint64_t *)lkdf_ptr(c, 0) = 7;
	return lkdf_spawn_task(c,
			       ATTR(lkdf_task, .kind = m->child, .arg = &m,
				    .use = use, .nr_use = 2),
			       NULL);
}

/* The producer's bytes come when its body starts, after its token. */
static void with_a_variable_and_a_limit(struct lkdf *rt, uint32_t flags)
{
	struct mixed mixed = { .nr_wrong = 0 }, *m = &mixed;
	struct lkdf_graph *g = api_graph(rt, 2);
	struct lkdf_kind *makes, *reads;
	struct lkdf_limit_use uses_limit;
	struct lkdf_limit *limit;
	struct lkdf_use use[2];
	int i;

	m->sum = zeros(rt, NULL, 1);
	m->once = DATA(rt, .bytes = 8, .flags = LKDF_DATA_ONCE);
	use[0] = ON(m->once, LKDF_WRITE);
	use[1] = ON(m->sum, LKDF_COMMUTE);
	must(lkdf_limit_create(rt, 1, &limit));
	uses_limit = (struct lkdf_limit_use){ limit, 1 };
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "makes",
				   .fn = make_and_add, .arg_size = sizeof(m),
				   .flags = flags, .limit = &uses_limit,
				   .nr_limit = 1),
			      &makes));
	reads = api_kind(rt, "reads", look, sizeof(m), flags);
	m->child = api_kind(rt, "child", look, sizeof(m), 0);
	must(lkdf_graph_add(g, makes, &m, use, 2));
	use[0].mode = LKDF_READ;
	for (i = 0; i < 9; i++)
		must(lkdf_graph_add(g, reads, &m, use, 2));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 20; i++)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "commuting, with a variable and a limit%s",
	   flags ? ", blocking" : "");
	is(m->nr_wrong, 0, "children and readers have the bytes of their run");
	is(value_of(m->sum), 200, "all have added");
	lkdf_graph_put(g);
	lkdf_data_put(m->sum);
	lkdf_data_put(m->once);
	lkdf_kind_put(makes);
	lkdf_kind_put(reads);
	lkdf_kind_put(m->child);
	lkdf_limit_put(limit);
}

static void all_tests(struct lkdf *rt, const char *options)
{
	uint64_t seed;

	the_program_may_order_them(rt);
	for (seed = 1; seed <= 4; seed++)
		a_crowd_commutes(rt, seed, seed % 2);
	after_a_failure_others_are_skipped(rt);
	with_a_variable_and_a_limit(rt, 0);
	with_a_variable_and_a_limit(rt, LKDF_BLOCKING);
	/* Here bodies wait for this thread. */
	if (strcmp(options, "serial=yes")) {
		who_is_ready_goes_first(rt);
		a_run_that_waits_is_cancelled(rt);
	}
}

int main(void)
{
	tap_start(120);
	api_each(all_tests);
	return tap_end();
}
