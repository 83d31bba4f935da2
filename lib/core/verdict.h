/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How a task ends, and what each ending passes on: the table that tasks, runs,
 * streams and scopes read. Edges of a graph go by the verdict, see the table of
 * graph/control.h.
 *
 * Whether the task behind an edge looks at the verdict is its own business: a
 * kind with LKDF_ALWAYS is called whatever its inputs are.
 */
#ifndef CORE_VERDICT_H
#define CORE_VERDICT_H

#include "base/atomic.h"

#include <lkdf/event.h>

/*
 * The word that successors get: the value a body has returned, or one of these.
 */
enum verdict {
	VERDICT_LIVE = 0,
	VERDICT_FAILED = -1,
	VERDICT_UNCHOSEN = -2,
};

/* Endings that are counted: all but that of a body that has succeeded. */
enum ending {
	ENDED_FAILED, /* the body, or what it needs before */
	ENDED_SKIPPED, /* never called: an input had failed */
	ENDED_CANCELLED, /* never called, or the body has given up */
	ENDED_UNCHOSEN, /* never called: no branch has chosen the task */
	NR_ENDINGS,
	ENDED_WELL = NR_ENDINGS,
};

/* The verdict that each ending passes on: enum verdict. */
static const int8_t ending_verdicts[NR_ENDINGS] = {
	[ENDED_FAILED] = VERDICT_FAILED,
	[ENDED_SKIPPED] = VERDICT_FAILED,
	[ENDED_CANCELLED] = VERDICT_FAILED,
	[ENDED_UNCHOSEN] = VERDICT_UNCHOSEN,
};

/* How many tasks of a run, stream or scope have ended how. Any thread. */
struct tally {
	_Atomic(uint64_t) nr[NR_ENDINGS];
};

static inline void tally_clear(struct tally *t)
{
	int i;

	for (i = 0; i < NR_ENDINGS; i++)
		a_store(&t->nr[i], 0, relaxed);
}

static inline void tally_add(struct tally *t, const struct tally *more)
{
	uint64_t nr;
	int i;

	for (i = 0; i < NR_ENDINGS; i++) {
		nr = a_load(&more->nr[i], relaxed);
		if (nr)
			a_add(&t->nr[i], nr, relaxed);
	}
}

static inline void tally_tell(const struct tally *t, struct lkdf_error *e)
{
	e->nr_failed = a_load(&t->nr[ENDED_FAILED], relaxed);
	e->nr_skipped = a_load(&t->nr[ENDED_SKIPPED], relaxed);
	e->nr_cancelled = a_load(&t->nr[ENDED_CANCELLED], relaxed);
	e->nr_unchosen = a_load(&t->nr[ENDED_UNCHOSEN], relaxed);
}

#endif
