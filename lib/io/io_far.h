/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Rings of a node whose workers are all busy. Between two bodies they take what
 * has come; while their bodies last nobody of the node does. So who turns to a
 * body while something is under way, and finds that nobody else of its node is
 * idle, marks the node as left. An idle worker of another node then looks after
 * it: it sleeps no longer than a millisecond at a time, and takes what has lain
 * there untouched from one look to the next. A completion that a worker of the
 * node would have taken soon stays there.
 *
 *	busy worker of the node          idle worker of another one
 *	(A) something is under way,      (C) sleepers + 1
 *	    nobody looks for work
 *	(B) marks the node, looks at     (D) looks at the marks, then at the
 *	    the words of the others          nodes that have one
 *
 * B to D are seq_cst: either B sees C and gives a token, or D sees B. A spinner
 * that B sees looks at the marks when it has found work, and so does who looks
 * after a node: if the node is left still, it marks it anew as B does. A mark
 * stays until who looks after the node has seen it in good hands for a while.
 */
#ifndef IO_IO_FAR_H
#define IO_IO_FAR_H

#include "sched/worker.h"

/* A node has it. */
struct io_unattended {
	/* Any thread: 0 or IO_UNATTENDED, with who looks after it above that.
	 */
	_Alignas(CACHE_LINE) _Atomic(uint32_t) mark;

	/* The worker that looks after it; two may think so for a moment. */
	_Atomic(uint32_t) nr_idle; /* looks that found it in good hands */
};

#define IO_UNATTENDED 1u

/*
 * On a worker that has said that it sleeps: for how many ns at most; -1: for
 * ever; 0: not at all, as there is something to take, see io_ring_poll().
 */
int64_t io_far_look(struct worker *w);

/* On a worker that has found work and said that it looks for none any more. */
void io_far_leave(struct worker *w);

#endif
