/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds of functions that are submitted without one: made with the first call,
 * kept until the runtime closes, found by function and name without a lock.
 */
#ifndef TASK_FN_KIND_H
#define TASK_FN_KIND_H

#include <lkdf/kind.h>

/* 0, and the kind, which stays the runtime's; -ENOMEM. */
int fn_kind_find(struct lkdf *rt, const char *name, lkdf_fn fn,
		 struct lkdf_kind **out);

/* At close, when no task lives: kinds of functions are freed. */
void fn_kind_close(struct lkdf *rt);

#endif
