/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks that use data go as if one after another: who may be together, who
 * waits for whom, and random programs against an interpreter.
 *
 * test_data_order [SEED [PROGRAMS]] runs other programs, and more of them.
 */
#include "tests/api/compare.h"

#define NR_MEET 4

static struct lkdf_data *summed(struct lkdf *rt, const uint64_t *init)
{
	return DATA(rt, .bytes = sizeof(uint64_t), .init = init,
		    .reduce = add_words, .neutral = no_words);
}

/* Bodies that stay until all are there, and the gate is open. */
struct meeting {
	int nr;
	atomic_int here, open, nr_ended, nr_late;
	uint64_t want;
};

static int meet(struct lkdf_ctx *c, void *arg)
{
	struct meeting *m = *(struct meeting **)arg;

	if (*(uint64_t *)lkdf_ptr(c, 0) != m->want)
		atomic_fetch_add(&m->nr_late, 1);
	atomic_fetch_add(&m->here, 1);
	while (atomic_load(&m->here) < m->nr || !atomic_load(&m->open))
		api_nap_ns(20000);
	atomic_fetch_add(&m->nr_ended, 1);
	return 0;
}

struct change {
	struct meeting *m;
	atomic_int *nr_started;
	int nr_ended_before; /* seen by the body */
};

static int change(struct lkdf_ctx *c, void *arg)
{
	struct change *ch = *(struct change **)arg;

	atomic_fetch_add(ch->nr_started, 1);
	ch->nr_ended_before = atomic_load(&ch->m->nr_ended);
	*(uint64_t *)lkdf_ptr(c, 0) = 8;
	return 0;
}

/* Readers are together, a writer waits for them, whoever else may run. */
static void readers_meet_and_a_writer_waits(struct lkdf *rt, uint32_t mode)
{
	struct meeting before = { .nr = NR_MEET, .want = 7 }, *m = &before;
	struct meeting after = { .nr = NR_MEET, .want = 8, .open = 1 };
	struct meeting *n = &after;
	struct lkdf_kind *reads, *writes, *counts;
	atomic_int nr_started = 0, nr = 0;
	struct change change_ = { .m = m, .nr_started = &nr_started };
	struct change *ch = &change_;
	struct lkdf_data *d = summed(rt, &(uint64_t){ 7 });
	struct lkdf_use use = ON(d, LKDF_READ);
	struct lkdf_event done;
	int i;

	reads = api_kind(rt, "reads", meet, sizeof(m), LKDF_BLOCKING);
	writes = api_kind(rt, "writes", change, sizeof(ch), 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	for (i = 0; i < NR_MEET; i++)
		must(submit_on(rt, reads, &m, use, NULL));
	must(submit_on(rt, writes, &ch, ON(d, mode), &done));
	for (i = 0; i < NR_MEET; i++)
		must(submit_on(rt, reads, &n, use, NULL));
	while (atomic_load(&m->here) < NR_MEET)
		api_nap_ns(50000);
	ok(true, "%d readers are together", NR_MEET);
	is(api_call(rt, counts, &nr), 0, "another task runs beside them");
	is(nr_started, 0, "%s waits for them", mode_name(mode));
	is(lkdf_event_wait(done, 0), 1, "its event has not fired");
	is(atomic_load(&n->here), 0, "later readers wait for it");
	atomic_store(&m->open, 1);
	is(lkdf_event_wait(done, -1), 0, "then it runs");
	is(ch->nr_ended_before, NR_MEET, "after all of them");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "then the later ones, together");
	is(m->nr_late + n->nr_late, 0, "each has read its version");
	lkdf_data_put(d);
	lkdf_kind_put(reads);
	lkdf_kind_put(writes);
	lkdf_kind_put(counts);
}

static int set_to(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)lkdf_ptr(c, 0) = *(uint64_t *)arg;
	return 0;
}

static atomic_int nr_other; /* versions */

static int expect(struct lkdf_ctx *c, void *arg)
{
	if (*(uint64_t *)lkdf_ptr(c, 0) != *(uint64_t *)arg)
		atomic_fetch_add(&nr_other, 1);
	return 0;
}

