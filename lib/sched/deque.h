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
 * A private item behind a body that does not end would lie there in vain, so
 * others may publish it for the owner (deque_publish_for()). The owner
 * lowers head, then looks at state, then takes; the other sets state, has all
 * CPUs pass a barrier, then reads head. Either the owner sees state, or the
 * other sees that head is lower. While state is not PRIVATE the owner takes as
 * thieves do, or first learns where split is now.
 *
 *	PRIVATE    -> PUBLISHING  a publisher; nobody else is one meanwhile
 *	PUBLISHING -> PUBLISHED   it has moved split, the owner has not noticed
 *	PUBLISHING -> as before   it has not
 *	PUBLISHED  -> PUBLISHING  there is more again
 *	PUBLISHED  -> PRIVATE     the owner has noticed
 *
 *	            | push pop share | steal | peek | publish for
 *	push pop    | same thread    | any   | any  | any
 *	steal       | any            | any   | any  | any
 *
 * Positions are 32 bits and wrap; the ring's size is a power of two.
 */
#ifndef SCHED_DEQUE_H
#define SCHED_DEQUE_H

#include "base/atomic.h"
#include "base/membarrier.h"
#include "base/util.h"

enum deque_result {
	DEQUE_EMPTY, /* nothing public */
	DEQUE_TAKEN,
	DEQUE_LOST, /* another thief or the owner was faster */
};

enum deque_way {
	DEQUE_PRIVATE,
	DEQUE_PUBLISHING,
	DEQUE_PUBLISHED,
};

struct deque {
	/* The owner; a publisher looks. */
	_Atomic(uint32_t) head;

	/* Owner only. */
	uint32_t split; /* too low while state is not PRIVATE, maybe */
	uint32_t limit; /* positions before it may be written */

	/* The publisher writes it; the owner sets it back to PRIVATE. */
	_Atomic(uint32_t) state;

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
	a_store(&d->head, 0, relaxed);
	d->split = 0;
	d->limit = mask + 1;
	a_store(&d->state, DEQUE_PRIVATE, relaxed);
	d->mask = mask;
	d->slot = slot;
	a_store(&d->span, 0, relaxed);
	a_store(&d->nr_read, 0, relaxed);
}

/* The owner's end; nobody else may rely on it. */
static inline uint32_t deque_head(struct deque *d)
{
	return a_load(&d->head, relaxed);
}

/*
 * Owner only. The ring holds what lies between tail and head; split is between
 * the two, and exact while nobody else moves it.
 */
static inline bool deque_sane(struct deque *d)
{
	uint64_t span = a_load(&d->span, relaxed);
	uint32_t head = deque_head(d), size = d->mask + 1;

	if ((int32_t)(span_split(span) - span_tail(span)) < 0 ||
	    head - span_tail(span) > size || d->limit - head > size)
		return false;
	return a_load(&d->state, relaxed) != DEQUE_PRIVATE ||
	       (d->split == span_split(span) && head - d->split <= size);
}

/* Owner only. May be true of what somebody has just made public. */
static inline bool deque_has_private(struct deque *d)
{
	return deque_head(d) != d->split;
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
	return deque_head(d) - span_tail(a_load(&d->span, relaxed));
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
	return deque_head(d) != d->limit;
}

/* Owner only. As many items can be pushed now. */
static inline uint32_t deque_room(struct deque *d)
{
	deque_make_room(d);
	return d->limit - deque_head(d);
}

/* Owner only, where there is room. */
static inline void deque_put(struct deque *d, uint64_t item)
{
	uint32_t head = deque_head(d);

	check(head != d->limit);
	check(deque_sane(d));
	a_store(&d->slot[head & d->mask], item, relaxed);
	/* [deque.put] the item, and what it is; pairs with [deque.head]. */
	a_store(&d->head, head + 1, release);
}

/* Owner only: there may be no room, then see deque_make_room(). */
static inline bool deque_is_full(struct deque *d)
{
	return deque_head(d) == d->limit;
}

/* Owner only. False: full. */
static inline bool deque_push(struct deque *d, uint64_t item)
{
	if (unlikely(deque_is_full(d)) && !deque_make_room(d))
		return false;
	deque_put(d, item);
	return true;
}

/* Owner only. Makes the oldest nr private items public, or all there are. */
static inline void deque_share_some(struct deque *d, uint32_t nr)
{
	uint64_t span = a_load(&d->span, relaxed);
	uint32_t head = deque_head(d), split;

	check(deque_sane(d));
	do {
		split = span_split(span);
		split += (uint32_t)min_u64(nr, head - split);
		/* [deque.share] items before their positions; pairs with
		 * [deque.steal]. seq_cst: before we look who sleeps, see
		 * park.h. */
	} while (!a_cas(&d->span, &span, span_make(span_tail(span), split),
			seq_cst, relaxed));
	d->split = split;
}

