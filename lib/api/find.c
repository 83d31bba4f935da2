/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The first hit: a loop with as many iterations as there are blocks, each of
 * which takes the next block, whatever its own number. So when a thread comes
 * to a block behind the hit, all blocks before the hit have begun, and those
 * that are left are not wanted.
 */
#include <lkdf/algorithm.h>

#include "api/border.h"
#include "api/loop.h"
#include "base/lock.h"
#include "core/failure.h"

#include <string.h>

#define NAMED_OUTSIDE 2

struct find {
	struct lkdf_find_attr a;
	struct cut cut;

	/* Any thread. */
	_Atomic(uint64_t) next; /* block */
	/* Where the outcome is: a hit, or the begin of a block that failed. */
	_Atomic(uint64_t) at;

	/* Under lock. */
	struct lock lock;
	int outcome; /* 0: none yet; 1: hit; NAMED_OUTSIDE; < 0: failed */
	uint64_t outside; /* the number that fn has named */
};

/* The lowest one stays. */
static void note_outcome(struct find *f, int outcome, uint64_t at,
			 uint64_t outside)
{
	lock_take(&f->lock);
	if (!f->outcome || at < a_load(&f->at, relaxed)) {
		f->outcome = outcome;
		f->outside = outside;
		a_store(&f->at, at, relaxed);
	}
	lock_give(&f->lock);
}

static void search_block(struct find *f, uint64_t begin, uint64_t end)
{
	uint64_t at = end;
	int rc = f->a.fn(begin, end, &at, f->a.u);

	if (rc < 0)
		note_outcome(f, failure_errno(rc), begin, 0);
	else if (rc && (at < begin || at >= end))
		note_outcome(f, NAMED_OUTSIDE, begin, at);
	else if (rc)
		note_outcome(f, 1, at, 0);
}

/* -ECANCELED: no block that is left is wanted. */
static int take_block(struct find *f)
{
	/* Relaxed: each is taken once, and the end of the loop orders the
	 * rest. A hit that is seen late costs a block. */
	uint64_t i = a_add(&f->next, 1, relaxed), begin;

	begin = f->a.range.begin + i * f->cut.block;
	if (begin > a_load(&f->at, relaxed))
		return -ECANCELED;
	search_block(f, begin,
		     begin + min_u64(f->cut.block, f->a.range.end - begin));
	return 0;
}

static int find_in_blocks(uint64_t begin, uint64_t end, void *u)
{
	int rc = 0;

	for (; begin < end && !rc; begin++)
		rc = take_block(u);
	return rc;
}

static int check_find(const struct lkdf *rt, const struct lkdf_find_attr *a)
{
	int rc = border_flags("find", a->flags, 0);

	if (!rc)
		rc = loop_check_range("find", &a->range);
	if (rc)
		return rc;
	if (!a->fn)
		return err(-EINVAL, "find: fn is NULL");
	return loop_check_scope("find", rt, a->scope);
}

/* All blocks before that of the outcome have ended. */
static int tell_outcome(const struct find *f, uint64_t *at)
{
	uint64_t where = a_load(&f->at, relaxed);

	if (f->outcome == NAMED_OUTSIDE)
		return err(-ERANGE,
			   "find: fn was asked for a block that begins with "
			   "%llu and has named %llu: *at lies in its block",
			   (unsigned long long)where,
			   (unsigned long long)f->outside);
	if (f->outcome < 0)
		return err(f->outcome,
			   "find: the block that begins with %llu: %s",
			   (unsigned long long)where, strerror(-f->outcome));
	if (at)
		*at = where;
	return 1;
}

int lkdf_find(struct lkdf *rt, const struct lkdf_find_attr *a, uint64_t *at)
{
	struct loop l = { .rt = rt, .what = "find: blocks" };
	struct find f = { .at = UINT64_MAX };
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!a)
		return err(-EINVAL, "find: attributes are NULL");
	rc = border_copy(a, &f.a, sizeof(f.a), "lkdf_find_attr");
	if (!rc)
		rc = check_find(rt, &f.a);
	if (rc || f.a.range.begin == f.a.range.end)
		return rc;
	loop_cut(&f.cut, &f.a.range, 1);
	l.label = f.a.name ? f.a.name : "lkdf_find";
	l.range.end = f.cut.nr_blocks;
	l.fn = find_in_blocks;
	l.u = &f;
	rc = loop_here(&l, f.a.scope);
	return f.outcome ? tell_outcome(&f, at) : rc;
}
