/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the random programs of tests/oracle have found in the order and the
 * failures of tasks that use data, each as a small program.
 */
#include "tests/api/using.h"

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return -EIO;
}

static int count(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(*(atomic_int **)arg, 1);
	return 0;
}

/*
 * Edges of a graph
 */

/* fails reads x; behind it count overwrites x: that alone does not skip it. */
static int nr_run_behind(struct lkdf *rt, bool is_ordered, bool has_once)
{
	struct lkdf_data *x = zeros(rt, NULL, 1);
	struct lkdf_data *once = DATA(rt, .bytes = 8, .flags = LKDF_DATA_ONCE);
	struct lkdf_kind *fails = api_kind(rt, "fail", fail, 0, 0), *counts;
	struct lkdf_use before[] = { ON(x, LKDF_READ), ON(once, LKDF_WRITE) };
	struct lkdf_use after[] = { ON(x, LKDF_WRITE), ON(once, LKDF_READ) };
	struct lkdf_graph *g = api_graph(rt, 1);
	atomic_int nr = 0, *arg = &nr;
	unsigned nr_use = has_once ? 2 : 1;

	counts = api_kind(rt, "count", count, sizeof(arg), 0);
	must(lkdf_graph_add(g, fails, NULL, before, nr_use));
	must(lkdf_graph_add(g, counts, &arg, after, nr_use));
	if (is_ordered)
		must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "a reader fails");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "its event has told it");
	lkdf_graph_put(g);
	lkdf_kind_put(fails);
	lkdf_kind_put(counts);
	lkdf_data_put(x);
	lkdf_data_put(once);
	return atomic_load(&nr);
}

static void an_order_counts_beside_data(struct lkdf *rt)
{
	is(nr_run_behind(rt, false, false), 1, "who overwrites x runs");
	is(nr_run_behind(rt, true, false), 0, "not if he is ordered, too");
	is(nr_run_behind(rt, false, true), 0, "nor if he reads another data");
}

/* Adds 1000, and fails. */
static int add_and_fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) += 1000;
	return -EIO;
}

static int set_7(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) = 7;
	return 0;
}

static int note(struct lkdf_ctx *c, void *arg)
{
	**(uint64_t **)arg = *(uint64_t *)lkdf_ptr(c, 0);
	return 0;
}

static uint64_t nr_skipped(struct lkdf *rt)
{
	struct lkdf_error e = { .size = sizeof(e) };

	must(lkdf_scope_error(rt, NULL, &e));
	return e.nr_skipped;
}

static void what_a_failed_task_reduced_is_forgotten(struct lkdf *rt)
{
	uint64_t before = nr_skipped(rt);
	uint64_t seen = 0, *arg = &seen;
	struct lkdf_data *x =
		DATA(rt, .bytes = 8, .init = &seen, .reduce = add_words);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *kind[] = {
		api_kind(rt, "fail", add_and_fail, 0, 0),
		api_kind(rt, "set", set_7, 0, 0),
		api_kind(rt, "add", add_one, 0, 0),
		api_kind(rt, "note", note, sizeof(arg), 0),
	};
	size_t i;

	must(add_on(g, kind[0], NULL, ON(x, LKDF_REDUCE)));
	must(add_on(g, kind[1], NULL, ON(x, LKDF_WRITE)));
	must(add_on(g, kind[2], NULL, ON(x, LKDF_REDUCE)));
	must(add_on(g, kind[3], &arg, ON(x, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "one of a graph that reduces fails");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "its event has told it");
	is(seen, 8, "a write heals, and one is added");
	is(nr_skipped(rt), before, "no task of the user's was skipped");
	lkdf_graph_put(g);
	for (i = 0; i < LENGTH(kind); i++)
		lkdf_kind_put(kind[i]);
	lkdf_data_put(x);
}

/*
 * Weak parents
 */

struct family {
	struct lkdf_kind *child;
	struct lkdf_data *d;
	atomic_int nr, *nr_at;
};

static int spawn_reader(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_use use = ON(f->d, LKDF_READ);

	return lkdf_spawn_task(c,
			       ATTR(lkdf_task, .kind = f->child,
				    .arg = &f->nr_at, .use = &use, .nr_use = 1),
			       NULL);
}

static int do_nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static void family_create(struct family *f, struct lkdf *rt)
{
	atomic_init(&f->nr, 0);
	f->nr_at = &f->nr;
	f->d = zeros(rt, NULL, 1);
	f->child = api_kind(rt, "child", count, sizeof(f->nr_at), 0);
}

static void family_destroy(struct family *f)
{
	lkdf_data_put(f->d);
	lkdf_kind_put(f->child);
}

/*
 * The parent's child waits for add, and add wants the token: so the parent,
 * who comes later, must not have it.
 */
static void a_weak_parent_takes_no_token_before_others(struct lkdf *rt)
{
	struct lkdf_data *sum = zeros(rt, NULL, 1);
	struct lkdf_kind *add = api_kind(rt, "add", add_one, 0, 0), *parent;
	struct family f;

	family_create(&f, rt);
	parent = api_kind(rt, "parent", spawn_reader, 0, 0);
	must(lkdf_data_acquire(f.d, LKDF_WRITE, -1, NULL));
	must(lkdf_submit(
		rt, NULL,
		ATTR(lkdf_task, .kind = add,
		     .use = (struct lkdf_use[]){ ON(f.d, LKDF_RW),
						 ON(sum, LKDF_COMMUTE) },
		     .nr_use = 2),
		NULL));
	must(lkdf_submit(
		rt, NULL,
		ATTR(lkdf_task, .kind = parent, .arg = &f,
		     .use = (struct lkdf_use[]){ ON(f.d, LKDF_READ | LKDF_WEAK),
						 ON(sum, LKDF_COMMUTE) },
		     .nr_use = 2),
		NULL));
	must(lkdf_data_release(f.d));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "both end");
	is(atomic_load(&f.nr), 1, "the child has run");
	lkdf_data_put(sum);
	lkdf_kind_put(add);
	lkdf_kind_put(parent);
	family_destroy(&f);
}

