/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Running sums: a loop that adds up each block, the sums of all before each
 * block on the calling thread, and a loop that writes.
 */
#include <lkdf/algorithm.h>

#include "api/border.h"
#include "api/loop.h"
#include "core/failure.h"

#include <stdlib.h>
#include <string.h>

/* A block has its sum, later the sum of all before it; two more follow. */
struct scan {
	struct lkdf_scan_attr a;
	struct cut cut;
	char *acc;
};

static void *acc_of(const struct scan *s, uint64_t i)
{
	return s->acc + i * s->cut.stride;
}

typedef int (*block_fn)(uint64_t begin, uint64_t end, void *acc, void *u);

static int call_blocks(const struct scan *s, block_fn fn, uint64_t begin,
		       uint64_t end)
{
	uint64_t from, nr;
	int rc = 0;

	for (; begin < end && rc >= 0; begin++) {
		from = s->a.range.begin + begin * s->cut.block;
		nr = min_u64(s->cut.block, s->a.range.end - from);
		rc = fn(from, from + nr, acc_of(s, begin), s->a.u);
	}
	return rc;
}

static int add_blocks(uint64_t begin, uint64_t end, void *u)
{
	const struct scan *s = u;
	uint64_t i;

	for (i = begin; i < end; i++)
		memcpy(acc_of(s, i), s->a.acc, s->a.acc_bytes);
	return call_blocks(s, s->a.fn, begin, end);
}

static int write_blocks(uint64_t begin, uint64_t end, void *u)
{
	const struct scan *s = u;

	return call_blocks(s, s->a.write, begin, end);
}

/* Where the sum of all is, after join_before(). */
static void *total_of(const struct scan *s)
{
	return acc_of(s, s->cut.nr_blocks);
}

/* Each block gets the sum of all before it. */
static int join_before(struct scan *s)
{
	void *sum = total_of(s), *own = acc_of(s, s->cut.nr_blocks + 1);
	size_t bytes = s->a.acc_bytes;
	uint64_t i;
	int rc;

	memcpy(sum, s->a.acc, bytes);
	for (i = 0; i < s->cut.nr_blocks; i++) {
		memcpy(own, acc_of(s, i), bytes);
		memcpy(acc_of(s, i), sum, bytes);
		rc = s->a.join(sum, own, s->a.u);
		if (rc < 0)
			return err(failure_errno(rc), "scan: join: %s",
				   strerror(-failure_errno(rc)));
	}
	return 0;
}

static int run_blocks(struct scan *s, struct lkdf *rt, lkdf_for_fn fn)
{
	struct loop l = { .rt = rt,
			  .what = "scan: blocks",
			  .label = s->a.name ? s->a.name : "lkdf_scan",
			  .range = { 0, s->cut.nr_blocks, 0 },
			  .fn = fn,
			  .u = s };

	return loop_here(&l, s->a.scope);
}

static int run_scan(struct scan *s, struct lkdf *rt)
{
	int rc = run_blocks(s, rt, add_blocks);

	if (!rc)
		rc = join_before(s);
	if (!rc)
		rc = run_blocks(s, rt, write_blocks);
	if (!rc)
		memcpy(s->a.acc, total_of(s), s->a.acc_bytes);
	return rc;
}

static int check_scan(const struct lkdf *rt, const struct lkdf_scan_attr *a)
{
	int rc = border_flags("scan", a->flags, 0);

	if (!rc)
		rc = loop_check_range("scan", &a->range);
	if (rc)
		return rc;
	if (!a->fn || !a->write || !a->join || !a->acc)
		return err(-EINVAL, "scan: fn, write, join or acc is NULL");
	rc = loop_check_acc("scan", a->acc_bytes);
	return rc ? rc : loop_check_scope("scan", rt, a->scope);
}

int lkdf_scan(struct lkdf *rt, const struct lkdf_scan_attr *a)
{
	struct scan s = { .acc = NULL };
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!a)
		return err(-EINVAL, "scan: attributes are NULL");
	rc = border_copy(a, &s.a, sizeof(s.a), "lkdf_scan_attr");
	if (!rc)
		rc = check_scan(rt, &s.a);
	if (rc || s.a.range.begin == s.a.range.end)
		return rc;
	loop_cut(&s.cut, &s.a.range, s.a.acc_bytes);
	s.acc = aligned_alloc(CACHE_LINE, (s.cut.nr_blocks + 2) * s.cut.stride);
	if (!s.acc)
		return err(-ENOMEM,
			   "scan: no memory for %llu blocks of %llu bytes",
			   (unsigned long long)s.cut.nr_blocks,
			   (unsigned long long)s.cut.stride);
	rc = run_scan(&s, rt);
	free(s.acc);
	return rc;
}
