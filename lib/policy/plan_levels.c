/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Levels: one pass where successors come later, which is the usual case, else
 * in an order that the counting of predecessors finds.
 */
#include "policy/plan.h"

#include "base/err.h"
#include "mem/region.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Kahn 1962, with the levels; the number of tasks not reached. */
static uint32_t levels_any_order(uint32_t nr, const uint32_t *first,
				 const uint32_t *succ, uint32_t *level,
				 uint32_t *queue)
{
	uint32_t *nr_in = queue + nr, t, i, head, tail = 0;

	for (i = 0; i < first[nr]; i++)
		nr_in[succ[i]]++;
	for (t = 0; t < nr; t++) {
		level[t] = 0;
		if (!nr_in[t])
			queue[tail++] = t;
	}
	for (head = 0; head < tail; head++) {
		t = queue[head];
		for (i = first[t]; i < first[t + 1]; i++) {
			if (level[succ[i]] < level[t] + 1)
				level[succ[i]] = level[t] + 1;
			if (!--nr_in[succ[i]])
				queue[tail++] = succ[i];
		}
	}
	return nr - tail;
}

int plan_levels(uint32_t nr, const uint32_t *first_succ, const uint32_t *succ,
		uint32_t *level)
{
	size_t size = 2 * (size_t)nr * sizeof(uint32_t);
	bool is_backward = false;
	uint32_t *queue, t, i, left;

	memset(level, 0, nr * sizeof(*level));
	for (t = 0; t < nr; t++) {
		for (i = first_succ[t]; i < first_succ[t + 1]; i++) {
			is_backward |= succ[i] <= t;
			if (level[succ[i]] < level[t] + 1)
				level[succ[i]] = level[t] + 1;
		}
	}
	if (!is_backward)
		return 0;
	queue = region_alloc(size);
	if (!queue)
		return err(-ENOMEM, "plan: levels of %u tasks", nr);
	left = levels_any_order(nr, first_succ, succ, level, queue);
	region_free(queue, size);
	if (left)
		return err(-ELOOP, "plan: %u of %u tasks lie behind a cycle",
			   left, nr);
	return 0;
}
