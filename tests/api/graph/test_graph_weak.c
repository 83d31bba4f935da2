/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * WEAK and MAYBE uses of a sealed graph's tasks, lkdf_use_end() in them, and
 * over which edges a failure passes. Random programs: test_graph_trees.c and
 * test_data_graph.c.
 */
#include "tests/api/family.h"

/*
 * Weak uses
 */

static int weak_body(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;
	struct turn t = { .f = f, .nr = 10 * lkdf_seq(c) };

	atomic_fetch_add(&f->nr_wrong, lkdf_ptr(c, 0) != NULL);
	for (; t.nr < 10 * lkdf_seq(c) + 10; t.nr++)
		must(spawn_on(c, f->child, &t, ON(f->d, LKDF_RW)));
	f->rc[0] = lkdf_join(c);
	atomic_fetch_add(&f->nr_wrong, lkdf_ptr(c, 0) != NULL);
	return 0;
}

static void children_of_weak_tasks_go_in_order(struct lkdf *rt)
{
	struct family family = { .rc = { 1 } }, *f = &family;
	struct lkdf_graph *g = api_graph(rt, 3);
	struct lkdf_kind *k;

	f->d = zeros(rt, NULL, 1);
	f->child = api_kind(rt, "child", take_turn, sizeof(struct turn), 0);
	k = api_kind(rt, "weak", weak_body, sizeof(f), 0);
	must(add_on(g, k, &f, ON(f->d, LKDF_RW | LKDF_WEAK)));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 20), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "20 runs of a weak task");
	is(f->nr_wrong, 0, "it has no bytes, its children go in order");
	is(f->rc[0], 0, "it may join them");
	is(value_of(f->d), 200, "all have run");
	is(lkdf_data_version(f->d), 21, "each run was one write");
	lkdf_graph_put(g);
	lkdf_data_put(f->d);
	lkdf_kind_put(k);
	lkdf_kind_put(f->child);
}

static int note_start(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	(void)c;
	atomic_store(&f->parent_started, 1);
	return 0;
}

/* What data.rst promises: here it orders like a strong one. */
static void a_weak_use_orders_like_a_strong_one(struct lkdf *rt)
{
	struct family family = { .rc = { 1 } }, *f = &family;
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *gate, *weak, *counts;
	struct lkdf_event done;
	atomic_int nr = 0;

	f->d = zeros(rt, NULL, 1);
	gate = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	weak = api_kind(rt, "weak", note_start, sizeof(f), 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	must(add_on(g, gate, &f->gate, ON(f->d, LKDF_RW)));
	must(add_on(g, weak, &f, ON(f->d, LKDF_READ | LKDF_WEAK)));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, &done));
	api_until(&f->gate.entered);
	must(api_call(rt, counts, &nr));
	is(f->parent_started, 0, "a weak reader waits for the writer");
	atomic_store(&f->gate.open, 1);
	is(lkdf_event_wait(done, -1), 0, "then both are done");
	is(f->parent_started, 1, "and it has run");
	lkdf_graph_put(g);
	lkdf_data_put(f->d);
	lkdf_kind_put(gate);
	lkdf_kind_put(weak);
	lkdf_kind_put(counts);
}

/*
 * Ending uses
 */

struct ender {
	struct lkdf_kind *nothing;
	struct lkdf_data *d;
	int rc[8];
	bool has_ptr;
	char text[256];
};

static int end_uses(struct lkdf_ctx *c, void *arg)
{
	struct ender *e = *(struct ender **)arg;

	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	e->rc[0] = lkdf_use_end(c, 2, false);
	e->rc[1] = lkdf_use_end(c, 0, true);
	e->rc[2] = lkdf_use_end(c, 0, false);
	e->rc[3] = lkdf_use_end(c, 0, false);
	e->has_ptr = lkdf_ptr(c, 0) != NULL;
	e->rc[4] = spawn_on(c, e->nothing, NULL, ON(e->d, LKDF_READ));
	snprintf(e->text, sizeof(e->text), "%s", lkdf_errmsg());
	*(uint64_t *)lkdf_ptr(c, 1) += 1;
	return 0;
}

static int end_nothing(struct lkdf_ctx *c, void *arg)
{
	struct ender *e = *(struct ender **)arg;

	e->rc[5] = lkdf_use_end(c, 0, false);
	return 0;
}

