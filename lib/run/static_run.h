/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A run that goes by its graph's static order. Its counters and its values are
 * as they were before it began; only how many steps are done is known, so now
 * and then, between two steps, the rest is put back as an item, and whatever
 * else there is has its turn.
 *
 * It leaves the order for good before a body that may be long, where the run is
 * cancelled or taken away, and where a body fails or needs a task of its own.
 * Then what the steps so far would have done to counters and values is done
 * once for all of them, and the run goes on as any other.
 */
#ifndef RUN_STATIC_RUN_H
#define RUN_STATIC_RUN_H

#include "run/burst.h"
#include "run/static_order.h"

/* Steps until others have their turn, and between looks whether any wait. */
#define STATIC_TURN 256
#define STATIC_LOOK 64

static inline struct static_order *static_order_in(const struct frame *f)
{
	/* The holder of the frame has seen it: [static.look]. */
	return a_load(&f->graph->order.order, relaxed);
}

/* A body needs a task of its own: its run leaves its order. */
void static_run_leave_ctx(struct lkdf_ctx *c);

#endif
