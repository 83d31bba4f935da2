/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The rings of a gate, who may take from them, and whose turn it is; all under
 * its lock. */
#ifndef MECHANISM_GATE_RING_H
#define MECHANISM_GATE_RING_H

#include "mechanism/gate/gate.h"

/* No memory yet. False: there is none for the rings. */
bool ring_init_all(struct gate *g);
void ring_free_all(struct gate *g);

/* False: it is as large as it gets, or there is no memory. */
bool ring_put(struct gate *g, const struct worker *w, struct gate_item i);

/*
 * The oldest item of a ring that the worker may take from, of its own node
 * first. is_idle: planned items of other nodes, too, where far.h allows it.
 */
bool ring_take(struct gate *g, const struct worker *w, bool is_idle,
	       uint64_t *item);

/* A bit for each deque that the worker would have such an item from. */
unsigned ring_has(const struct gate *g, const struct worker *w);

/* As gate_dig(), of one gate. */
bool ring_dig(struct gate *g, const struct worker *w,
	      const struct gate_wanted *d, uint64_t *item);

/* Is the free token kept for another node than the worker's? */
bool turn_is_others(const struct gate *g, const struct worker *w);

/*
 * The worker has a token. True: its node's turn is over, and another node has
 * items: it gives the token up, which is kept for that node.
 */
bool turn_ends(struct gate *g, struct worker *w);

/* A holder that cannot use its token; NULL: all can, as far as is known. */
struct worker *stuck_holder(struct gate *g, uint64_t now);

static inline int ring_node(const struct worker *w)
{
	return (int)(w->node - w->sched->nodes);
}

/* Items of the node. */
uint32_t ring_count(const struct gate *g, int node);

static inline uint32_t ring_nr(const struct gate_ring *r)
{
	return a_load(&r->nr, relaxed);
}

#endif