static void uses_are_ended(struct lkdf *rt)
{
	struct ender ender = { .rc = { 1 } }, *e = &ender;
	struct lkdf_data *d[2] = { zeros(rt, "ended", 1), zeros(rt, NULL, 1) };
	struct lkdf_use use[] = { ON(d[0], LKDF_RW), ON(d[1], LKDF_RW) };
	struct lkdf_graph *g = api_graph(rt, 2);
	struct lkdf_kind *k, *none;
	int i;

	e->d = d[0];
	e->nothing = api_kind(rt, "nothing", api_nothing, 0, 0);
	k = api_kind(rt, "ends", end_uses, sizeof(e), 0);
	none = api_kind(rt, "none", end_nothing, sizeof(e), 0);
	must(lkdf_graph_add(g, k, &e, use, 2));
	must(lkdf_graph_add(g, none, &e, NULL, 0));
	must(add_on(g, e->nothing, NULL, ON(d[0], LKDF_RW)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 10; i++)
		is(api_run(g, NULL, NULL), 0, "run %d", i);
	is(e->rc[0], -EINVAL, "there is no such use");
	is(e->rc[1], -EINVAL, "untouched goes with MAYBE only");
	is(e->rc[2], 0, "a use is ended");
	is(e->rc[3], -EALREADY, "once");
	ok(!e->has_ptr, "it has no bytes any more");
	is(e->rc[4], -EACCES, "and covers no children");
	has(e->text, "ended", "by name");
	is(e->rc[5], -EINVAL, "a task without uses ends none");
	is(value_of(d[0]), 10, "what was ended was written");
	is(value_of(d[1]), 10, "and so was the other");
	is(lkdf_data_version(d[0]), 21, "each a write");
	lkdf_graph_put(g);
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	lkdf_kind_put(k);
	lkdf_kind_put(none);
	lkdf_kind_put(e->nothing);
}

/*
 * Untouched
 */

struct maybe {
	bool touches, fails;
	atomic_int nr_next;
};

static int maybe_body(struct lkdf_ctx *c, void *arg)
{
	const struct maybe *m = *(struct maybe **)arg;
	int rc = 0;

	if (m->touches)
		*(uint64_t *)lkdf_ptr(c, 0) += 1;
	else
		rc = lkdf_use_end(c, 0, true);
	if (rc)
		return rc;
	return m->fails ? lkdf_fail(c, -EIO, "after it") : 0;
}

static int count_next(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(&(*(struct maybe **)arg)->nr_next, 1);
	return 0;
}

/* What a failing task has said to be untouched is good, in and outside. */
static void untouched_is_no_write(struct lkdf *rt, bool touches, bool fails,
				  uint64_t times)
{
	struct maybe maybe = { touches, fails, 0 }, *m = &maybe;
	bool is_bad = touches && fails;
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *k, *next;
	struct lkdf_data *d = zeros(rt, NULL, 2);
	uint64_t nr = fails ? 1 : times;
	int rc;

	must(lkdf_data_split(d, 2, 8));
	k = api_kind(rt, "maybe", maybe_body, sizeof(m), 0);
	next = api_kind(rt, "next", count_next, sizeof(m), 0);
	must(add_on(g, k, &m, ON_PART(d, LKDF_RW | LKDF_MAYBE, 1)));
	must(add_on(g, next, &m, ON_PART(d, LKDF_READ, 1)));
	must(lkdf_graph_seal(g, NULL));
	rc = api_run(g, NULL, ATTR(lkdf_run, .times = times));
	is(rc, fails ? -EIO : 0, "%s, %s, %d times",
	   touches ? "touched" : "untouched", fails ? "fails" : "ends well",
	   (int)times);
	is(m->nr_next, is_bad ? 0 : (int)nr, "who reads it %s",
	   is_bad ? "is skipped" : "runs");
	rc = lkdf_data_acquire(d, LKDF_READ, -1, NULL);
	is(rc, is_bad ? -EIO : 0, "outside it is %s", is_bad ? "bad" : "good");
	if (!rc)
		lkdf_data_release(d);
	is(lkdf_data_version(d), 1 + (touches && !fails ? nr : 0), "version");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(next);
}

/* Of two uses one is untouched: the reader of the other is skipped. */
static void untouched_is_said_of_each_use(struct lkdf *rt)
{
	struct maybe maybe = { false, true, 0 }, *m = &maybe;
	struct maybe of_both = { 0 }, *both = &of_both;
	struct lkdf_data *d[2] = { zeros(rt, NULL, 1), zeros(rt, NULL, 1) };
	uint32_t mode = LKDF_RW | LKDF_MAYBE;
	struct lkdf_use use[] = { ON(d[0], mode), ON(d[1], mode) };
	struct lkdf_use reads[] = { ON(d[0], LKDF_READ), ON(d[1], LKDF_READ) };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *k, *next;

	k = api_kind(rt, "maybe", maybe_body, sizeof(m), 0);
	next = api_kind(rt, "next", count_next, sizeof(m), 0);
	must(lkdf_graph_add(g, k, &m, use, 2));
	must(lkdf_graph_add(g, next, &m, &reads[0], 1));
	must(lkdf_graph_add(g, next, &both, &reads[1], 1));
	must(lkdf_graph_add(g, next, &both, reads, 2));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "a task leaves one use untouched");
	is(m->nr_next, 1, "who reads it runs");
	is(both->nr_next, 0, "who reads the other, or both, is skipped");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	lkdf_kind_put(k);
	lkdf_kind_put(next);
}

