/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reductions over a range: exact sums, the order of joins, the same result on
 * any machine, errors that leave the result alone.
 */
#include "tests/api/loop.h"

static int add(uint64_t begin, uint64_t end, void *acc, void *u)
{
	uint64_t *sum = acc;

	(void)u;
	for (; begin < end; begin++)
		*sum += begin;
	return 0;
}

static int add_join(void *acc, const void *x, void *u)
{
	(void)u;
	*(uint64_t *)acc += *(const uint64_t *)x;
	return 0;
}

static uint64_t sum_of(struct lkdf *rt, struct lkdf_range r)
{
	uint64_t sum = 0;

	must(lkdf_reduce(rt, ATTR(lkdf_reduce_attr, .range = r, .fn = add,
				  .join = add_join, .acc = &sum,
				  .acc_bytes = sizeof(sum))));
	return sum;
}

static void sums_are_exact(const char *options)
{
	static const uint64_t nrs[] = { 0, 1, 2, 63, 1000, 100000, 1234567 };
	static const uint64_t grains[] = { 0, 1, 7, 5000, UINT64_MAX };
	struct lkdf *rt = api_open(options);
	struct lkdf_range r;
	unsigned i, j;
	uint64_t sum;
	int bad = 0;

	for (i = 0; i < sizeof(nrs) / sizeof(nrs[0]); i++) {
		for (j = 0; j < sizeof(grains) / sizeof(grains[0]); j++) {
			r = (struct lkdf_range){ 10, nrs[i] + 10, grains[j] };
			sum = nrs[i] ? nrs[i] * (nrs[i] - 1) / 2 + 10 * nrs[i]
				     : 0;
			bad += sum_of(rt, r) != sum;
		}
	}
	is(bad, 0, "%s: sums are exact", options);
	r = (struct lkdf_range){ UINT64_MAX - 3, UINT64_MAX, 0 };
	ok(sum_of(rt, r) == UINT64_MAX * 3 - 6, "up to the largest number");
	must(lkdf_close(rt));
}

/* A list of the iterations: only joins in their order give it whole. */
struct list {
	uint64_t first, nr; /* nr 0: empty */
	uint64_t nr_blocks;
	bool is_broken;
};

static int list_add(uint64_t begin, uint64_t end, void *acc, void *u)
{
	struct list *l = acc;

	(void)u;
	l->is_broken |= l->nr != 0;
	l->first = begin;
	l->nr = end - begin;
	l->nr_blocks = 1;
	return 0;
}

static int list_join(void *acc, const void *x, void *u)
{
	const struct list *b = x;
	struct list *a = acc;

	(void)u;
	a->is_broken |= b->is_broken || a->first + a->nr != b->first;
	a->nr += b->nr;
	a->nr_blocks += b->nr_blocks;
	return 0;
}

static struct list list_of(struct lkdf *rt, struct lkdf_range r)
{
	struct list l = { .nr = 0 };

	must(lkdf_reduce(rt, ATTR(lkdf_reduce_attr, .range = r, .fn = list_add,
				  .join = list_join, .acc = &l,
				  .acc_bytes = sizeof(l))));
	return l;
}

static void joins_are_in_order(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct list l;

	l = list_of(rt, (struct lkdf_range){ 3, 100003, 0 });
	ok(!l.is_broken && l.first == 3 && l.nr == 100000,
	   "%s: blocks are joined in the order of the range", options);
	ok(l.nr_blocks <= 1024, "without a grain at most 1024 blocks");
	l = list_of(rt, (struct lkdf_range){ 0, 1000, 100 });
	ok(!l.is_broken && l.nr_blocks == 10, "with a grain as it says");
	l = list_of(rt, (struct lkdf_range){ 0, 1000000, 1 });
	ok(!l.is_broken && l.nr == 1000000 && l.nr_blocks <= 4096,
	   "but never more than 4096");
	must(lkdf_close(rt));
}

static int add_inverse(uint64_t begin, uint64_t end, void *acc, void *u)
{
	(void)u;
	for (; begin < end; begin++)
		*(double *)acc += 1.0 / (double)(begin + 1);
	return 0;
}

static int add_doubles(void *acc, const void *x, void *u)
{
	(void)u;
	*(double *)acc += *(const double *)x;
	return 0;
}

/* To the last bit. */
static void a_sum_is_the_same_everywhere(void)
{
	double first = 0, sum;
	struct lkdf *rt;
	unsigned i, j;
	int bad = 0;

	for (i = 0; i < NR_MACHINES; i++) {
		rt = api_open(machines[i]);
		for (j = 0; j < 10; j++) {
			sum = 0;
			must(lkdf_reduce(rt,
					 ATTR(lkdf_reduce_attr,
					      .range = { 0, 300000, 0 },
					      .fn = add_inverse,
					      .join = add_doubles, .acc = &sum,
					      .acc_bytes = sizeof(sum))));
			if (!first)
				first = sum;
			bad += memcmp(&first, &sum, sizeof(sum)) != 0;
		}
		must(lkdf_close(rt));
	}
	is(bad, 0, "a sum of fractions is the same on all machines");
}

static int fail_late(uint64_t begin, uint64_t end, void *acc, void *u)
{
	(void)u;
	*(uint64_t *)acc = begin;
	return end == 1000 ? -EIO : 0;
}

static int fail_join(void *acc, const void *x, void *u)
{
	(void)u;
	*(uint64_t *)acc = 1;
	return *(const uint64_t *)x > 500 ? -ERANGE : 0;
}

