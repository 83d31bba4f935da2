/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where work comes in that has no worker's deque to go to: from threads of the
 * user, from the blocking pool, or from a full deque. An intrusive stack that
 * is pushed one by one and taken whole (Treiber 1986); taking whole has no ABA.
 * It needs no memory, so it cannot refuse.
 *
 *	push      any thread
 *	take_all  any thread
 *
 * A link is in at most one inbox at a time.
 */
#ifndef SCHED_INBOX_H
#define SCHED_INBOX_H

#include "base/atomic.h"
#include "base/util.h"

/* First member of whatever is queued; the rest is for its owner to tell. */
struct link {
	_Atomic(struct link *) next;
	uint8_t type;
	uint8_t class; /* enum sched_class */
	uint16_t flags;
	_Atomic(uint32_t) depth; /* thieves peek: never freed memory */
};

/*
 * A link as a 64-bit item of a deque: its address with the type in bits 1 to
 * 3. So a thief that only looks knows what it is without following it.
 */
#define LINK_ALIGN 16
#define LINK_TYPE(item) ((item) >> 1 & 7)
#define LINK_PLANNED 5 /* type: tasks that were planned for a node */

/*
 * For an item that is not a link: it was planned for the node where it lies.
 * Other nodes do not take it because they are idle for a moment, see far.h.
 */
#define ITEM_PLANNED 4u

static inline bool item_is_planned(uint64_t item)
{
	return item & 1 ? item & ITEM_PLANNED : LINK_TYPE(item) == LINK_PLANNED;
}

static inline uint64_t link_item(const struct link *link)
{
	return (uint64_t)(uintptr_t)link | (uint64_t)link->type << 1;
}

static inline struct link *link_of_item(uint64_t item)
{
	return (struct link *)(uintptr_t)(item & ~(uint64_t)(LINK_ALIGN - 1));
}

struct inbox {
	_Alignas(CACHE_LINE) _Atomic(struct link *) head;
};

static inline void inbox_push(struct inbox *in, struct link *link)
{
	struct link *head = a_load(&in->head, relaxed);

	do {
		a_store(&link->next, head, relaxed);
		/* [inbox.push] contents before the link; pairs with
		 * [inbox.take]. seq_cst: before we look who sleeps. */
	} while (!a_cas(&in->head, &head, link, seq_cst, relaxed));
}

/* A moment's truth; seq_cst so that a sleeper's last look counts. */
static inline bool inbox_is_empty(struct inbox *in)
{
	/* [inbox.look] after we said that we sleep; pairs with
	 * [inbox.push]. */
	return a_load(&in->head, seq_cst) == NULL;
}

/* The youngest first, linked by next; NULL if there is none. */
static inline struct link *inbox_take_all(struct inbox *in)
{
	if (!a_load(&in->head, relaxed))
		return NULL;
	/* [inbox.take] contents of all; pairs with [inbox.push]. */
	return a_xchg(&in->head, NULL, acquire);
}

#endif
