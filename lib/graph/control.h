/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Control flow of a graph: branches, loops and tasks that want one live edge.
 * A graph without them has no struct control, and its runs pay nothing.
 *
 * While the graph is built, edges with a branch wait in a list. Seal makes
 * them successors as all others are, finds the members of each loop, and turns
 * what crosses the border of a loop: an edge that enters leads to the head, an
 * edge that leaves is told when the loop has ended (lib/seal/borders.c). A
 * record whose edges are not all plain has REC_CONTROL and its edges in out[].
 *
 * A loop has no counter of its members. Each member leads to a latch, a task
 * with a BACK edge, by an edge that waits; so all members are resolved once all
 * latches are.
 */
#ifndef GRAPH_CONTROL_H
#define GRAPH_CONTROL_H

#include "core/verdict.h"
#include "graph/branches.h"
#include "graph/choice.h"
#include "graph/graph.h"

struct reduction;
struct region;

enum control_flag {
	CONTROL_BRANCH = 1, /* live where its task chooses it */
	CONTROL_COUNTS = 2, /* its target wants one live of those that count */
	CONTROL_DATA = 4, /* passes what was not chosen: orders two uses only */
	CONTROL_BACK = 8, /* goes round a loop again */
	CONTROL_EXIT = 16, /* leaves a loop, which tells it: to is the exit */
	CONTROL_PORT = 32, /* carries a value: live says whether it is there */
	CONTROL_ENTRY = 64, /* of a loop or include.h: counts at no task */
	CONTROL_ARM = 128, /* in an arm of its task's choice, see choice.h */
};

/* Some edges that no use of data asks for; others have none of these. */
#define CONTROL_GIVEN \
	(CONTROL_BRANCH | CONTROL_BACK | CONTROL_PORT | CONTROL_ENTRY)

struct control_edge {
	uint32_t from, to; /* task numbers; after seal indices */
	uint32_t task; /* that it is for, where to is the head it enters by */
	uint32_t loop; /* BACK: it; EXIT: the outermost that the edge leaves */
	uint32_t live; /* PORT: the edge's byte in the frame, see port.h */
	uint16_t branch;
	uint8_t flags;
	/*
	 * In a task's first edge: all of 0 .. nr_dense - 1 are branches of the
	 * task. 255: the task has no branches, and any value will do.
	 */
	uint8_t nr_dense;
	/* In a task's first edge: its choice, 1 for the first; 0: none. */
	uint32_t choice;
	/* A task's first edge has its branches, 1 for the first; 0: it has
	 * none. */
	uint32_t branches;
};

/* An edge that edges_make() has made, in the order in which it does. */
struct control_data {
	uint32_t from;
	bool is_hard;
};

#define NO_LOOP UINT32_MAX
#define CONTROL_ANY_VALUE 255

/* Constant after seal. */
struct graph_loop {
	uint32_t head; /* an index */
	uint32_t parent; /* the loop around it, or NO_LOOP */
	uint32_t nr_members; /* those of loops in it included */
	/* It and the loops in it are these in an order of their own. */
	uint32_t order, nr_inside;
	uint32_t first_exit, nr_exits;
	uint32_t nr_backs; /* edges that close it */
	uint32_t first_back, nr_back_ports; /* in back_ports */
	uint32_t first_fold, nr_folds; /* in folds */
	bool has_one_latch; /* one member resolves all of them */
	bool is_judged; /* its iterations may go solo, see run/sources.h */
};

/* Copies that an iteration leaves and the next one may read combined. */
struct loop_fold {
	struct reduction *copies;
	uint32_t task; /* of ours, that combines them when the loop is over */
};

struct control {
	/* The builder's thread until seal. */
	struct array given; /* struct control_edge, in the order of adding */
	struct array data; /* struct control_data */

	/* Set at seal, constant afterwards. */
	/* By task, see graph.h; nr_out of them. A task's are in the order in
	 * which they are resolved, see lib/seal/edge_order.h. */
	struct control_edge *out;
	struct control_edge *exits; /* by loop; from: the member, or its exit */
	struct graph_loop *loops;
	uint32_t *loop_of; /* by index: the innermost, or NO_LOOP */
	uint32_t nr_out, nr_exits, nr_loops;
	uint32_t *back_ports; /* by loop: live of BACK edges with PORT */
	struct loop_fold *folds; /* by loop, see lib/seal/folds.c */
	uint32_t nr_folds;
	struct branches *branches; /* of each task that has some */
	uint16_t *branch; /* numbers of all of them, see branches.h */
	struct choices choices;
	struct region **regions; /* by loop, see region.h; NULL: none at all */
	uint32_t *position; /* by index: of a member in its region */
};

