/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The branches of each task, listed while its edges are laid out: a run looks
 * up there whether what a body has returned is one of them, see
 * graph/branches.h.
 */
#ifndef SEAL_TASK_BRANCHES_H
#define SEAL_TASK_BRANCHES_H

#include "seal/find_loops.h"

/* Room for the branches of all tasks. False: there is no memory. */
bool task_branches_alloc(struct looper *p);

/* The task's edges, sorted by branch. first: where a run has the first one. */
void task_branches_find(struct looper *p, struct control_edge *first,
			const struct control_edge *e, uint32_t nr);

/* All edges of a branch go on in a loop, or all leave it: 0 or -EINVAL. */
int task_branches_check(struct looper *p, const struct control_edge *e,
			uint32_t nr);

#endif
