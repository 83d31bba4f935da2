/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies while lkdf probe is there: an executor has its kind noted while it
 * runs one, where the kernel's programs read it. Nothing else changes for a
 * kind that is known to be short, so that the hot loops call these bodies
 * themselves.
 */
#ifndef TASK_NOTED_H
#define TASK_NOTED_H

#include "task/body.h"
#include "task/ctx.h"
#include "task/kind.h"

/* Of a kind with SLOW_NOTED. A join runs other bodies within this one. */
static inline __attribute__((always_inline)) int
noted_call(const struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn, void *arg)
{
	_Atomic(uint32_t) *noted = c->ex->noted;
	uint32_t outer = a_load(noted, relaxed);
	int rc;

	a_store(noted, k->trace_name, relaxed);
	rc = body_call(fn, c, arg);
	a_store(noted, outer, relaxed);
	return rc;
}

#endif
