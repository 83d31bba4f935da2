/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A body that waits for a word to change, and whose worker meanwhile runs
 * whatever is ready, as if the body had ended: it looks for work, spins, and
 * sleeps with the idle workers of its node. So a wait of this kind may nest any
 * body on the stack of another, which a join never does; it is for bodies that
 * hold nothing that others need.
 *
 * A thread that changes the word calls the worker afterwards, as part.h says of
 * a link:
 *
 *	changes                          helps
 *	(A) the word                     (C) is_parking = 1
 *	(B) looks at is_parking          (D) looks at the word
 *
 * All four are seq_cst: either B sees C, or D sees A.
 */
#ifndef SCHED_HELP_H
#define SCHED_HELP_H

#include "sched/sched.h"

/* This worker only: until the word is another than that value. */
void help_until(struct worker *w, const _Atomic(uint32_t) *word,
		uint32_t value);

/*
 * Any thread, after a seq_cst change of the word: calls workers first ..
 * first + nr - 1 of those who sleep.
 */
void help_call(struct sched *s, int first, int nr);

/* Does the worker wait for a word no more, or for none? */
static inline bool help_is_over(const struct worker *w)
{
	/* [help.d] after it said that it sleeps; pairs with [gang.next] and
	 * [gang.left]. */
	return unlikely(w->help.word != NULL) &&
	       a_load(w->help.word, seq_cst) != w->help.value;
}

#endif
