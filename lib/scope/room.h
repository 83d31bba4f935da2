/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * max_tasks of scopes: what is submitted takes room in its scope and in all
 * above it that have a limit, and gives it back at its end. Its children are
 * part of it.
 *
 *	gives                           waits
 *	(A) nr_taken - n                (C) says at which nr_taken to wake it
 *	(B) looks at what was said      (D) looks at nr_taken, then sleeps
 *
 * All seq_cst: either B sees C and wakes, or D sees A. The one that needs least
 * says it for all that wait; who wakes them takes it away, and those that find
 * no room say it anew. A cancel is told the same way, with the scope's error in
 * the place of nr_taken.
 */
#ifndef SCOPE_ROOM_H
#define SCOPE_ROOM_H

#include "scope/scope.h"

/*
 * For nr tasks. -EAGAIN: there is none, and we may not wait; -E2BIG: there
 * never is; -ECANCELED: of a scope while we waited.
 */
int room_take(struct lkdf_scope *s, uint32_t nr, bool may_wait);
void room_give(struct lkdf_scope *s, uint32_t nr);

/* The scope was cancelled. */
void room_wake(struct lkdf_scope *s);

#endif
