/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker: a pinned thread with a deque per priority class. Code here that a
 * thread runs beside bodies is inline, because the layer above does it once or
 * more per task; looking for work is idle.c, sleeping is sleep.c.
 *
 * Attention is one word per worker that it looks at between any two bodies:
 *
 *	ATTN_STEAL somebody idle asks for work: share what is private
 *	ATTN_LOOK  something changed (cancel, recording): leave the fast path
 *	ATTN_CLOCK there are timers: look at the clock now and then
 */
#ifndef SCHED_WORKER_H
#define SCHED_WORKER_H

#include "base/lock.h"
#include "mem/region.h"
#include "mem/stack.h"
#include "policy/policy.h"
#include "sched/backlog.h"
#include "sched/depth.h"
#include "sched/deque.h"
#include "sched/executor.h"
#include "sched/inbox.h"
#include "sched/load.h"
#include "sched/mechanism.h"
#include "sched/park.h"

#include <pthread.h>

#define ATTN_STEAL 1u
#define ATTN_LOOK 2u
#define ATTN_CLOCK 4u

/* A sleeper comes back so soon for what the kernel would not take. */
#define IO_RETRY_NS 1000000

/* Picks between two looks at the inbox while there is own work. */
#define INBOX_EVERY 64
#define OLD_EVERY 16 /* looks */

struct completions;
struct io_ring;
struct sched;

/*
 * A worker's deques. Anybody may take from those below DEQUE_BOUND: one per
 * class, and one of children that the NORMAL one had no room for, all of them
 * younger, so that a join finds its own on top of one of both. Links that are
 * bound to the node have the last one, whatever its class.
 */
#define DEQUE_CHILDREN NR_CLASSES
#define DEQUE_BOUND (NR_CLASSES + 1)
#define NR_DEQUES (NR_CLASSES + 2)

/* No deque: what is bound to a part of the node's workers, see part.h. */
#define DEQUE_PART NR_DEQUES

/* Workers on one node and the work pushed there. */
struct sched_node {
	_Alignas(REGION_PAGE) struct inbox inbox; /* the node's come first */
	struct inbox bound; /* only the node's workers take */
	struct backlog backlog[NR_DEQUES]; /* what was more than fits */
	struct park park; /* they sleep here */
	struct load load; /* work that was planned for them */

	/* Set at start, constant afterwards. */
	_Alignas(CACHE_LINE) int *near; /* nodes with workers, nearest first */
	int nr_workers; /* without substitutes */
	void *data[MAX_MECHANISMS]; /* of mechanisms, by slot */
};

/* For a worker that rests in a join, see joiner.h. */
struct joiner {
	/* This worker sets, whoever calls it clears: the task; or NULL. */
	_Atomic(void *) root;

	/* Any thread: calls of it; a futex. */
	_Atomic(uint32_t) nr_calls;
};

/* This worker only: when it looks at more than its deques. */
struct worker_looks {
	uint32_t nr_picks;
	uint32_t look_at; /* of picks: at the inbox */
	uint32_t nr_looks;
	uint32_t nr_ticks; /* see tick.h */
};

/* This worker only: what it tells others of work that it has. */
struct worker_offers {
	bool may_be_long; /* the body that runs; see worker_show() */
	bool has_deferred; /* a steal request, until there is work to share */
	uint64_t behind_ticks; /* work lay so long behind short bodies */
	uint64_t offered_at; /* ticks: and does since then; 0: not now */
};

/* This worker only: operations of the layer above. */
struct worker_io {
	struct completions *completions; /* its sources */
	struct io_ring *ring; /* one of those; NULL: none */
	struct io_ring *far; /* of another node, to be taken from; or NULL */
	bool has_failed; /* and there will be none */
	bool waits; /* the kernel would not take all: give it again soon */
};

/* Where a worker is on its way to work, see phase.h. */
enum phase {
	PHASE_BUSY, /* in bodies, or in looks at what is its own */
	PHASE_LOOKS,
	PHASE_TOOK, /* an item */
	PHASE_DROWSY, /* from before its sleep to after it */
};

