/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker: a pinned thread with a deque per priority class. Code here that a
 * thread runs beside bodies is inline, because the layer above does it once or
 * more per task; looking for work and sleeping is idle.c.
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
struct crew;
struct gate;
struct io_ring;
struct part;
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

	/* Set once, by the first loop; constant afterwards, freed at the end.
	 */
	_Atomic(struct crew *) crew; /* see crew.h; NULL: none yet */

	/* Set at start, constant afterwards. */
	_Alignas(CACHE_LINE) int *near; /* nodes with workers, nearest first */
	int nr_workers; /* without substitutes */

	/* Workers that begin or end a team, see team.h. */
	struct lock team_lock;
	_Atomic(uint32_t) team_word; /* futex: one has ended */

	/* Any thread: parts of its workers, the youngest first. */
	_Atomic(struct part *) parts;
};

/* An idle worker's knowledge of the nodes, see far.h. */
struct far {
	double mean; /* ticks until all nodes are done, see deficit_mean() */
	enum steal_why why; /* of what was allowed last */
	double *measured; /* by node: its rate */
	double *idle; /* by node: ticks without work while it had some */
	double *extra; /* by node: of one byte there, constant */
	struct deficit_node *node;
};

/* Private work that an idle worker has seen behind a body; see publish.h. */
struct hidden {
	bool is_set;
	int victim; /* which of its victims it looked at last */
	int level; /* the deque */
	uint32_t head;
	uint64_t at; /* ticks: when it looked */
};

/* Of a worker that rests in a join, see joiner.h. */
struct joiner {
	/* This worker sets, whoever calls it clears: the task; or NULL. */
	_Atomic(void *) root;

	/* Any thread: calls of it; a futex. */
	_Atomic(uint32_t) nr_calls;

	/* This worker sets, see lend.h; lkdf_why() reads. */
	_Atomic(uint32_t) has_lent;
};

struct worker {
	/* Any thread sets, this worker clears. */
	_Alignas(REGION_PAGE) _Atomic(uint32_t) attn;

	/*
	 * This worker sets: deques but NORMAL that may have work, and
	 * DEQUE_PART. Others look at no deque without its bit.
	 */
	_Atomic(uint32_t) other_classes;

	/* This worker sets, others read; see holdoff.h. */
	_Atomic(uint64_t) holdoff_until;

	/* This worker sets, whoever calls it clears; see worker_nap(). */
	_Atomic(uint32_t) is_parking;

	/* A gang sets it, its member on this worker clears it; see due.h. */
	_Atomic(uint32_t) is_due;

	/* Set by the maker of a part: a quota leaves it running. */
	_Atomic(uint32_t) is_exempt;

	/* A leader sets, under the node's team_lock: its number + 1; 0. */
	_Atomic(uint32_t) lent_to;

	/* This worker sets: in no body, or in a join that rests; a futex. */
	_Atomic(uint32_t) is_away;

	struct joiner joiner;

	/* Set before the thread starts, constant afterwards. */
	struct executor *executor;
	struct sched *sched;
	struct sched_node *node;
	int id, cpu; /* cpu -1: not bound to one */
	uint32_t quota_rank; /* see quota.h */
	int *victims; /* the others, nearest first */
	int nr_near;
	struct far *far; /* what it points to is this worker's only */
	pthread_t thread;
	_Atomic(int) tid; /* 0 until the thread runs */
	_Atomic(uint32_t) bind; /* enum bind; it may leave its CPU */
	struct stack stack;
	uint32_t spawn_inline; /* see worker_is_crowded() */

	/* This worker only. */
	struct depth depth;
	uint32_t nr_picks;
	uint32_t look_at; /* of picks: at the inbox */
	uint32_t nr_looks;
	uint32_t nr_ticks; /* see tick.h */
	bool may_be_long; /* the body that runs; see worker_show() */
	bool has_deferred; /* a steal request, until there is work to share */
	uint64_t behind_ticks; /* work lay so long behind short bodies */
	uint64_t offered_at; /* ticks: and does since then; 0: not now */
	uint64_t rng;
	struct completions *completions; /* of the layer above: its sources */
	struct io_ring *io; /* one of those; NULL: none */
	bool io_has_failed; /* and there will be none */
	bool io_waits; /* the kernel would not take all: give it again soon */
	struct io_ring *io_far; /* of another node, to be taken from; or NULL */
	uint64_t idle_since; /* ticks; while it looks for work */
	uint32_t wake_link; /* awake by that link, see wake_depth.h; 0: found */
	uint32_t nr_rounds; /* looks at all places since it is idle */
	bool has_found; /* completions meanwhile; idle_spins_for() */
	uint64_t crowded_at; /* ticks; when others kept its CPU, see client.c */
	uint64_t quota_seen_at; /* ticks; when it came by last, see quota.h */
	uint64_t waited_ns; /* for its CPU, when bind.h looked last */
	int64_t waited_at_ns; /* and that was then; 0: never */
	int64_t holdoff_nap_ns; /* beside others that keep their work */
	int64_t watch_nap_ns; /* see publish.h */
	bool is_watching;
	struct hidden hidden;

	/* This worker only: it looks for work until that word is another than
	 * the value, see help.h; NULL: until it is told to stop. */
	const _Atomic(uint32_t) *awaited;
	uint32_t awaited_value;

	/* This worker only: bodies of teams on this stack. */
	int team_depth, team_size;

	/* This worker sets, under the node's team_lock. */
	bool is_leader;

	/* See gate.h: the gate whose token it has; items it has met there. */
	_Atomic(struct gate *) gate;
	_Atomic(uint32_t) nr_gated;
	uint32_t gate_seen; /* of those, when it looked last */
	int64_t gate_nap_ns;

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
	if (unlikely(w->has_deferred))
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
	w->nr_picks++;
	if (unlikely(a_load(&w->other_classes, relaxed)))
		return worker_pop_class(w, item);
	return deque_pop(&w->deque[CLASS_NORMAL], item);
}

/* Time for a look at the inbox? Between items, so that nobody starves there. */
static inline bool worker_should_look(const struct worker *w)
{
	return unlikely((int32_t)(w->nr_picks - w->look_at) >= 0);
}

/* A body has taken long: somebody may have waited there for as long. */
static inline void worker_look_soon(struct worker *w)
{
	w->look_at = w->nr_picks;
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
	if (unlikely(w->may_be_long))
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
