/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies of kinds with SLOW_NOTED: while lkdf probe is there an executor has
 * its kind noted while it runs one, where the kernel's programs read it. For
 * kinds with SLOW_COUNTED, too, as option kinds wants it, an executor counts
 * the body, and times one of about 64. Nothing else changes for a kind that is
 * known to be short, so that the hot loops call these bodies themselves.
 *
 * A trial (task/narrowing.h) has bodies counted for some windows: all kinds get
 * SLOW_COUNTED, executors rows. Rows outlive all bodies, so both may come and
 * go while bodies run: a body ends in the row that it has begun in.
 */
#ifndef TASK_NOTED_H
#define TASK_NOTED_H

#include "task/body.h"
#include "task/ctx.h"
#include "task/kind.h"
#include "trace/kind_row.h"

/* A body that is counted in its kind's row, and timed now. */
int noted_time(const struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn,
	       void *arg, struct kind_row *row);

/* Its kind is noted. */
static inline __attribute__((always_inline)) int
noted_body(const struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn, void *arg)
{
	struct kind_row *row = a_load(&c->ex->kinds, relaxed);
	int rc;

	if (!row)
		return body_call(fn, c, arg);
	row += k->trace_name;
	if (kind_row_count(row))
		return noted_time(k, c, fn, arg, row);
	rc = body_call(fn, c, arg);
	if (unlikely(c->after < 0) && c->put_off)
		kind_row_uncount(row, 0);
	return rc;
}

/* As noted_call(), of a kind with SLOW_COUNTED. */
__attribute__((cold)) int noted_count(const struct lkdf_kind *k,
				      struct lkdf_ctx *c, lkdf_fn fn,
				      void *arg);

/* For a kind with SLOW_NOTED. A join runs other bodies within this one. */
static inline __attribute__((always_inline)) int
noted_call(const struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn, void *arg)
{
	uint32_t outer;
	int rc;

	outer = a_load(&c->ex->noted, relaxed);
	a_store(&c->ex->noted, k->trace_name, relaxed);
	rc = body_call(fn, c, arg);
	a_store(&c->ex->noted, outer, relaxed);
	return rc;
}

/* Calls the body of a kind with SLOW_NOTED; notes: its kind's SLOW_NOTES. */
static inline __attribute__((always_inline)) int
noted_by(uint32_t notes, const struct lkdf_kind *k, struct lkdf_ctx *c,
	 lkdf_fn fn, void *arg)
{
	return likely(!(notes & SLOW_COUNTED)) ? noted_call(k, c, fn, arg)
					       : noted_count(k, c, fn, arg);
}

/* Calls the body of a kind that is noted, counted, both or neither. */
static inline int noted_or_not(const struct lkdf_kind *k, struct lkdf_ctx *c,
			       lkdf_fn fn, void *arg)
{
	uint32_t slow = a_load(&k->slow, relaxed);

	return unlikely(slow & SLOW_NOTED) ? noted_by(slow, k, c, fn, arg)
					   : body_call(fn, c, arg);
}

#endif