/* This worker only: while it looks for work. */
struct worker_idle {
	enum phase phase;
	uint64_t since; /* ticks */
	uint32_t wake_link; /* awake by that link, see wake_depth.h; 0: found */
	uint32_t nr_rounds; /* looks at all places since it is idle */
	bool has_found; /* completions meanwhile; idle_spins_for() */
};

/*
 * This worker only: it looks for work until the word is another than the value,
 * see help.h; NULL: until it is told to stop.
 */
struct worker_help {
	const _Atomic(uint32_t) *word;
	uint32_t value;
};

struct worker {
	/* Any thread sets, this worker clears. */
	_Alignas(REGION_PAGE) _Atomic(uint32_t) attn;

	/*
	 * This worker sets: deques but NORMAL that may have work, and
	 * DEQUE_PART. Others look at no deque without its bit.
	 */
	_Atomic(uint32_t) other_classes;

	/* This worker sets, whoever calls it clears; see worker_nap(). */
	_Atomic(uint32_t) is_parking;

	struct joiner joiner;

	/* Set before the thread starts, constant afterwards. */
	struct executor *executor;
	struct sched *sched;
	struct sched_node *node;
	int id, cpu; /* cpu -1: not bound to one */
	int *victims; /* the others, nearest first */
	int nr_near;
	pthread_t thread;
	_Atomic(int) tid; /* 0 until the thread runs */
	_Atomic(uint32_t) bind; /* enum bind; it may leave its CPU */
	struct stack stack;
	uint32_t spawn_inline; /* see worker_is_crowded() */

	/* This worker only. */
	struct depth depth;
	struct worker_looks looks;
	struct worker_offers offers;
	struct worker_io io;
	struct worker_idle idle;
	struct worker_help help;
	uint64_t rng;

	/* The data of mechanisms, by slot. Set at start, constant afterwards.
	 */
	void *data[MAX_MECHANISMS];

	/* This worker pushes and pops, the others steal. */
	struct deque deque[NR_DEQUES];
};

/* Makes private work of every class public; wakes a sleeper if need be. */
void worker_offer(struct worker *w, bool is_short, uint64_t body_ticks);

static inline bool worker_has_private(struct worker *w)
{
	return deque_has_private(&w->deque[CLASS_NORMAL]) ||
	       unlikely(a_load(&w->other_classes, relaxed));
}

/* This worker only: a task that it may run before it looks elsewhere. */
static inline bool worker_has_own(struct worker *w)
{
	return deque_size(&w->deque[CLASS_NORMAL]) ||
	       a_load(&w->other_classes, relaxed);
}

static inline bool worker_has_request(struct worker *w)
{
	return unlikely(a_load(&w->attn, relaxed) & ATTN_STEAL);
}

/*
 * A steal request without anything to share would cost a chain two loads per
 * task. The worker defers it until the next push.
 */
void worker_defer_request(struct worker *w);

/*
 * A push while a request is deferred: the request is set again, or the item of
 * a deque that is held off is public.
 */
bool worker_push_deferred(struct worker *w, unsigned deque, uint64_t item);

/* This worker only, before it pushes: the deque is not empty from now on. */
static inline void worker_mark(struct worker *w, unsigned deque)
{
	uint32_t old = a_load(&w->other_classes, relaxed);

	if (!(old & 1u << deque))
		/* [worker.mark] before the item is public; pairs with
		 * [worker.marked]. */
		a_store(&w->other_classes, old | 1u << deque, seq_cst);
}

/* Any thread: a bit for each deque of the worker that may have items. */
static inline unsigned worker_deques(const struct worker *v)
{
	/* [worker.marked] after we said that we sleep, or rest in a join;
	 * pairs with [worker.mark]. */
	return a_load(&v->other_classes, seq_cst) | 1u << CLASS_NORMAL;
}

/* This worker only. False: the deque is full, the item is the caller's. */
static inline bool worker_push(struct worker *w, unsigned deque, uint64_t item)
{
	if (unlikely(deque != CLASS_NORMAL))
		worker_mark(w, deque);
	if (unlikely(w->offers.has_deferred))
		return worker_push_deferred(w, deque, item);
	return deque_push(&w->deque[deque], item);
}