/* Neither the one without children, nor the one whose child reads. */
static void a_weak_parent_heals_only_what_its_children_write(struct lkdf *rt)
{
	struct lkdf_kind *fails = api_kind(rt, "fail", fail, 0, 0);
	struct lkdf_kind *reads, *parent, *idle;
	struct family f;

	family_create(&f, rt);
	idle = api_kind(rt, "idle", do_nothing, 0, 0);
	parent = api_kind(rt, "parent", spawn_reader, 0, 0);
	reads = api_kind(rt, "read", count, sizeof(f.nr_at), 0);
	must(submit_on(rt, fails, NULL, ON(f.d, LKDF_WRITE), NULL));
	must(submit_on(rt, idle, NULL, ON(f.d, LKDF_RW | LKDF_WEAK), NULL));
	must(submit_on(rt, reads, &f.nr_at, ON(f.d, LKDF_READ), NULL));
	must(submit_on(rt, parent, &f, ON(f.d, LKDF_RW | LKDF_WEAK), NULL));
	must(submit_on(rt, reads, &f.nr_at, ON(f.d, LKDF_READ), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "a writer fails");
	is(atomic_load(&f.nr), 0, "no reader runs behind weak parents");
	is(lkdf_data_acquire(f.d, LKDF_READ, -1, NULL), -EIO,
	   "the data is as poisoned as before");
	lkdf_kind_put(fails);
	lkdf_kind_put(reads);
	lkdf_kind_put(parent);
	lkdf_kind_put(idle);
	family_destroy(&f);
}

/*
 * Children that reduce
 */

struct nest {
	struct lkdf_kind *child, *reader;
	struct lkdf_data *d;
	uint64_t seen, *seen_at;
};

/* Between its two steps somebody takes his place behind its parent. */
static int reduce_and_submit(struct lkdf_ctx *c, void *arg)
{
	struct nest *n = arg;
	uint64_t *sum = lkdf_ptr(c, 0);
	int rc;

	*sum += 1;
	rc = submit_on(lkdf_runtime(c), n->reader, &n->seen_at,
		       ON_PART(n->d, LKDF_READ, 1), NULL);
	*sum += 1;
	return rc;
}

static int spawn_reducer(struct lkdf_ctx *c, void *arg)
{
	struct nest *n = arg;
	struct lkdf_use use = ON_PART(n->d, LKDF_REDUCE, 1);

	return lkdf_spawn_task(c,
			       ATTR(lkdf_task, .kind = n->child, .arg = n,
				    .use = &use, .nr_use = 1),
			       NULL);
}

static void copies_of_children_are_not_for_others(struct lkdf *rt)
{
	const uint64_t init[2] = { 0 };
	struct nest n = { .seen_at = &n.seen };
	struct lkdf_kind *add = api_kind(rt, "add", add_one, 0, 0);
	struct lkdf_kind *parent = api_kind(rt, "parent", spawn_reducer, 0, 0);

	n.child = api_kind(rt, "child", reduce_and_submit, 0, 0);
	n.reader = api_kind(rt, "note", note, sizeof(n.seen_at), 0);
	n.d = DATA(rt, .bytes = sizeof(init), .init = init,
		   .reduce = add_words);
	must(lkdf_data_split(n.d, 2, sizeof(init[0])));
	must(submit_on(rt, add, NULL, ON_PART(n.d, LKDF_REDUCE, 1), NULL));
	must(submit_on(rt, parent, &n, ON(n.d, LKDF_RW), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "a parent and its child end");
	is(n.seen, 3, "who comes behind sees all that they have added");
	lkdf_data_put(n.d);
	lkdf_kind_put(n.child);
	lkdf_kind_put(n.reader);
	lkdf_kind_put(add);
	lkdf_kind_put(parent);
}

int main(void)
{
	static const char *const options[] = { "workers=2", "serial=yes" };
	struct lkdf *rt;
	size_t i;

	tap_start(60);
	for (i = 0; i < LENGTH(options); i++) {
		rt = api_open(options[i]);
		an_order_counts_beside_data(rt);
		what_a_failed_task_reduced_is_forgotten(rt);
		a_weak_parent_takes_no_token_before_others(rt);
		a_weak_parent_heals_only_what_its_children_write(rt);
		copies_of_children_are_not_for_others(rt);
		is(lkdf_close(rt), 0, "it closes: %s", options[i]);
	}
	return tap_end();
}
