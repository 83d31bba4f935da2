/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Children that reduce: below a parent that reduces, too, or that writes; the
 * whole or its parts; what somebody has written or not.
 */
#include "tests/api/family.h"

static struct lkdf_data *sum_data(struct lkdf *rt)
{
	struct lkdf_data *d = NULL;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = sizeof(uint64_t),
				   .init = &(uint64_t){ 100 },
				   .reduce = add_words, .neutral = no_words),
			      &d));
	return d;
}

struct reducer {
	struct lkdf_kind *adds, *looks;
	struct lkdf_data *d;
	bool looks_inside, joins, sees; /* sees: the parent, what it joined */
	atomic_int nr_wrong;
};

static int add_five(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) += 5;
	return 0;
}

static int expect_150(struct lkdf_ctx *c, void *arg)
{
	struct reducer *r = *(struct reducer **)arg;

	atomic_fetch_add(&r->nr_wrong, *(uint64_t *)lkdf_ptr(c, 0) != 150);
	return 0;
}

static int reduce_below(struct lkdf_ctx *c, void *arg)
{
	struct reducer *r = *(struct reducer **)arg;
	int i, rc;

	for (i = 0; i < 10; i++)
		must(spawn_on(c, r->adds, NULL, ON(r->d, LKDF_REDUCE)));
	if (r->looks_inside)
		must(spawn_on(c, r->looks, &r, ON(r->d, LKDF_READ)));
	rc = r->joins ? lkdf_join(c) : 0;
	if (!rc && r->sees)
		expect_150(c, &r);
	return rc;
}

/* Children reduce; a sibling looks, or only whoever comes after the parent. */
static void children_reduce(struct lkdf *rt, uint32_t mode, bool looks_inside,
			    bool joins)
{
	struct reducer reducer = { .looks_inside = looks_inside,
				   .joins = joins,
				   .sees = joins && mode == LKDF_RW };
	struct reducer *r = &reducer;
	struct lkdf_kind *k;

	r->d = sum_data(rt);
	r->adds = api_kind(rt, "adds", add_five, 0, 0);
	r->looks = api_kind(rt, "looks", expect_150, sizeof(r), 0);
	k = api_kind(rt, "parent", reduce_below, sizeof(r), 0);
	must(submit_on(rt, k, &r, ON(r->d, mode), NULL));
	must(submit_on(rt, r->looks, &r, ON(r->d, LKDF_READ), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "children of a %s parent with %s reduce%s%s",
	   mode & LKDF_WEAK ? "weak" : "strong",
	   mode & LKDF_REDUCE ? "REDUCE" : "RW",
	   looks_inside ? ", a sibling looks" : "", joins ? ", it joins" : "");
	is(r->nr_wrong, 0, "whoever looks sees the sum");
	is(value_of(r->d), 150, "the sum stays");
	lkdf_data_put(r->d);
	lkdf_kind_put(r->adds);
	lkdf_kind_put(r->looks);
	lkdf_kind_put(k);
}

static int write_seven(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) = 7;
	return 0;
}

/* looks_inside: a child writes, else the body; then a child adds. */
static int write_and_reduce(struct lkdf_ctx *c, void *arg)
{
	struct reducer *r = *(struct reducer **)arg;

	if (r->looks_inside)
		must(spawn_on(c, r->looks, NULL, ON(r->d, LKDF_WRITE)));
	else
		write_seven(c, arg);
	must(spawn_on(c, r->adds, NULL, ON(r->d, LKDF_REDUCE)));
	return 0;
}

/* Nobody has written it before: what they add comes on top all the same. */
static void children_reduce_what_is_new(struct lkdf *rt, bool a_child_writes)
{
	struct reducer reducer = { .looks_inside = a_child_writes };
	struct reducer *r = &reducer;
	struct lkdf_kind *k;

	r->d = DATA(rt, .bytes = 8, .reduce = add_words, .neutral = no_words);
	r->adds = api_kind(rt, "adds", add_five, 0, 0);
	r->looks = api_kind(rt, "writes", write_seven, 0, 0);
	k = api_kind(rt, "parent", write_and_reduce, sizeof(r), 0);
	must(submit_on(rt, k, &r, ON(r->d, LKDF_WRITE), NULL));
	is(value_of(r->d), 12, "%s writes new bytes, then a child reduces",
	   a_child_writes ? "a child" : "a parent");
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(r->d);
	lkdf_kind_put(r->adds);
	lkdf_kind_put(r->looks);
	lkdf_kind_put(k);
}

static int reduce_parts(struct lkdf_ctx *c, void *arg)
{
	struct reducer *r = *(struct reducer **)arg;

	must(spawn_on(c, r->adds, NULL, ON(r->d, LKDF_REDUCE)));
	must(spawn_on(c, r->adds, NULL, ON_PART(r->d, LKDF_REDUCE, 2)));
	return 0;
}

/* Children reduce parts of what the parent reduces as a whole. */
static void children_reduce_parts(struct lkdf *rt, uint32_t mode)
{
	struct reducer reducer = { .joins = false }, *r = &reducer;
	uint64_t *at, init[2] = { 100, 200 };
	struct lkdf_kind *k;

	r->d = DATA(rt, .bytes = 16, .init = init, .reduce = add_words,
		    .neutral = no_words);
	must(lkdf_data_split(r->d, 2, 8));
	r->adds = api_kind(rt, "adds", add_five, 0, 0);
	k = api_kind(rt, "parent", reduce_parts, sizeof(r), 0);
	must(submit_on(rt, k, &r, ON(r->d, mode), NULL));
	must(lkdf_data_acquire(r->d, LKDF_READ, -1, (void **)&at));
	is(at[0], 105, "mode %#x: a child reduces the whole", mode);
	is(at[1], 205, "another one part 2");
	must(lkdf_data_release(r->d));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(r->d);
	lkdf_kind_put(r->adds);
	lkdf_kind_put(k);
}

static void children_reduce_in_all_ways(struct lkdf *rt)
{
	children_reduce_what_is_new(rt, false);
	children_reduce_what_is_new(rt, true);
	children_reduce_parts(rt, LKDF_RW);
	children_reduce_parts(rt, LKDF_REDUCE);
	children_reduce_parts(rt, LKDF_REDUCE | LKDF_WEAK);
	children_reduce(rt, LKDF_REDUCE, false, false);
	children_reduce(rt, LKDF_REDUCE | LKDF_WEAK, false, false);
	children_reduce(rt, LKDF_RW, true, false);
	children_reduce(rt, LKDF_RW | LKDF_WEAK, true, false);
	children_reduce(rt, LKDF_RW, false, false);
	children_reduce(rt, LKDF_RW | LKDF_WEAK, false, false);
}

/* What is combined must not wait for the worker that waits in the join. */
static void reductions_are_combined_in_a_join(const char *options)
{
	struct lkdf *rt = api_open(options);

	printf("# %s\n", options);
	children_reduce(rt, LKDF_RW, false, true);
	children_reduce(rt, LKDF_RW, true, true);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void all_tests(struct lkdf *rt, const char *options)
{
	(void)options;
	children_reduce_in_all_ways(rt);
}

int main(void)
{
	size_t i;

	tap_start(120);
	api_each(all_tests);
	for (i = 0; i < LENGTH(api_options); i++)
		reductions_are_combined_in_a_join(api_options[i]);
	return tap_end();
}
