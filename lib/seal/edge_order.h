/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The order in which a task's edges are resolved. Seal fixes it once, by their
 * places in the control's out[], and whoever resolves a task walks these places
 * upwards:
 *
 *	1. edges that leave a loop: they tell no task, but set what the end of
 *	   the loop reads
 *	2. edges to tasks of the same iteration
 *	3. edges that close the task's own loop
 *
 * The first edge of the second kind may let another worker end the loop, unless
 * the task has an edge of the third kind: nothing that the loop's end reads may
 * be written after it.
 */
#ifndef SEAL_EDGE_ORDER_H
#define SEAL_EDGE_ORDER_H

#include "graph/control.h"

/* Edges of one task; those of the same kind keep their order. */
void edge_order_copy(struct control_edge *to, const struct control_edge *e,
		     uint32_t nr);

/* For check(): are they in that order? */
bool edge_order_holds(const struct control_edge *e, uint32_t nr);

#endif