static void readers_see_exactly_one_version(struct lkdf *rt)
{
	const uint64_t nr = 2000;
	struct lkdf_kind *sets, *expects;
	struct lkdf_data *d = summed(rt, NULL);
	struct lkdf_use w = ON(d, LKDF_WRITE), r = ON(d, LKDF_READ);
	uint64_t i, j;

	nr_other = 0;
	sets = api_kind(rt, "sets", set_to, sizeof(i), 0);
	expects = api_kind(rt, "expects", expect, sizeof(i), 0);
	for (i = 1; i <= nr; i++) {
		must(submit_on(rt, sets, &i, w, NULL));
		for (j = 0; j < i % 4; j++)
			must(submit_on(rt, expects, &i, r, NULL));
	}
	is(value_of(d), nr, "acquire waits for the last writer");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all readers end");
	is(nr_other, 0, "each between two versions has seen the first");
	is(lkdf_data_version(d), nr, "there have been as many versions");
	lkdf_data_put(d);
	lkdf_kind_put(sets);
	lkdf_kind_put(expects);
}

static struct {
	atomic_int inside[2], nr_overlaps;
} commuters;

/* Not atomic: two at a time would lose some. */
static int commute(struct lkdf_ctx *c, void *arg)
{
	int first = *(int *)arg, i;
	uint64_t *x;

	for (i = 0; i < 2; i++) {
		x = lkdf_ptr(c, (unsigned)i);
		if (atomic_fetch_add(&commuters.inside[first ^ i], 1))
			atomic_fetch_add(&commuters.nr_overlaps, 1);
		*x = *x + 1;
	}
	if (first)
		sched_yield();
	for (i = 0; i < 2; i++)
		atomic_fetch_sub(&commuters.inside[i], 1);
	return 0;
}

static void commuting_tasks_never_overlap(struct lkdf *rt)
{
	const int nr = 5000;
	struct lkdf_data *d[2];
	struct lkdf_use use[2];
	struct lkdf_kind *k;
	int i, first;

	commuters.nr_overlaps = 0;
	for (i = 0; i < 2; i++)
		d[i] = summed(rt, &(uint64_t){ 100 });
	k = api_kind(rt, "commutes", commute, sizeof(first), 0);
	for (i = 0; i < nr; i++) {
		first = i % 3 == 1;
		use[0] = ON(d[first], LKDF_COMMUTE);
		use[1] = ON(d[!first], LKDF_COMMUTE);
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &first,
				      .use = use, .nr_use = 2),
				 NULL));
	}
	is(value_of(d[0]), 100 + nr, "COMMUTE: the sum is exact");
	is(value_of(d[1]), 100 + nr, "of the other data, too");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end, whatever their order");
	is(commuters.nr_overlaps, 0, "no two have overlapped");
	is(lkdf_data_version(d[0]), 1 + nr, "each counts as a write");
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	lkdf_kind_put(k);
}

static int add_to(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)lkdf_ptr(c, 0) += *(uint64_t *)arg;
	return 0;
}

/* nr additions, in groups, with a reader behind each group. */
static void reductions_are_exact(struct lkdf *rt, const uint64_t *init)
{
	const uint64_t nr = 3000;
	uint64_t sum = init ? *init : 0, i;
	struct lkdf_kind *adds, *expects;
	struct lkdf_data *d = summed(rt, init);
	struct lkdf_use add = ON(d, LKDF_REDUCE), r = ON(d, LKDF_READ);

	nr_other = 0;
	adds = api_kind(rt, "adds", add_to, sizeof(i), 0);
	expects = api_kind(rt, "expects", expect, sizeof(i), 0);
	for (i = 1; i <= nr; i++) {
		must(submit_on(rt, adds, &i, add, NULL));
		sum += i;
		if (i % 7 == 0 || i == 1)
			must(submit_on(rt, expects, &sum, r, NULL));
	}
	is(value_of(d), sum, "REDUCE: exact, %s",
	   init ? "from a first value" : "from nothing");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	is(nr_other, 0, "each reader has seen all before it, combined");
	lkdf_data_put(d);
	lkdf_kind_put(adds);
	lkdf_kind_put(expects);
}

