/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Deadlines. Only scopes have one: past it the scope is cancelled with -ETIME.
 * A task or a run with a deadline gets a scope of its own below the user's, so
 * its children, on_cancel and lkdf_cancelled() need nothing more. Nobody
 * enters a scope of its own: its task or run lives in the user's, holds one
 * reference to its own, and lets go of that first.
 *
 * A deadline that is over counts as over before its timer has fired:
 * deadline_is_over().
 */
#ifndef SCOPE_DEADLINE_H
#define SCOPE_DEADLINE_H

#include "core/runtime.h"
#include "scope/scope.h"

#include <errno.h>

/* A new scope nobody knows yet; ns 0 or absurdly long: none. */
void deadline_set(struct lkdf_scope *s, int64_t ns);

/* Afterwards it does not fire any more. */
void deadline_drop(struct lkdf_scope *s);

/* Is it over, of the scope or of one above? */
bool deadline_is_over(const struct lkdf_scope *s);

/* Has the scope, or one above, a deadline that is still to come? */
bool deadline_is_ahead(const struct lkdf_scope *s);

/* 0, or the error with which a body in it should end. */
static inline int deadline_cancelled(const struct lkdf_scope *s)
{
	/* With the last timer fired all have told by cancel_err. */
	bool is_over = unlikely(!timers_are_empty(&s->rt->sched.timers)) &&
		       deadline_is_over(s);
	int rc = scope_cancelled(s);

	return rc || likely(!is_over) ? rc : -ETIME;
}

/*
 * A body asks, and gives up then: a scope that is late is cancelled at once, as
 * by its timer, which a worker looks at between bodies only. So the task counts
 * as cancelled, and none begins behind it.
 */
int deadline_look(struct lkdf_scope *s);

/* A scope of its own below the user's, cancelled if that is; -ENOMEM. */
int deadline_create(struct lkdf_scope *parent, int64_t ns,
		    struct lkdf_scope **out);

/* The user's scope again, and its own is let go of. */
struct lkdf_scope *deadline_leave(struct lkdf_scope *own);

/* It was cancelled by its own deadline, the user's scope was not. */
static inline bool deadline_hit(const struct lkdf_scope *own)
{
	return own->is_own && scope_cancelled(own) &&
	       !scope_cancelled(own->parent);
}

/*
 * Serial mode: nobody else looks at the clock while this thread sleeps on
 * *word, so it wakes in time. Else as futex_wait().
 */
void deadline_sleep(struct lkdf *rt, _Atomic(uint32_t) *word, uint32_t expect,
		    int64_t timeout_ns);

#endif
