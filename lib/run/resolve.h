/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The consequences of a resolved task, outside the hot loop: arrivals at its
 * successors, the token for the next run, and where a ready task goes when no
 * deque has room.
 *
 * Tasks in lists need no memory: they are linked through their own counters,
 * which are idle while they are ready, and the list lies in a node's inbox
 * while it has any.
 */
#ifndef RUN_RESOLVE_H
#define RUN_RESOLVE_H

#include "core/item.h"
#include "run/frame.h"
#include "sched/sched.h"

/* A ready task of a frame; skip: ITEM_SKIP or 0. On a worker. */
void resolve_push(struct worker *w, struct frame *f, uint32_t index,
		  uint32_t skip);

/* The source of a stream's wave; it is skipped where the wave is dropped. */
void resolve_push_source(struct worker *w, struct frame *f, bool is_dropped);

/* No deque has room for it. */
void resolve_overflow(struct worker *w, struct frame *f, uint32_t index,
		      uint32_t skip);

/*
 * Pushes the tasks that wait in a list, as many as there is room for now; of
 * what was planned for another node one task only.
 */
void resolve_listed(struct worker *w, struct ready_list *l);

/* An arrival of the two that are no edges: the run before, and the start. */
void resolve_give_token(struct worker *w, struct frame *f, uint32_t index);

/* The instance of the next run may go, as far as this one is concerned. */
void resolve_pass_token(struct worker *w, struct frame *f, uint32_t index);

/* Gives the tokens of a call that repeated to the next frame. */
void resolve_pass_tokens(struct worker *w, struct frame *f);

/* The verdict that passes an edge, which with data may be another. */
static inline int resolve_passes(const struct frame *f, uint32_t from,
				 uint32_t to, int verdict)
{
	return likely(!f->graph->accesses)
		       ? verdict
		       : values_passes(f, from, to, verdict);
}

/*
 * Tells successors, loops and the next run. verdict: enum verdict, or what the
 * body has returned. Returns how many tasks the caller tells the frame of.
 */
uint32_t resolve_task(struct worker *w, struct frame *f, uint32_t index,
		      int verdict);

/* As resolve_task(), and tells the frame. */
void resolve_and_tell(struct worker *w, struct frame *f, uint32_t index,
		      int verdict);

#endif