static inline void deque_share_all(struct deque *d)
{
	deque_share_some(d, UINT32_MAX);
}

/* Owner only. Makes the older half of the private items public. */
static inline void deque_share(struct deque *d)
{
	deque_share_some(d, (deque_head(d) - d->split + 1) / 2);
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

/*
 * Owner only. From here on nobody makes public what lies at head and above.
 * False: somebody may have; raise it again.
 */
static inline bool deque_lower(struct deque *d, uint32_t head)
{
#ifdef LKDF_MC
	/*
	 * The barrier makes it so. [deque.lower] before we look; pairs with
	 * [deque.publish].
	 */
	a_store(&d->head, head, seq_cst);
	/* [deque.lower] as above. */
	return a_load(&d->state, seq_cst) == DEQUE_PRIVATE;
#else
	/* [deque.lower] the items below, as deque_raise(). */
	a_store(&d->head, head, release);
	membarrier_between(&d->head, &d->state);
	return likely(a_load(&d->state, relaxed) == DEQUE_PRIVATE);
#endif
}

/* Owner only, after deque_lower(): head is where it was. */
static inline void deque_raise(struct deque *d, uint32_t head)
{
	/* [deque.raise] the items, which are older; pairs with
	 * [deque.head]. */
	a_store(&d->head, head, release);
}

/* Owner only, head is lowered and was not to be: as deque_pop(). */
bool deque_pop_published(struct deque *d, uint32_t head, uint64_t *item);

/* Owner only, of what is its own: the item at a position. */
static inline uint64_t deque_at(const struct deque *d, uint32_t at)
{
	return a_load(&d->slot[at & d->mask], relaxed);
}

/* Owner only. The youngest item, or while somebody publishes any. */
static inline bool deque_pop(struct deque *d, uint64_t *item)
{
	uint32_t head = deque_head(d);

	check(deque_sane(d));
	if (head == d->split && !deque_reclaim(d))
		return false;
	if (unlikely(!deque_lower(d, head - 1)))
		return deque_pop_published(d, head, item);
	*item = deque_at(d, head - 1);
	return true;
}

/*
 * Owner only, where there are items and nobody else takes any: one of them
 * changes places with the youngest.
 */
static inline void deque_shuffle(struct deque *d, uint64_t random)
{
	uint32_t tail = span_tail(a_load(&d->span, relaxed));
	uint32_t last = deque_head(d) - 1, at;
	uint64_t item = deque_at(d, last);

	check(deque_size(d));
	at = tail + (uint32_t)(random % (last - tail + 1));
	a_store(&d->slot[last & d->mask], deque_at(d, at), relaxed);
	a_store(&d->slot[at & d->mask], item, relaxed);
}

/*
 * Owner only. All that is private is kept so until deque_raise(d, head). False:
 * not now.
 */
bool deque_hold(struct deque *d, uint32_t *head);

/*
 * Any thread but the owner, where the process has membarrier(2): publishes what
 * is private. How many; 0: none, or others do so.
 */
uint32_t deque_publish_for(struct deque *d);

/* Any thread: is there private work behind none that is public? A guess. */
static inline bool deque_has_hidden(struct deque *d, uint32_t *head)
{
	uint64_t span = a_load(&d->span, relaxed);

	*head = a_load(&d->head, relaxed);
	return span_tail(span) == span_split(span) &&
	       (int32_t)(*head - span_split(span)) > 0;
}

/* Any thread: is there private work, behind public work or not? A guess. */
static inline bool deque_keeps_some(struct deque *d)
{
	uint32_t split = span_split(a_load(&d->span, relaxed));

	return (int32_t)(a_load(&d->head, relaxed) - split) > 0;
}

/* Any thread. The oldest public item, if span is still what it was. */
static inline enum deque_result deque_steal_at(struct deque *d, uint64_t span,
					       uint64_t *item)
{
	uint32_t tail = span_tail(span);

	check((int32_t)(span_split(span) - tail) >= 0);
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
 * Any thread. The item that deque_steal() would take now: a guess, for a thief
 * that wants only some items and looks again at what it got. With the span it
 * takes what it has seen, or nothing, unless the owner has put it back and
 * forth meanwhile.
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

/*
 * Any thread. The public item that so many thieves would leave, a guess; false:
 * there are not so many.
 */
static inline bool deque_peek_past(struct deque *d, uint32_t nr, uint64_t *item)
{
	/* [deque.past] a guess, after joiner_announce(); pairs with
	 * [deque.share]. */
	uint64_t span = a_load(&d->span, seq_cst);
	uint32_t at = span_tail(span) + nr;

	if ((int32_t)(span_split(span) - at) <= 0)
		return false;
	*item = a_load(&d->slot[at & d->mask], relaxed);
	return true;
}

#endif
