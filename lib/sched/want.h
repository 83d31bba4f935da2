/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Asking busy workers for work. A worker that asked and fell asleep cannot ask
 * again, so WANT stays set while anybody sleeps; once all are awake the next
 * spinner asks for itself.
 *
 *	owner                            sleeper
 *	(A) clears WANT                  (C) says that it sleeps
 *	(B) looks for sleepers           (D) sets WANT unless it is set
 *
 * All four are seq_cst. Either B sees C, and it is set again, or D sees A.
 */
#ifndef SCHED_WANT_H
#define SCHED_WANT_H

#include "sched/notify.h"

/* Asks a busy victim to share; only a store if nobody has asked yet. */
static inline void want_ask(struct worker *victim)
{
	/* [want.d] after we said that we sleep; pairs with [want.a]. */
	if (!(a_load(&victim->attn, seq_cst) & ATTN_WANT))
		a_or(&victim->attn, ATTN_WANT, relaxed);
}

/* This worker only, where nobody sleeps. False: somebody does, and asks. */
static inline bool want_forget(struct worker *w)
{
	/* [want.a] before we look at the words; pairs with [want.d]. */
	a_and(&w->attn, ~ATTN_WANT, seq_cst);
	if (likely(!notify_has_sleeper(w->sched)))
		return true;
	a_or(&w->attn, ATTN_WANT, relaxed);
	return false;
}

#endif
