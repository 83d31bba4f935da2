/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each branch of a task has an arm: the tasks to which no way leads but through
 * that branch. Where the task does not choose the branch, none of these tasks
 * is chosen. So the worker that resolves the task touches none of them: it
 * counts them, and tells each join behind the arms, once, of the edges that the
 * arms would have told one by one: the sum of all arms, which seal has made,
 * less the arms that were chosen.
 *
 * The arms of a choice in an arm belong to the outer arm, too. A task is in no
 * arm, but a join behind it, where more is to be done than to pass it over, see
 * is_alone() of lib/seal/choices.c.
 */
#ifndef GRAPH_CHOICE_H
#define GRAPH_CHOICE_H

#include <stdint.h>

/* Bytes that choices may have for each task of the graph. */
#define CHOICE_BYTES 64u

/* A task behind arms, with the edges from these that lead to it. */
struct choice_join {
	uint32_t to; /* an index */
	uint32_t nr;
	uint32_t nr_strong; /* of nr: without them it is not chosen, either */
};

/* An arm, or the sum of a choice's arms. */
struct choice_arm {
	uint32_t nr_tasks;
	uint32_t nr_counted; /* of these: not of ours, see lkdf.unchosen */
	uint32_t nr_backs; /* edges of theirs that close the loop */
	uint32_t first_join, nr_joins; /* in the order of the sum's */
	/* The branch's, in the control's out. The last one has CONTROL_ARM,
	 * and each of the others may have it. */
	uint32_t first_edge;
	uint16_t nr_edges, branch;
};

/* The branches of a task. */
struct choice {
	struct choice_arm all;
	uint32_t first_arm, nr_arms; /* by branch */
	uint32_t nr_arm_joins; /* the sum of the arms' nr_joins */
	/* Edges that are in no arm: those without a branch, those that close or
	 * leave the loop, and some that carry values. In their order, see
	 * lib/seal/edge_order.h. */
	uint32_t first_other, nr_others;
};

/* Constant after seal; NULL: no task has a choice. */
struct choices {
	struct choice *choice;
	struct choice_arm *arm;
	struct choice_join *join;
	uint32_t *other; /* in the control's out */
	uint32_t nr; /* choices */
};

#endif
