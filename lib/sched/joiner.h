/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Workers that rest in a join. Such a worker is idle, but it may run nothing
 * except work below the task that it waits in, its root; so tokens of park.h
 * are not for it. It says what its root is, and whoever makes work public
 * below a root calls its worker, on a word of that worker's own.
 *
 *	maker                            joiner
 *	(A) makes an item public         (C) says its root, and counts itself
 *	(B) looks for joiners            (D) looks at what is public
 *
 * All four are seq_cst. Either B sees C, finds the root above the item and
 * calls, or D sees A. A call that comes between D and the sleep has changed
 * the word that the kernel compares. For work that others keep private it asks
 * once before each nap: a request that stayed would keep the short bodies of
 * all others, which it may not run, from their fast path.
 *
 * A maker that looks whether an item lies below a root may see both change:
 * memory of tasks stays memory of tasks, and a call in vain only costs time.
 */
#ifndef SCHED_JOINER_H
#define SCHED_JOINER_H

#include "sched/sched.h"

/* Does any worker rest in a join? */
static inline bool joiner_is_any(struct sched *s)
{
	/* [joiner.b] after the work is public; pairs with [joiner.c]. */
	return a_load(&s->nr_joiners, seq_cst) != 0;
}

/*
 * This worker only: it waits below the root, and looks for work once more.
 * Returns what joiner_sleep() wants.
 */
uint32_t joiner_announce(struct worker *w, void *root);

/* Until it is called, or for so long. */
void joiner_sleep(struct worker *w, uint32_t nr_calls, int64_t nap_ns);

/* It does not rest any more. */
void joiner_retract(struct worker *w);

/*
 * The owner of a deque has made items of it public, from this position on:
 * calls each worker whose root one of them lies below.
 */
void joiner_tell_of(struct worker *w, const struct deque *d, uint32_t from);

/* Owner only: as the calls of deque.h, and joiners hear of it. */
static inline void joiner_share(struct worker *w, struct deque *d)
{
	uint32_t from = d->split;

	deque_share(d);
	if (unlikely(joiner_is_any(w->sched)))
		joiner_tell_of(w, d, from);
}

static inline void joiner_share_all(struct worker *w, struct deque *d)
{
	uint32_t from = d->split;

	deque_share_all(d);
	if (unlikely(joiner_is_any(w->sched)))
		joiner_tell_of(w, d, from);
}

/* An item was made public in another place than a worker's deque. */
void joiner_tell(struct sched *s, uint64_t item);

/* The last child of a root has ended. False: no worker waits for it. */
bool joiner_tell_root(struct sched *s, const void *root);

#endif
