/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Links that came out of an inbox and found the deque full: a queue, oldest
 * first, one for each deque of a node, so that no class waits behind another
 * one. Each link goes through it once at most, however long it gets; that is
 * what it is for. Under a lock, for it is used only where there is more work
 * than fits into a deque.
 *
 *	append prepend take dig   any thread
 */
#ifndef SCHED_BACKLOG_H
#define SCHED_BACKLOG_H

#include "base/lock.h"
#include "sched/inbox.h"

/* Links that a worker takes at a time: it looks again after as many picks. */
#define BACKLOG_TAKE 64

struct backlog {
	/* Changed under lock; anybody looks. */
	_Alignas(CACHE_LINE) _Atomic(struct link *) first;

	/* Under lock. */
	struct lock lock;
	struct link *last;
};

/* A chain from first to last, the oldest first. */
void backlog_append(struct backlog *b, struct link *first, struct link *last);

/* Puts links before all that are there: for children that a join waits for. */
void backlog_prepend(struct backlog *b, struct link *first, struct link *last);

/* The oldest, at most nr, linked the youngest first; NULL if there is none. */
struct link *backlog_take(struct backlog *b, uint32_t nr);

/*
 * The first link of the first nr that fits; NULL if there is none. For who can
 * run that one only. turns: those before it go to the end, so that who comes
 * again sees others; the lock is never held for more than nr.
 */
struct link *backlog_dig(struct backlog *b, uint32_t nr, bool turns,
			 bool (*fits)(const struct link *link, const void *u),
			 const void *u);

/* A moment's truth; seq_cst so that a sleeper's last look counts. */
static inline bool backlog_is_empty(struct backlog *b)
{
	/* [backlog.look] after we said that we sleep; pairs with
	 * [backlog.first]. */
	return a_load(&b->first, seq_cst) == NULL;
}

#endif
