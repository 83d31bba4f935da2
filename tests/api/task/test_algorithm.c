/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_scan(), lkdf_sort() and lkdf_find() from each place that a thread may be
 * in, and with wrong arguments.
 */
#include "tests/api/loop.h"

static int some_key(const void *a, const void *b, void *u)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	(void)u;
	return x < y ? -1 : x > y;
}

static int find_key(uint64_t begin, uint64_t end, uint64_t *at, void *u)
{
	const uint32_t *x = u;

	for (; begin < end; begin++) {
		*at = begin;
		if (x[begin] == 1234)
			return 1;
	}
	return 0;
}

static int add_keys(uint64_t begin, uint64_t end, void *acc, void *u)
{
	uint64_t *sum = acc;

	for (; begin < end; begin++)
		*sum += ((uint32_t *)u)[begin];
	return 0;
}

static int write_keys(uint64_t begin, uint64_t end, void *acc, void *u)
{
	uint64_t *sum = acc;
	uint32_t *x = u;

	for (; begin < end; begin++) {
		*sum += x[begin];
		x[begin] = (uint32_t)*sum;
	}
	return 0;
}

static int join_keys(void *acc, const void *x, void *u)
{
	(void)u;
	*(uint64_t *)acc += *(const uint64_t *)x;
	return 0;
}

#define NR_KEYS 5000u

/* The library, which does not know who calls: 0 where all three are right. */
static int all_three(struct lkdf *rt)
{
	uint32_t *x = malloc(NR_KEYS * sizeof(*x)), i;
	uint64_t at = 0, sum = 0;
	int bad = 0;

	for (i = 0; i < NR_KEYS; i++)
		x[i] = i * 7919 % NR_KEYS;
	bad += lkdf_sort(rt, ATTR(lkdf_sort_attr, .base = x, .nr = NR_KEYS,
				  .bytes = sizeof(*x), .compare = some_key));
	for (i = 0; i < NR_KEYS; i++)
		bad += x[i] != i;
	bad += lkdf_find(rt,
			 ATTR(lkdf_find_attr, .range = { 0, NR_KEYS, 10 },
			      .fn = find_key, .u = x),
			 &at) != 1;
	bad += at != 1234;
	bad += lkdf_scan(rt, ATTR(lkdf_scan_attr, .range = { 0, NR_KEYS, 10 },
				  .fn = add_keys, .write = write_keys,
				  .join = join_keys, .u = x, .acc = &sum,
				  .acc_bytes = sizeof(sum))) != 0;
	for (i = 0; i < NR_KEYS; i++)
		bad += x[i] != i * (i + 1) / 2;
	bad += sum != (uint64_t)NR_KEYS * (NR_KEYS - 1) / 2;
	free(x);
	return bad ? -EPROTO : 0;
}

static int in_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return all_three(arg);
}

/* Another child still runs, and goes on. */
static int in_parent(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *k = *(struct lkdf_kind **)arg;
	int rc = lkdf_spawn(c, k, lkdf_runtime(c));

	if (!rc)
		rc = all_three(lkdf_runtime(c));
	return rc ? rc : lkdf_join(c);
}

static int in_block(uint64_t begin, uint64_t end, void *u)
{
	int rc = 0;

	for (; begin < end && !rc; begin++)
		rc = all_three(u);
	return rc;
}

static int run_in_graph(struct lkdf *rt, struct lkdf_kind *k)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	int rc;

	must(lkdf_graph_add(g, k, rt, NULL, 0));
	must(lkdf_graph_add(g, k, rt, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	rc = api_run(g, NULL, ATTR(lkdf_run, .times = 3));
	lkdf_graph_put(g);
	return rc;
}

static void calls_work_everywhere(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *k = api_kind(rt, "three", in_body, 0, 0);
	struct lkdf_kind *parent = api_kind(rt, "parent", in_parent, 0, 0);
	struct lkdf_kind *slow =
		api_kind(rt, "slow", in_body, 0, LKDF_BLOCKING);
	struct lkdf *other = api_open("workers=2");

	is(all_three(rt), 0, "%s: on a thread", options);
	is(api_call(rt, k, rt), 0, "in a body");
	is(api_call(rt, parent, &k), 0, "in a body with children");
	is(api_call(rt, slow, rt), 0, "in a body that may block");
	is(lkdf_for(rt, (struct lkdf_range){ 0, 5, 1 }, in_block, rt), 0,
	   "in the function of a loop");
	is(run_in_graph(rt, k), 0, "in a graph");
	is(api_call(rt, k, other), 0, "in a body, by another runtime");
	is(lkdf_for(rt, (struct lkdf_range){ 0, 5, 1 }, in_block, other), 0,
	   "in the function of a loop, by another runtime");
	must(lkdf_close(other));
	lkdf_kind_put(k);
	lkdf_kind_put(parent);
	lkdf_kind_put(slow);
}

static void wrong_arguments_are_refused(void)
{
	struct lkdf *rt = api_open("workers=1");
	uint64_t acc = 0, x[2] = { 2, 1 };
	struct lkdf_sort_attr s = { .size = sizeof(s),
				    .base = x,
				    .nr = 2,
				    .bytes = 8,
				    .compare = some_key };
	struct lkdf_scan_attr a = { .size = sizeof(a),
				    .range = { 5, 2, 0 },
				    .fn = add_keys,
				    .write = write_keys,
				    .join = join_keys,
				    .acc = &acc,
				    .acc_bytes = 8 };
	struct lkdf_find_attr f = { .size = sizeof(f), .range = { 0, 9, 0 } };

	is(lkdf_sort(rt, NULL), -EINVAL, "sort without attributes");
	s.bytes = 0;
	is(lkdf_sort(rt, &s), -EINVAL, "elements of no bytes");
	has(lkdf_errmsg(), "bytes 0, expected 1", "the text says what");
	s.bytes = 1 << 20;
	s.nr = 1ull << 60;
	is(lkdf_sort(rt, &s), -EINVAL, "more elements than memory has");
	s.bytes = 8;
	s.nr = 2;
	s.base = NULL;
	is(lkdf_sort(rt, &s), -EINVAL, "no array");
	s.nr = 0;
	is(lkdf_sort(rt, &s), 0, "no array of no elements");
	s.compare = NULL;
	is(lkdf_sort(rt, &s), -EINVAL, "no comparison");
	s.flags = 1;
	is(lkdf_sort(rt, &s), -EINVAL, "unknown flags");
	is(lkdf_scan(rt, NULL), -EINVAL, "scan without attributes");
	is(lkdf_scan(rt, &a), -EINVAL, "a range that ends before it begins");
	a.range = (struct lkdf_range){ 0, 5, 0 };
	a.acc_bytes = 0;
	is(lkdf_scan(rt, &a), -EINVAL, "sums of no bytes");
	a.acc_bytes = 8;
	a.write = NULL;
	is(lkdf_scan(rt, &a), -EINVAL, "nothing that writes");
	is(lkdf_find(rt, NULL, &acc), -EINVAL, "find without attributes");
	is(lkdf_find(rt, &f, &acc), -EINVAL, "nothing that looks");
	must(lkdf_close(rt));
}

int main(void)
{
	struct lkdf *rt;
	unsigned i;

	tap_start(120);
	for (i = 0; i < NR_MACHINES; i++) {
		rt = api_open(machines[i]);
		calls_work_everywhere(rt, machines[i]);
		is(lkdf_close(rt), 0, "%s: the runtime closes", machines[i]);
	}
	wrong_arguments_are_refused();
	return tap_end();
}
