/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Asking busy workers for work. A worker that asked and fell asleep cannot ask
 * again, so its steal request stays while anybody sleeps; once all are awake
 * the next spinner asks for itself. A worker that rests in a join asks again
 * after each nap, see joiner.h.
 *
 *	owner                            sleeper
 *	(A) clears ATTN_STEAL            (C) says that it sleeps
 *	(B) looks for sleepers           (D) sets ATTN_STEAL unless it is set
 *
 * All four are seq_cst. Either B sees C, and it is set again, or D sees A.
 */
#ifndef SCHED_STEAL_REQUEST_H
#define SCHED_STEAL_REQUEST_H

#include "sched/notify.h"

/* Asks a busy victim to share; only a store if nobody has asked yet. */
static inline void steal_request_send(struct worker *victim)
{
	/*
	 * [steal_request.d] after we said that we sleep; pairs with
	 * [steal_request.a].
	 */
	if (!(a_load(&victim->attn, seq_cst) & ATTN_STEAL))
		a_or(&victim->attn, ATTN_STEAL, relaxed);
}

/* This worker only, where nobody sleeps. False: somebody does, and asks. */
static inline bool steal_request_clear(struct worker *w)
{
	/*
	 * [steal_request.a] before we look at the words; pairs with
	 * [steal_request.d].
	 */
	a_and(&w->attn, ~ATTN_STEAL, seq_cst);
	if (likely(!notify_has_sleeper(w->sched)))
		return true;
	a_or(&w->attn, ATTN_STEAL, relaxed);
	return false;
}

#endif