/*
 * The news that a verdict passes over an edge, and to the loop around its task.
 */
struct verdict_row {
	uint32_t arrival[2]; /* adds to its target's pending; [1]: COUNTS */
	int8_t ordered; /* the verdict that an edge with DATA passes on */
	bool fails_loop;
};

static const struct verdict_row verdict_rows[] = {
	[-VERDICT_LIVE] = { { 0, REC_ONE_LIVE }, VERDICT_LIVE, false },
	[-VERDICT_FAILED] = { { REC_DEAD, REC_LOST }, VERDICT_FAILED, true },
	[-VERDICT_UNCHOSEN] = { { REC_UNCHOSEN, 0 }, VERDICT_LIVE, false },
};

static inline const struct verdict_row *verdict_row(int verdict)
{
	return &verdict_rows[verdict < 0 ? -verdict : -VERDICT_LIVE];
}

/* The number that an edge with such a verdict adds to its target's pending. */
static inline uint32_t control_arrival(uint8_t flags, int verdict)
{
	bool counts = flags & CONTROL_COUNTS;

	/* Hot loops come here: two constants, not a load. */
	if (likely(verdict >= 0))
		return counts ? verdict_rows[-VERDICT_LIVE].arrival[1]
			      : verdict_rows[-VERDICT_LIVE].arrival[0];
	return verdict_rows[-verdict].arrival[counts];
}

/* The verdict that an edge passes on; is_taken: it is live if its task is. */
static inline int control_passes(uint8_t flags, int verdict, bool is_taken)
{
	if (verdict >= 0)
		verdict = is_taken || !(flags & (CONTROL_BRANCH | CONTROL_BACK))
				  ? VERDICT_LIVE
				  : VERDICT_UNCHOSEN;
	return flags & CONTROL_DATA ? verdict_row(verdict)->ordered : verdict;
}

/* The graph's, made when the first edge or kind asks for it. NULL: no memory.
 */
struct control *control_of(struct lkdf_graph *g);
void control_free(struct lkdf_graph *g);

/* e: checked; flags of enum control_flag. 0 or -ENOMEM. */
int control_add(struct lkdf_graph *g, const struct control_edge *e);

/* edges_make() has made an edge from this task. 0 or -ENOMEM. */
int control_note_data(struct lkdf_graph *g, uint32_t from, bool is_hard);

/* The last such edge from the task is hard after all. */
void control_harden(struct lkdf_graph *g, uint32_t from);

/* At seal: edges with branches become successors, after all others. */
int control_order(struct lkdf_graph *g);

/* At seal, when records have their index. 0 or -ENOMEM. */
int control_index(struct lkdf_graph *g);

/*
 * At seal, where runs may go solo: what is judged, if not whole runs. False: a
 * loop may be long, and others run beside it.
 */
bool control_judge(struct control *c);

/*
 * The verdict that the last arrival at r has found; all: see
 * rec_arrive_control().
 */
static inline int control_verdict(const struct rec *r, uint32_t all)
{
	bool is_chosen = !(r->flags & REC_CHOSEN) || all & REC_LIVE;

	if (likely(is_chosen && !(all & (REC_DEAD | REC_UNCHOSEN))))
		return VERDICT_LIVE;
	if (all & REC_UNCHOSEN || (!is_chosen && !(all & REC_LOST)))
		return VERDICT_UNCHOSEN;
	return VERDICT_FAILED;
}

/* Branches that LKDF_BRANCHES() can name. */
#define CONTROL_SEVERAL 29

/* Is the edge with this branch live after the task has returned value? */
static inline bool control_takes(int value, uint16_t branch)
{
	if (likely(value < 0x20000000))
		return value == branch;
	return value < LKDF_NO_BRANCH && branch < CONTROL_SEVERAL &&
	       value >> branch & 1;
}

#endif
