/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A ring per worker, made by the worker at its first operation, so that its
 * memory is on the worker's node. Only the worker submits: operations that its
 * tasks start are collected and go to the kernel before anything but the next
 * operation runs. Completions are taken by the worker between tasks, and by
 * idle workers of the node while it computes, one at a time; where there are
 * none, see io_far.h.
 *
 * On the sleeper for all of a node's rings, see sched/park.h: every completion
 * counts in the node's eventfd, and of those that sleep one sleeps on it.
 *
 * A worker whose ring cannot be made uses the blocking pool instead.
 */
#ifndef IO_IO_RING_H
#define IO_IO_RING_H

#include "base/lock.h"
#include "core/ops.h"
#include "io/io.h"
#include "ring/buffers.h"
#include "ring/uring.h"
#include "sched/worker.h"

/* Bytes of a ring's buffers of one size, and how many of them at least. */
#define IO_BUFFERS (256 << 10)
#define IO_NR_BUFFERS 16

/* Collected at most before they are submitted. */
#define IO_BATCH 16

/* Descriptors of which something is known, by their last bits. */
#define IO_SEEN 8

struct io_seen {
	int fd;
	uint16_t sort; /* enum io_sort */
	uint16_t nr_left; /* looks that believe it; 0: nothing is known */
};

struct io_ring {
	/* Set at create, constant afterwards. */
	struct completions completions; /* the worker's, of this source */
	struct worker *w;
	uint64_t long_ticks; /* a peek that took as long was none */
	uint64_t late_ticks; /* see io_far.h: what lies as long is taken */

	/* The worker submits; see uring.h. */
	struct uring u;

	/* The worker only: those that the kernel would not take. */
	struct io_req *later;
	bool is_unguarded; /* some were given since the last io_ring_guard() */
	uint32_t nr_blind; /* reads that do not look first */
	uint32_t nr_blind_quick[IO_NR_QUICK]; /* the same */
	struct io_seen seen[IO_SEEN];

	/* The worker opens them; whoever takes completions lends them. */
	struct uring_buffers buffers[IO_NR_PIECES]; /* by io_piece_class() */

	/* The worker that takes completions, one at a time. */
	_Alignas(CACHE_LINE) _Atomic(uint32_t) is_taken;

	/* Under lock: what is under way, and see io_fixed.h. */
	struct lock lock;
	struct list list;
	struct io_fixed_copy fixed[IO_NR_FIXED];

	/* Any thread reads; under lock. */
	_Atomic(uint32_t) nr_under_way;

	/* A cancel has found one that was not submitted yet, or may find it. */
	_Atomic(uint32_t) has_cancelled;

	/*
	 * The worker that looks after the node, see io_far.h: what lay here,
	 * since when.
	 */
	_Atomic(uint64_t) far_seen, far_since;
};

/* NULL: the worker has none. */
static inline struct io_ring *io_ring_at(const struct io_rings *all, int worker)
{
	/* [ring.look] its fields; pairs with [ring.born]. */
	return a_load(&all->ring[worker], acquire);
}

/* ---- io_make.c ---------------------------------------------------------- */

/* On a worker that has none yet. NULL: it cannot have one. */
struct io_ring *io_ring_make(struct worker *w);

/* The worker uses threads from now on: why. */
void io_ring_tell_lack(struct worker *w, int error);

/* On a worker: the ring that takes its operations, or NULL. */
static inline struct io_ring *io_ring_of(struct worker *w)
{
	if (unlikely(!w->io.ring))
		return io_ring_make(w);
	return likely(!a_load(&w->io.ring->u.refused, relaxed)) ? w->io.ring
								: NULL;
}

/* 0, or why this runtime has no rings; found out once. */
int io_ring_error(struct lkdf *rt);

/* The reason in words; NULL: it has some, or may have. */
const char *io_ring_why(struct lkdf *rt);

/* It has some: in which way, in words. */
void io_ring_how(struct lkdf *rt, char *to, size_t size);

/* mode: enum io_mode. -ENOMEM. */
int io_rings_init(struct lkdf *rt, int mode);

/* The workers are gone. */
void io_rings_fini(struct lkdf *rt);

/* ---- io_ring.c ---------------------------------------------------------- */

/*
 * On a worker that has collected nothing: does at once what cannot wait, see
 * io_op_peek() and io_op_peek_quick(). The result is the call's, or -EAGAIN.
 */
int64_t io_ring_peek(struct worker *w, const struct lkdf_io *io);

/* On a worker. False: it has no ring, and cannot have one. */
bool io_ring_issue(struct worker *w, struct io_req *r);

/*
 * Issues the operation with those that io_chain_make() finds. False: there are
 * none.
 */
bool io_ring_issue_chain(struct worker *w, struct io_req *head);

/* On a worker: has it the buffers of such a RECV? Opens them. */
bool io_ring_has_buffers(struct worker *w, uint32_t len);

/*
 * On a worker that looks for work: gives and takes what there is. True:
 * something may be runnable now.
 */
bool io_ring_poll(struct worker *w);

/*
 * The worker, between two of its tasks: takes what has come, and gives what is
 * collected unless the next task is an operation, too.
 */
void io_ring_look(struct io_ring *ring, bool next_is_io);

/* Has the ring anything that io_ring_look() would take or give? */
static inline bool io_ring_has_news(const struct io_ring *ring)
{
	return uring_nr_waiting(&ring->u) || uring_looks_ready(&ring->u) ||
	       ring->later || ring->is_unguarded;
}

/*
 * Completions that it has are to come back soon, if it is under way. Any
 * thread.
 */
void io_ring_stir(struct io_req *r);

/*
 * Cancels what is under way in cancelled scopes. Any thread. True: some was not
 * to be found, so try again soon.
 */
bool io_ring_kick(struct lkdf *rt);

/* ---- io_far.c ----------------------------------------------------------- */

/*
 * Before the worker runs something: somebody who sleeps sees what comes, or
 * where nobody of the node does, looks after it from another one.
 */
void io_ring_wake_watcher(struct worker *w);

static inline void io_ring_guard(struct worker *w)
{
	if (unlikely(park_bell(&w->node->park) >= 0))
		io_ring_wake_watcher(w);
}

#endif
