/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The static order of a graph. Where one worker has a run for itself (it is the
 * only one, or the run is kept: solo.h), it takes the tasks in the same order
 * each time, and the bytes of LKDF_DATA_ONCE come and go at the same moments.
 * So both are found out once: which task follows which, and which of a few
 * blocks each use has. A run that goes by it counts nothing (E. A. Lee and
 * D. G. Messerschmitt, "Static Scheduling of Synchronous Data Flow Programs for
 * Digital Signal Processing", IEEE Transactions on Computers 1987).
 *
 * A run begins in its static order, or never goes by it. It leaves it for good
 * where something is out of the common, see static_run.h. Bytes that are
 * transient keep their blocks from run to run.
 */
#ifndef RUN_STATIC_ORDER_H
#define RUN_STATIC_ORDER_H

#include "graph/graph.h"

#include <stdbool.h>
#include <stdint.h>

struct heap;

/*
 * After a second one in a row that has left it so many runs do not go by it:
 * twice as many each time, no more than this.
 */
#define STATIC_HOLD 1
#define STATIC_HOLD_MAX 1024

/* Transient bytes that are kept; graphs that need more have no static order. */
#define STATIC_MAX_BYTES (1u << 20)

/* A task. */
struct static_step {
	uint32_t index; /* of its record */
	uint32_t first; /* of its cells */
};

/*
 * A cell is where a step finds the address of one use's bytes: first come the
 * blocks for transient ones, then the vars whose bytes last, each once.
 */
struct static_order {
	/* Set when it is made, constant afterwards. */
	uint32_t nr_steps, nr_cells, nr_blocks;
	struct static_step *step; /* one more at the end */
	uint32_t *cell; /* by use, in the order of steps */
	uint8_t *class; /* by block */
	uint32_t *var; /* by cell, less the blocks */
	struct static_frame *frame; /* by frame */
	_Atomic(void *) *bytes; /* by frame and cell */
};

/* The worker that runs the frame. */
struct static_frame {
	_Atomic(void *) *bytes; /* by cell; of a block NULL: a value has it */
	int node; /* the blocks are of this one */
	bool is_full; /* no block is missing */
};

/* Last thing of seal. */
void static_order_init(struct lkdf_graph *g);

/*
 * Makes it, unless somebody has tried before, with the blocks of all frames on
 * that node: no run behind it takes memory.
 */
void static_order_make(struct lkdf_graph *g, int node);

/*
 * Called by the worker that runs the frame: brings its blocks, if they are not
 * there, to node.
 */
void static_order_fill(const struct static_order *o, struct heap *h,
		       struct static_frame *s, int node);

/* NULL: there is none. */
static inline struct static_order *static_order_see(const struct lkdf_graph *g)
{
	/* [static.look] its contents; pairs with [static.made]. */
	return a_load(&g->order.order, acquire);
}

/* No run is under way. */
void static_order_free(struct lkdf_graph *g);

#endif