/* They could not meet if they were one after another. */
static void reducers_are_together(struct lkdf *rt)
{
	struct meeting meeting = { .nr = NR_MEET, .open = 1 }, *m = &meeting;
	struct lkdf_data *d = summed(rt, NULL);
	struct lkdf_use use = ON(d, LKDF_REDUCE);
	struct lkdf_kind *k;
	int i;

	k = api_kind(rt, "meets", meet, sizeof(m), LKDF_BLOCKING);
	for (i = 0; i < NR_MEET; i++)
		must(submit_on(rt, k, &m, use, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%d reducers meet", NR_MEET);
	is(m->nr_late, 0, "each on a neutral copy");
	is(value_of(d), 0, "the sum of which is neutral");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* Both uses give the same bytes; it waits for nobody, itself least of all. */
static int use_twice(struct lkdf_ctx *c, void *arg)
{
	uint64_t *a = lkdf_ptr(c, 0), *b = lkdf_ptr(c, 1);

	if (a != b)
		return lkdf_fail(c, -EPROTO, "%p and %p", (void *)a, (void *)b);
	if (*(bool *)arg)
		*a = *a + 1;
	return 0;
}

/* MXNet 2: the same variable twice waited for itself for ever. */
static void the_same_data_twice_is_once(struct lkdf *rt)
{
	static const uint32_t pair[][2] = {
		{ LKDF_READ, LKDF_READ },  { LKDF_READ, LKDF_WRITE },
		{ LKDF_WRITE, LKDF_READ }, { LKDF_READ, LKDF_RW },
		{ LKDF_RW, LKDF_READ },	   { LKDF_WRITE, LKDF_RW },
		{ LKDF_RW, LKDF_WRITE },   { LKDF_RW, LKDF_RW },
	};
	struct lkdf_data *d = summed(rt, &(uint64_t){ 0 });
	struct lkdf_use use[2] = { ON(d, 0), ON(d, 0) };
	struct lkdf_kind *k;
	struct lkdf_event done;
	uint64_t want = 0;
	bool writes;
	size_t i;

	k = api_kind(rt, "twice", use_twice, sizeof(bool), 0);
	for (i = 0; i < LENGTH(pair); i++) {
		use[0].mode = pair[i][0];
		use[1].mode = pair[i][1];
		writes = (pair[i][0] | pair[i][1]) & LKDF_WRITE;
		want += writes;
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &writes,
				      .use = use, .nr_use = 2),
				 &done));
		is(lkdf_event_wait(done, -1), 0, "MXNet 2: %s and %s in one",
		   mode_name(pair[i][0]), mode_name(pair[i][1]));
		is(lkdf_data_version(d), 1 + want, "counts as one");
	}
	is(value_of(d), want, "READ and WRITE make RW");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static int set_twice(struct lkdf_ctx *c, void *arg)
{
	uint64_t *a = lkdf_ptr(c, 0), *b = lkdf_ptr(c, 1);

	(void)arg;
	*a = 5;
	*b = 6;
	return a == b ? 0 : -EPROTO;
}

/* DFCPP 6: two assignments fired a consumer twice. */
static void two_writes_in_one_are_the_last(struct lkdf *rt)
{
	struct lkdf_data *d = summed(rt, NULL);
	struct lkdf_use use[] = { ON(d, LKDF_WRITE), ON(d, LKDF_WRITE) };
	struct lkdf_use r = ON(d, LKDF_READ);
	struct lkdf_kind *k = api_kind(rt, "sets", set_twice, 0, 0);
	struct lkdf_kind *counts = api_kind(rt, "counts", api_count, 0, 0);
	atomic_int nr = 0;

	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .use = use, .nr_use = 2),
			 NULL));
	must(submit_on(rt, counts, &nr, r, NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "DFCPP 6: WRITE and WRITE in one");
	is(nr, 1, "DFCPP 6: the reader runs once");
	is(value_of(d), 6, "DFCPP 6: the last value stays");
	is(lkdf_data_version(d), 1, "DFCPP 6: it is one version");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(counts);
}

/*
 * Random programs
 */

static void uses_are_checked(struct lkdf *rt)
{
	static const struct {
		uint32_t mode, second;
		const char *text;
	} bad[] = {
		{ 0, 0, "0" },
		{ LKDF_WEAK, 0, "WEAK" },
		{ 64, 0, "0x40" },
		{ LKDF_RW | 1 << 20, 0, "0x100000" },
		{ LKDF_COMMUTE | LKDF_REDUCE, 0, "REDUCE" },
		{ LKDF_READ | LKDF_MAYBE, 0, "MAYBE" },
		{ LKDF_COMMUTE | LKDF_MAYBE, 0, "MAYBE" },
		{ LKDF_REDUCE, LKDF_READ, "REDUCE" },
		{ LKDF_RW, LKDF_REDUCE, "REDUCE" },
	};
	struct lkdf_data *d = summed(rt, &(uint64_t){ 0 }), *e = NULL;
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	struct lkdf_use use[2] = { ON(d, 0), ON(d, 0) };
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .use = use };
	size_t i;

	for (i = 0; i < LENGTH(bad); i++) {
		use[0].mode = bad[i].mode;
		use[1].mode = bad[i].second;
		t.nr_use = bad[i].second ? 2 : 1;
		is(lkdf_submit(rt, NULL, &t, NULL), -EINVAL,
		   "mode %#x, then %#x", bad[i].mode, bad[i].second);
		has(lkdf_errmsg(), bad[i].text, "is refused by its name");
	}
	t.nr_use = 1;
	use[0] = (struct lkdf_use){ .mode = LKDF_READ };
	is(lkdf_submit(rt, NULL, &t, NULL), -EINVAL, "no data");
	t.use = NULL;
	is(lkdf_submit(rt, NULL, &t, NULL), -EINVAL, "a use, but no uses");
	must(lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = 8), &e));
	use[0] = ON(e, LKDF_REDUCE);
	t.use = use;
	is(lkdf_submit(rt, NULL, &t, NULL), -EINVAL,
	   "REDUCE of what has no reduce()");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "nothing has run");
	is(lkdf_data_version(d), 1, "nothing has changed");
	lkdf_data_put(d);
	lkdf_data_put(e);
	lkdf_kind_put(k);
}

