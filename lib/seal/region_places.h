/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The tables by which a worker finds the edges of a branch in a region, and the
 * next task where that is all it needs to know.
 */
#ifndef SEAL_REGION_PLACES_H
#define SEAL_REGION_PLACES_H

#include <stdint.h>

struct region;
struct region_task;

/*
 * A place for each branch of the task, from at on; its edges are there. Returns
 * the first place behind them.
 */
uint32_t region_places_add(struct region *r, struct region_task *t,
			   uint32_t at);

/* Finds where all tasks lead to, whose places are there. */
void region_places_find_jumps(struct region *r);

#endif
