/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Numbers that the runs of a planned graph tell the scheduler: how many bytes
 * its tasks have still to touch on each node, and how long that takes there.
 * From that a node knows whether it may take work from another one.
 *
 * And where the blocks are: a thief that writes fresh bytes has them on its
 * node, and blocks may get another home while the graph runs (rehome.h), or the
 * kernel moves them and the board says so (facts.h) when a run begins. Tasks
 * follow them from then on. All that is a guess where runs overlap: a wrong one
 * costs time, nothing else.
 */
#ifndef RUN_PLANNED_H
#define RUN_PLANNED_H

#include "run/frame.h"
#include "sched/load.h"

struct plan;

/* Work on a block, or on a node. */
struct work {
	int64_t bytes, nr_tasks;
};

/* Where the last tasks of a var ran, and where it came from; see history.h. */
struct past {
	_Atomic(uint64_t) nodes;
	_Atomic(int32_t) from; /* node, where nodes is a trial */
};

/* A graph's own. */
struct planned {
	/* Set at seal, constant afterwards. */
	uint32_t nr_vars;
	int nr_nodes;
	uint32_t *kib; /* by task: what it touches; 0: it is not planned */
	uint32_t *own; /* by task: the var it writes most of, or none */
	uint32_t *partner; /* by var: its other copy, or none */
	int16_t *plan; /* by var: node */
	struct work *node; /* of one run, while nothing has moved */
	struct work *reader; /* by node: of tasks that own no var */
	struct work *var; /* of one run, by those who own it */

	/* Any worker. */
	_Atomic(int32_t) *home; /* by var: node */
	_Atomic(int64_t) *remaining; /* by var: bytes, of the latest run */
	struct past *past; /* by var, or by the first of two partners */
	_Atomic(uint32_t) nr_runs; /* that have begun */
	_Atomic(uint32_t) nr_undone; /* moves that did not pay */
	_Atomic(uint32_t) has_moved; /* some are not where the plan says */
	_Atomic(uint32_t) nr_changes; /* of the board, when it was looked at */
};

/* A run's own: what it has on a node's account. */
struct planned_part {
	_Alignas(CACHE_LINE) _Atomic(int64_t) bytes;
	_Atomic(int64_t) nr_tasks;
};

/* At seal, from the plan of the graph's tasks and vars; NULL: no memory. */
struct planned *planned_create(const struct lkdf_graph *g,
			       const struct plan *plan);
void planned_free(struct planned *p);

/*
 * At seal: the task goes to the node of the plan. A member of a loop is on no
 * account, for nobody knows how often it runs.
 */
struct planned_task {
	uint64_t bytes;
	int node;
	bool is_member;
};
void planned_add(struct planned *p, uint32_t task, struct planned_task t);

/* A run begins and ends. ex: or NULL. */
void planned_begin(struct frame *f, struct executor *ex);
void planned_end(struct frame *f);

/* Where a task with REC_PLACED should run, as home_make(). */
uint16_t planned_home(const struct frame *f, uint32_t index);

static inline bool planned_has_moved(const struct lkdf_graph *g)
{
	return g->planned && a_load(&g->planned->has_moved, relaxed);
}

/* Bytes of a var were made on that node for this run. */
void planned_made(const struct frame *f, uint32_t var, int node);

/* A var, and the work on it, has another home from now on. */
void planned_move(struct frame *f, uint32_t var, int node);

/* Calls the body of a task that is starting now. */
int planned_call(struct lkdf_ctx *c, lkdf_fn body, void *arg);

#endif