static int add_to_all(struct lkdf_ctx *c, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < LKDF_MAX_USES; i++)
		*(uint64_t *)lkdf_ptr(c, i) += 1;
	return lkdf_ptr(c, i) ? -EPROTO : 0;
}

/* All in one task, in another order each time. */
static void there_may_be_many_uses(struct lkdf *rt)
{
	static struct lkdf_use use[LKDF_MAX_USES + 1];
	static struct lkdf_data *d[LKDF_MAX_USES];
	struct lkdf_kind *k = api_kind(rt, "all", add_to_all, 0, 0);
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = k,
			       .use = use,
			       .nr_use = LKDF_MAX_USES };
	int i, j, nr_wrong = 0;

	for (i = 0; i < LKDF_MAX_USES; i++)
		d[i] = summed(rt, &(uint64_t){ 1 });
	for (j = 1; j < 40; j += 2) {
		for (i = 0; i < LKDF_MAX_USES; i++)
			use[i] = ON(d[i * j % LKDF_MAX_USES], LKDF_RW);
		must(lkdf_submit(rt, NULL, &t, NULL));
	}
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%d uses in one", LKDF_MAX_USES);
	use[LKDF_MAX_USES] = ON(d[0], LKDF_READ);
	t.nr_use++;
	is(lkdf_submit(rt, NULL, &t, NULL), -E2BIG, "one more is too many");
	for (i = 0; i < LKDF_MAX_USES; i++) {
		nr_wrong += value_of(d[i]) != 21;
		lkdf_data_put(d[i]);
	}
	is(nr_wrong, 0, "each has been used in each task");
	lkdf_kind_put(k);
}

static const struct choice choices[] = {
	{ .modes = LKDF_RW, .max_data = 3, .max_parts = 1, .max_steps = 40 },
	{ .modes = LKDF_RW | LKDF_MAYBE,
	  .max_data = 12,
	  .max_parts = 1,
	  .max_steps = 90,
	  .has_twice = true },
	{ .modes = LKDF_RW | LKDF_COMMUTE | LKDF_MAYBE,
	  .max_data = 5,
	  .max_parts = 1,
	  .max_steps = 60 },
	{ .modes = LKDF_RW | LKDF_COMMUTE | LKDF_REDUCE | LKDF_MAYBE,
	  .max_data = 12,
	  .max_parts = 1,
	  .max_steps = 90,
	  .has_twice = true },
};

static void tests(struct lkdf *rt, bool is_serial)
{
	if (!is_serial) {
		readers_meet_and_a_writer_waits(rt, LKDF_WRITE);
		readers_meet_and_a_writer_waits(rt, LKDF_RW);
		readers_meet_and_a_writer_waits(rt, LKDF_COMMUTE);
		reducers_are_together(rt);
	}
	readers_see_exactly_one_version(rt);
	commuting_tasks_never_overlap(rt);
	reductions_are_exact(rt, NULL);
	reductions_are_exact(rt, &(uint64_t){ 1000 });
	the_same_data_twice_is_once(rt);
	two_writes_in_one_are_the_last(rt);
	uses_are_checked(rt);
	there_may_be_many_uses(rt);
}

static const struct suite suite = {
	.batch = { choices, LENGTH(choices), run_program, step_body },
	.seed = 1000,
	.nr = 250,
	.nr_sanitized = 60,
	.tests = tests,
};

int main(int argc, char **argv)
{
	suite_run(&suite, argc, argv);
	return tap_end();
}