/*
 * This worker only, where the NORMAL deque is full: so many are queued that a
 * spawn runs its child at once, if the stack is not deep. Never before that.
 */
static inline bool worker_is_crowded(struct worker *w)
{
	return w->spawn_inline && depth_may_inline(&w->depth) &&
	       deque_size(&w->deque[CLASS_NORMAL]) +
			       deque_size(&w->deque[DEQUE_CHILDREN]) >=
		       w->spawn_inline;
}

/* This worker only. Other deques than NORMAL have work, or may have. */
bool worker_pop_class(struct worker *w, uint64_t *item);

/* This worker only. Own work by class; false: none. */
static inline bool worker_pop(struct worker *w, uint64_t *item)
{
	w->looks.nr_picks++;
	if (unlikely(a_load(&w->other_classes, relaxed)))
		return worker_pop_class(w, item);
	return deque_pop(&w->deque[CLASS_NORMAL], item);
}

/* Time for a look at the inbox? Between items, so that nobody starves there. */
static inline bool worker_should_look(const struct worker *w)
{
	return unlikely((int32_t)(w->looks.nr_picks - w->looks.look_at) >= 0);
}

/* A body has taken long: somebody may have waited there for as long. */
static inline void worker_look_soon(struct worker *w)
{
	w->looks.look_at = w->looks.nr_picks;
}

/*
 * Moves both inboxes of the own node into the own deques; false: they were
 * empty. For a join, which would not see its children below older work.
 */
bool worker_take_new(struct worker *w);

/* As worker_take_new(), and from the backlog what has room. False: nothing
 * came. */
bool worker_take_home(struct worker *w);

/*
 * After a look, now and then: the oldest item of a deque. A body that submits
 * its own successor for ever would bury it. False: not now, or there is none.
 */
bool worker_pop_old(struct worker *w, uint64_t *item);

/* Makes what is private of one deque public; wakes a sleeper if need be. */
void worker_share(struct worker *w, unsigned deque);

/* All that is private of one deque, see worker_share(). */
void worker_share_deque(struct worker *w, unsigned deque);

/* There is public work, a bit for each deque: wakes who may take it. */
void worker_notify(struct worker *w, unsigned shared);

/*
 * A body has made work. If that may go on for long: others see it at once, if
 * nothing else is public. A short one: somebody comes by, should it go on.
 */
void worker_show_made(struct worker *w);
void worker_be_watched(struct worker *w);

static inline void worker_show(struct worker *w)
{
	if (unlikely(w->offers.may_be_long))
		worker_show_made(w);
	else
		worker_be_watched(w);
}

/* All that is private gets public, and sleepers hear of all that is. */
void worker_share_all(struct worker *w);

/*
 * This worker only: from now on it may sleep, so whoever has something for it
 * calls it by name (see park.h); or it is awake again.
 */
static inline void worker_nap(struct worker *w)
{
	/* [part.c] before we look; pairs with [part.b]. */
	a_store(&w->is_parking, 1, seq_cst);
}

static inline void worker_rise(struct worker *w)
{
	a_store(&w->is_parking, 0, relaxed);
}

/* The loop of a worker's thread, until the scheduler stops. */
void worker_run(struct worker *w);

/*
 * In serial mode the caller's: until nothing is ready. If nothing was at first
 * it waits for so long at most for what is under way. True: it has run
 * something, or waited.
 */
bool worker_drain(struct worker *w, int64_t nap_ns);

/* In serial mode, below a body that waits: runs an item, whosever it is. False:
 * none is ready. */
bool worker_run_any(struct worker *w);

/*
 * This worker only, with option order: any item of its deques is the youngest
 * one now, so that a pop, or a join, finds it first. False: there is none.
 */
bool worker_shuffle(struct worker *w);

/* Counts and traces that this worker woke another. Owner only. */
void worker_has_woken(struct worker *w);

#endif
