/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A scope counts what lives in it or below it, keeps the first error and says
 * whether it is cancelled.
 *
 * count holds two numbers: live (low half) and references (high half). Each
 * object that lives in it holds one of each, so that the scope cannot go while
 * its last task leaves. A task counts in its scope and in all scopes above.
 *
 *	leaver                          waiter
 *	(A) live - 1                    (C) nr_waiters + 1
 *	(B) looks at nr_waiters         (D) looks at live, then sleeps
 *
 * All seq_cst: either B sees C and wakes, or D sees A and does not sleep.
 *
 * All tasks are in a root, which is there until the last thread has gone. It
 * counts who comes and who has left, each in a line of its own, so that who
 * submits and who runs do not wait for one another. The
 * scope is empty if departures, read first, equal arrivals.
 */
#ifndef SCOPE_SCOPE_H
#define SCOPE_SCOPE_H

#include "base/atomic.h"
#include "base/thread.h"
#include "base/util.h"
#include "core/failure.h"
#include "core/handle.h"
#include "core/verdict.h"
#include "sched/timers.h"

#include <errno.h>
#include <lkdf/scope.h>
#include <pthread.h>

#define SCOPE_LIVE 1ull
#define SCOPE_REF (1ull << 32)

/* Errors that a scope keeps beside its first; beyond it counts them. */
#define SCOPE_MAX_LATER 64

struct lkdf_scope {
	/* Any thread. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) count; /* a root: references */
	_Atomic(uint64_t) came; /* a root's */

	/* Any thread. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) departed; /* a root's */
	_Atomic(uint32_t) nr_waiters;
	_Atomic(uint32_t) epoch; /* futex: bumped when live gets 0 */

	/* Any thread; read by every task, written on errors only. */
	_Alignas(CACHE_LINE) _Atomic(int32_t) cancel_err;
	_Atomic(int32_t) first_err; /* written under lock */
	struct tally tally;
	_Atomic(int64_t) end_ns; /* see deadline.h; 0: none, or waited for */

	/* Set under lock; read by every submission. */
	_Atomic(struct lkdf_graph *) recorder; /* see recording.h */

	/* Set at create, constant afterwards. */
	struct lkdf *rt;
	struct lkdf_scope *parent;
	unsigned depth; /* 0: the root */
	bool is_own; /* of one task or run, see deadline.h */
	bool is_limited; /* it or one above has max_tasks, or core/watch.h */
	uint64_t max_tasks; /* 0: any number */
	char name[32];

	/* Option check, the thread that drains: its token; NULL: none yet. */
	uint64_t *check;

	/* Any thread, see room.h. */
	_Atomic(uint64_t) nr_taken;
	_Atomic(uint64_t) room_asked; /* wake below that; 0: nobody waits */
	_Atomic(uint32_t) room_epoch; /* futex */

	/* Under the timers' lock; no fire: it was never added. */
	struct timer timer;

	/* Under the runtime's scope lock. */
	struct lkdf_scope *children, *next, **prev;

	/* Any thread, under lock. */
	pthread_mutex_t lock;
	struct failure *failure; /* of first_err; NULL: no text */
	struct failure *told; /* what was told last */
	struct failure *below; /* a scope below has kept it; or NULL */
	struct failure *later; /* those that no scope has kept */
	int told_err;

	struct handle handle; /* the user's */
};

void scope_init(struct lkdf_scope *s, struct lkdf *rt,
		struct lkdf_scope *parent, const char *name);
void scope_fini(struct lkdf_scope *s);

/* a: name, max_tasks, deadline_ns. */
int scope_create(struct lkdf *rt, struct lkdf_scope *parent,
		 const struct lkdf_scope_attr *a, struct lkdf_scope **out);

/* Below parent, and cancelled if that is; no handle of the user. -ENOMEM. */
int scope_create_own(struct lkdf_scope *parent, struct lkdf_scope **out);
void scope_put(struct lkdf_scope *s);

/*
 * An object enters it, which stands for nr tasks. As scope_refuse(); as
 * room_take().
 */
int scope_enter(struct lkdf_scope *s, uint32_t nr, bool may_wait);

/* 0; -ECANCELED, with the scope's own error in the text. */
int scope_refuse(const struct lkdf_scope *s);

/* May this thread wait for room? A body never waits. */
static inline bool scope_may_wait(void)
{
	return !thread_self()->executor;
}

/* nr objects leave it. */
void scope_leave(struct lkdf_scope *s, uint32_t nr);

int scope_wait(struct lkdf_scope *s, int64_t timeout_ns);
void scope_cancel(struct lkdf_scope *s, int err);

/*
 * The scope that comes after s among top and all below it, depth first; NULL:
 * s was the last. The caller holds the runtime's scope_lock.
 */
struct lkdf_scope *scope_below(const struct lkdf_scope *top,
			       const struct lkdf_scope *s);

/* With -ETIME, but for scopes that are cancelled already. */
void scope_expire(struct lkdf_scope *s);
int scope_error(struct lkdf_scope *s, struct lkdf_error *out);

static inline uint32_t scope_live(struct lkdf_scope *s)
{
	uint64_t departed;

	if (s->parent)
		/* [scope.d] after nr_waiters; pairs with [scope.a]. */
		return (uint32_t)a_load(&s->count, seq_cst);
	/* [scope.d] the same; and who has left has come. */
	departed = a_load(&s->departed, seq_cst);
	return (uint32_t)min_u64(a_load(&s->came, relaxed) - departed,
				 UINT32_MAX);
}

/* 0, or the error with which it was cancelled. */
static inline int scope_cancelled(const struct lkdf_scope *s)
{
	return a_load(&s->cancel_err, relaxed);
}

/*
 * Does a body in it return an error only because it was cancelled? -ETIME is
 * that of a deadline.
 */
static inline bool scope_explains(const struct lkdf_scope *s, int returned)
{
	int rc = scope_cancelled(s);

	return rc &&
	       (returned == -ECANCELED || (returned == -ETIME && rc == -ETIME));
}

/* The first error stays, here and above. f may be NULL. */
void scope_fail(struct lkdf_scope *s, int err, struct failure *f);

/* Counts what failed or did not run, here and above. */
void scope_count(struct lkdf_scope *s, const struct tally *t);

#endif
