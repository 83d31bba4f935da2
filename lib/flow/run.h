/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The run loop: what the scheduler calls once per burst of work. It goes
 * through chains of a graph's tasks inline and takes the next piece from the
 * worker's own deque until there is none.
 *
 * An item with bit 0 set is a task of a frame:
 *
 *	index : 32 | slot of the frame : 24 | skip : 1 | 1
 */
#ifndef FLOW_RUN_H
#define FLOW_RUN_H

#include "flow/frame.h"
#include "sched/sched.h"

#define ITEM_OF_FRAME 1u
#define ITEM_SKIP 2u
#define ITEM_SLOT_SHIFT 8

struct task;

static inline uint64_t item_make(const struct frame *f, uint32_t index,
				 uint32_t skip)
{
	return (uint64_t)index << 32 | f->slot << ITEM_SLOT_SHIFT | skip |
	       ITEM_OF_FRAME;
}

static inline uint32_t item_slot(uint64_t item)
{
	return (uint32_t)item >> ITEM_SLOT_SHIFT;
}

static inline uint32_t item_index(uint64_t item)
{
	return (uint32_t)(item >> 32);
}

extern const struct sched_ops run_ops;

/* A ready task of a frame; skip: ITEM_SKIP or 0. On a worker. */
void run_push(struct worker *w, struct frame *f, uint32_t index, uint32_t skip);

/* The same, but to the node's inbox: not in the way of what a join wants. */
void run_spill(struct worker *w, struct frame *f, uint32_t index,
	       uint32_t skip);

/* The task is decided: tell its successors, the next run, the frame. */
void run_decide(struct worker *w, struct frame *f, uint32_t index, bool live);

/* Starts the frame's sources, from a worker or from outside. */
void run_start_frame(struct lkdf *rt, struct worker *w, struct frame *f);

/* Gives the tokens of a call that repeated to the next frame. */
void run_pass_tokens(struct worker *w, struct frame *f);

/* Children's work while a body joins: pops, steals, runs own descendants. */
bool run_descendant(struct worker *w, struct task *parent);

#endif