/*
 * Edges with more than one reason
 */

static int fail_at_once(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "at once");
}

enum reason {
	REASON_ONCE,
	REASON_ORDER,
	REASON_ORDER_MAYBE,
	NR_REASONS
};

/* The second overwrites what the first reads: that alone skips nobody. */
static void a_hard_reason_wins(struct lkdf *rt, enum reason why)
{
	static const char *const names[] = { "a dataflow variable",
					     "an edge of the program",
					     "the same, and a MAYBE" };
	struct lkdf_data *once = DATA(rt, .bytes = 8, .flags = LKDF_DATA_ONCE);
	struct lkdf_data *d = zeros(rt, NULL, 1);
	uint32_t mode =
		why == REASON_ORDER_MAYBE ? LKDF_RW | LKDF_MAYBE : LKDF_READ;
	struct lkdf_use first[] = { ON(d, mode), ON(once, LKDF_WRITE) };
	struct lkdf_use second[] = { ON(d, LKDF_WRITE), ON(once, LKDF_READ) };
	unsigned nr = why == REASON_ONCE ? 2 : 1;
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *fails, *counts;
	atomic_int ran = 0;

	fails = api_kind(rt, "fails", fail_at_once, 0, 0);
	counts = api_kind(rt, "counts", api_count, 0, 0);
	must(lkdf_graph_add(g, fails, NULL, first, nr));
	must(lkdf_graph_add(g, counts, &ran, second, nr));
	if (why != REASON_ONCE)
		must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "a reader fails");
	is(ran, 0, "who overwrites it is skipped for %s", names[why]);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_data_put(once);
	lkdf_kind_put(fails);
	lkdf_kind_put(counts);
}

static int add_to_both(struct lkdf_ctx *c, void *arg)
{
	uint64_t *whole = lkdf_ptr(c, 0), *part = lkdf_ptr(c, 1);

	(void)arg;
	whole[0] += 1;
	*part += 2;
	return 0;
}

/* One use stands for the other: the copy is that of the whole. */
static void a_whole_and_its_part_are_reduced(struct lkdf *rt)
{
	uint64_t init[2] = { 0 }, *at;
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_use use[2];
	struct lkdf_data *d;
	struct lkdf_kind *k;
	int i;

	d = DATA(rt, .bytes = 16, .init = init, .reduce = add_words,
		 .neutral = no_words);
	must(lkdf_data_split(d, 2, 8));
	use[0] = ON(d, LKDF_REDUCE);
	use[1] = ON_PART(d, LKDF_REDUCE, 2);
	k = api_kind(rt, "adds", add_to_both, 0, 0);
	for (i = 0; i < 5; i++)
		must(lkdf_graph_add(g, k, NULL, use, 2));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "tasks reduce the whole and a part");
	must(lkdf_data_acquire(d, LKDF_READ, -1, (void **)&at));
	is(at[0], 5, "part 1");
	is(at[1], 10, "part 2");
	lkdf_data_release(d);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void all_ways_to_leave_untouched(struct lkdf *rt)
{
	int i;

	for (i = 0; i < 4; i++) {
		untouched_is_no_write(rt, i & 1, i & 2, 1);
		untouched_is_no_write(rt, i & 1, i & 2, 5);
	}
	untouched_is_said_of_each_use(rt);
}

static void all_tests(struct lkdf *rt, const char *options)
{
	int why;

	children_of_weak_tasks_go_in_order(rt);
	uses_are_ended(rt);
	all_ways_to_leave_untouched(rt);
	for (why = 0; why < NR_REASONS; why++)
		a_hard_reason_wins(rt, (enum reason)why);
	a_whole_and_its_part_are_reduced(rt);
	/* Here a body waits for this thread. */
	if (strcmp(options, "serial=yes"))
		a_weak_use_orders_like_a_strong_one(rt);
}

int main(void)
{
	tap_start(120);
	api_each(all_tests);
	return tap_end();
}
