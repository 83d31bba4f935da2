/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The state that a burst has of the frame whose tasks it runs.
 */
#ifndef RUN_ENTER_H
#define RUN_ENTER_H

#include "core/runtime.h"
#include "mem/heap.h"
#include "run/burst.h"
#include "run/planned.h"
#include "run/slots.h"

static inline void enter_placed(struct burst *b, struct frame *f)
{
	const uint32_t *starts = f->graph->starts;
	int node = b->w->executor->node;

	b->home_first = starts[home_make(node, false)];
	b->nr_home = starts[home_make(node, true) + 1] - b->home_first;
	/* Where bytes have moved, see planned_home(). */
	if (unlikely(planned_has_moved(f->graph)))
		b->nr_home = 0;
	if (unlikely(b->w->sched->is_serial)) {
		b->home_first = 0;
		b->nr_home = UINT32_MAX;
	}
}

/* Worth a cache, which takes a page or two. */
static inline void enter_quick(struct burst *b, struct frame *f)
{
	struct executor *ex = b->w->executor;

	if (unlikely(!ex->cache))
		ex->cache = heap_thread_keep(b->rt->heap, &ex->record);
	if (likely(ex->cache && b->ctx.bytes))
		b->transient = f->values.transient_task;
}

/* The worker turns to a frame of which it has an item. */
static inline void enter_frame(struct burst *b, struct frame *f)
{
	burst_flush(b);
	b->f = f;
	b->recs = f->recs;
	b->graph = f->graph;
	b->slot = f->slot;
	b->ctx.frame = f;
	b->hindered = burst_hindered(f);
	b->transient = NULL;
	if (f->values.transient_task)
		enter_quick(b, f);
	if (unlikely(f->placed))
		enter_placed(b, f);
}

#endif
