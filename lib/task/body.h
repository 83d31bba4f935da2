/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calling a body. An exception that leaves one would go through frames that
 * hold locks and counts, or end in the middle of a thread of ours, so it ends
 * the process here and says whose body it was. That costs no instruction while
 * nothing is thrown: the compiler drops the test of guard but where the stack
 * is unwound, and base/thrown.h sees to it that it always is.
 */
#ifndef TASK_BODY_H
#define TASK_BODY_H

#include "base/util.h"

#include <lkdf/kind.h>

/* Tells task and kind on standard error, and aborts. */
_Noreturn void body_thrown(const struct lkdf_ctx *c);

static inline __attribute__((always_inline)) void
body_left(const struct lkdf_ctx **guard)
{
	if (unlikely(*guard != NULL))
		body_thrown(*guard);
}

static inline __attribute__((always_inline)) int
body_call(lkdf_fn fn, struct lkdf_ctx *c, void *arg)
{
	__attribute__((cleanup(body_left))) const struct lkdf_ctx *guard = c;
	int rc = fn(c, arg);

	guard = NULL;
	return rc;
}

#endif
