/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A split work-stealing deque of 64-bit items, after Lace (van Dijk and van de
 * Pol, "Lace: non-blocking split deque for work-stealing", 2014).
 *
 *	position:  tail ......... split ......... head
 *	           thieves take   private: the owner alone, no locked operation
 *
 * The owner pushes and pops at head. The part below split is public: a thief
 * takes at tail by one compare-and-swap on span, which holds tail and split
 * together, so owner and thieves agree through a single location. The owner
 * moves split up to share (deque_share) and down to take work back.
 *
 * A thief reads its slot AFTER it has won: a position may be popped, pushed
 * and shared again between the two, and what counts is what lies there when
 * it was won. So the owner may not write over a slot that a winner has yet to
 * read: nr_read counts finished reads, and the ring wraps only when it has
 * caught up with tail. A full ring refuses; the caller has another place.
 *
 *	            | push pop share | steal | peek
 *	push pop    | same thread    | any   | any
 *	steal       | any            | any   | any
 *
 * Positions are 32 bits and wrap; the ring's size is a power of two.
 */
#ifndef SCHED_DEQUE_H
#define SCHED_DEQUE_H

#include "base/atomic.h"
#include "base/util.h"

enum deque_result {
	DEQUE_EMPTY, /* nothing public */
	DEQUE_TAKEN,
	DEQUE_LOST, /* another thief or the owner was faster */
};

struct deque {
	/* Owner only. */
	uint32_t head, split;
	uint32_t limit; /* positions before it may be written */

	/* Set at init, constant afterwards. */
	uint32_t mask;
	_Atomic(uint64_t) *slot;

	/* Owner and thieves: tail in the low half, split in the high half. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) span;
	_Atomic(uint32_t) nr_read;
};

static inline uint32_t span_tail(uint64_t span)
{
	return (uint32_t)span;
}

static inline uint32_t span_split(uint64_t span)
{
	return (uint32_t)(span >> 32);
}

static inline uint64_t span_make(uint32_t tail, uint32_t split)
{
	return (uint64_t)split << 32 | tail;
}

/* slot: mask + 1 entries, kept by the caller. */
static inline void deque_init(struct deque *d, _Atomic(uint64_t) *slot,
			      uint32_t mask)
{
	d->head = d->split = 0;
	d->limit = mask + 1;
	d->mask = mask;
	d->slot = slot;
	a_store(&d->span, 0, relaxed);
	a_store(&d->nr_read, 0, relaxed);
}

/* Owner only. */
static inline bool deque_has_private(const struct deque *d)
{
	return d->head != d->split;
}

/* Any thread; a moment's truth. */
static inline bool deque_has_public(struct deque *d)
{
	uint64_t span = a_load(&d->span, relaxed);

	return span_tail(span) != span_split(span);
}

/* Owner only; all items, public ones included. */
static inline uint32_t deque_size(struct deque *d)
{
	return d->head - span_tail(a_load(&d->span, relaxed));
}

/* Owner only. Learns how far thieves have read; true if there is room now. */
static inline bool deque_make_room(struct deque *d)
{
	/* [deque.room] finished reads, before we write there; pairs with
	 * [deque.read]. tail is loaded later: equal means all are finished. */
	uint32_t nr_read = a_load(&d->nr_read, acquire);
	uint32_t tail = span_tail(a_load(&d->span, relaxed));

	if (nr_read != tail)
		return false;
	d->limit = tail + d->mask + 1;
	return d->head != d->limit;
}

/* Owner only. As many items can be pushed now. */
static inline uint32_t deque_room(struct deque *d)
{
	deque_make_room(d);
	return d->limit - d->head;
}

/* Owner only, where head is not limit. */
static inline void deque_put(struct deque *d, uint64_t item)
{
	a_store(&d->slot[d->head & d->mask], item, relaxed);
	d->head++;
}

/* Owner only. False: full. */
static inline bool deque_push(struct deque *d, uint64_t item)
{
	if (unlikely(d->head == d->limit) && !deque_make_room(d))
		return false;
	deque_put(d, item);
	return true;
}

/* Owner only. Makes the oldest nr private items public. */
static inline void deque_share_some(struct deque *d, uint32_t nr)
{
	d->split += nr;
	/* [deque.share] items before their positions; pairs with
	 * [deque.steal]. seq_cst: before we look who sleeps, see park.h. */
	a_add(&d->span, (uint64_t)nr << 32, seq_cst);
}

/* Owner only. Makes the older half of the private items public. */
static inline void deque_share(struct deque *d)
{
	deque_share_some(d, (d->head - d->split + 1) / 2);
}

/* Owner only. Takes back the younger half of the public items, at least 1. */
static inline bool deque_reclaim(struct deque *d)
{
	uint64_t span = a_load(&d->span, relaxed);
	uint32_t tail, split;

	do {
		tail = span_tail(span);
		if (tail == span_split(span))
			return false;
		split = tail + (span_split(span) - tail) / 2;
		/* Relaxed: these are our own items coming back. */
	} while (!a_cas(&d->span, &span, span_make(tail, split), relaxed,
			relaxed));
	d->split = split;
	return true;
}

/* Owner only. The youngest item. */
static inline bool deque_pop(struct deque *d, uint64_t *item)
{
	if (d->head == d->split && !deque_reclaim(d))
		return false;
	d->head--;
	*item = a_load(&d->slot[d->head & d->mask], relaxed);
	return true;
}

/* Any thread. The oldest public item, if span is still what it was. */
static inline enum deque_result deque_steal_at(struct deque *d, uint64_t span,
					       uint64_t *item)
{
	uint32_t tail = span_tail(span);

	if (tail == span_split(span))
		return DEQUE_EMPTY;
	/* [deque.steal] the item lies there; pairs with [deque.share]. */
	if (!a_cas(&d->span, &span, span_make(tail + 1, span_split(span)),
		   acquire, relaxed))
		return DEQUE_LOST;
	*item = a_load(&d->slot[tail & d->mask], relaxed);
	/* [deque.read] we have read; pairs with [deque.room]. */
	a_add(&d->nr_read, 1, release);
	return DEQUE_TAKEN;
}

/* Any thread. The oldest public item. */
static inline enum deque_result deque_steal(struct deque *d, uint64_t *item)
{
	return deque_steal_at(d, a_load(&d->span, relaxed), item);
}

/*
 * Any thread. What deque_steal() would take now: a guess, for a thief that
 * wants only some items and looks again at what it got. With the span it takes
 * what it has seen, or nothing, unless the owner has put it back and forth
 * meanwhile.
 */
static inline bool deque_look(struct deque *d, uint64_t *span, uint64_t *item)
{
	/* [deque.peek] a guess at what lies there; pairs with
	 * [deque.share]. */
	*span = a_load(&d->span, acquire);

	if (span_tail(*span) == span_split(*span))
		return false;
	*item = a_load(&d->slot[span_tail(*span) & d->mask], relaxed);
	return true;
}

static inline bool deque_peek(struct deque *d, uint64_t *item)
{
	uint64_t span;

	return deque_look(d, &span, item);
}

#endif