static void errors_leave_the_result_alone(void)
{
	struct lkdf *rt = api_open_workers(2);
	uint64_t acc = 77;
	struct lkdf_reduce_attr a = {
		.size = sizeof(a),
		.range = { 0, 1000, 10 },
		.fn = fail_late,
		.join = add_join,
		.acc = &acc,
		.acc_bytes = sizeof(acc),
	};

	is(lkdf_reduce(rt, &a), -EIO, "the function's error");
	is(acc, 77, "acc is untouched");
	a.fn = add;
	a.join = fail_join;
	is(lkdf_reduce(rt, &a), -ERANGE, "the join's error");
	is(acc, 77, "acc is untouched");
	a.range.end = 0;
	is(lkdf_reduce(rt, &a), 0, "an empty range");
	is(acc, 77, "has the neutral value");
	must(lkdf_close(rt));
}

static void mistakes_are_told(void)
{
	struct lkdf *rt = api_open_workers(1);
	uint64_t acc = 0;
	struct lkdf_reduce_attr good = {
		.size = sizeof(good),
		.range = { 0, 10, 0 },
		.fn = add,
		.join = add_join,
		.acc = &acc,
		.acc_bytes = sizeof(acc),
	}, a;

	is(lkdf_reduce(NULL, &good), -EINVAL, "no runtime");
	is(lkdf_reduce(rt, NULL), -EINVAL, "no attributes");
	a = good;
	a.fn = NULL;
	is(lkdf_reduce(rt, &a), -EINVAL, "no fn");
	a = good;
	a.join = NULL;
	is(lkdf_reduce(rt, &a), -EINVAL, "no join");
	a = good;
	a.acc = NULL;
	is(lkdf_reduce(rt, &a), -EINVAL, "no acc");
	a = good;
	a.acc_bytes = 0;
	is(lkdf_reduce(rt, &a), -EINVAL, "no bytes");
	a.acc_bytes = (1ull << 30) + 1;
	is(lkdf_reduce(rt, &a), -EINVAL, "too many bytes");
	a = good;
	a.flags = 1;
	is(lkdf_reduce(rt, &a), -EINVAL, "unknown flags");
	a = good;
	a.range.begin = 11;
	is(lkdf_reduce(rt, &a), -EINVAL, "begin after end");
	is(acc, 0, "none of them has run");
	is(lkdf_reduce(rt, &good), 0, "the right one is");
	is(acc, 45, "0 to 9");
	must(lkdf_close(rt));
}

/* More than fits on a stack, and not a multiple of anything. */
#define WIDE 100003

static int count_wide(uint64_t begin, uint64_t end, void *acc, void *u)
{
	(void)u;
	for (; begin < end; begin++)
		((unsigned char *)acc)[begin * 7919 % WIDE]++;
	return 0;
}

static int add_wide(void *acc, const void *x, void *u)
{
	unsigned i;

	(void)u;
	for (i = 0; i < WIDE; i++)
		((unsigned char *)acc)[i] += ((const unsigned char *)x)[i];
	return 0;
}

static void wide_values_are_reduced(void)
{
	struct lkdf *rt = api_open("topology=numa:2 core:1,workers=2");
	unsigned char *acc = calloc(1, WIDE);
	unsigned i, bad = 0;

	is(lkdf_reduce(rt, ATTR(lkdf_reduce_attr, .range = { 0, 3 * WIDE, 0 },
				.fn = count_wide, .join = add_wide, .acc = acc,
				.acc_bytes = WIDE)),
	   0, "100003 bytes");
	for (i = 0; i < WIDE; i++)
		bad += acc[i] != 3;
	is(bad, 0, "each counted three times");
	free(acc);
	must(lkdf_close(rt));
}

static int reduce_in_body(struct lkdf_ctx *c, void *arg)
{
	uint64_t *sum = arg;

	return lkdf_reduce_in(c, ATTR(lkdf_reduce_attr, .range = { 0, 5000, 0 },
				      .fn = add, .join = add_join, .acc = sum,
				      .acc_bytes = sizeof(*sum)));
}

static int reduce_and_wait(struct lkdf_ctx *c, void *arg)
{
	uint64_t *sum = arg;

	return lkdf_reduce(lkdf_runtime(c),
			   ATTR(lkdf_reduce_attr, .range = { 0, 5000, 0 },
				.fn = add, .join = add_join, .acc = sum,
				.acc_bytes = sizeof(*sum)));
}

static void bodies_reduce(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "reduce", reduce_in_body, 0, 0);
	struct lkdf_kind *waits = api_kind(rt, "waits", reduce_and_wait, 0, 0);
	uint64_t sum = 0;

	is(api_call(rt, k, &sum), 0, "%s: a reduction in a body", options);
	is(sum, 5000 * 4999 / 2, "is exact");
	sum = 0;
	is(api_call(rt, waits, &sum), 0, "so is one that the body waits for");
	is(sum, 5000 * 4999 / 2, "and exact");
	lkdf_kind_put(k);
	lkdf_kind_put(waits);
	must(lkdf_close(rt));
}

int main(void)
{
	unsigned i;

	tap_start(60);
	for (i = 0; i < NR_MACHINES; i++) {
		sums_are_exact(machines[i]);
		joins_are_in_order(machines[i]);
		bodies_reduce(machines[i]);
	}
	a_sum_is_the_same_everywhere();
	errors_leave_the_result_alone();
	mistakes_are_told();
	wide_values_are_reduced();
	return tap_end();
}
