/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A loop whose iterations one worker can go through without counters, made at
 * seal. Its tasks are in an order that all edges follow; a bit for each says
 * that it is live. A task that has run sets the bits of what it leads to, and
 * the next one is the first bit that is set: what no branch has chosen is never
 * looked at. A task that waits for several edges has a count of them; it starts
 * anew with each iteration.
 *
 * A loop in the loop is one of its tasks.
 *
 * Not every loop has a region, see regions_make() of lib/seal/regions.c.
 * lib/run/region_run.c goes through them.
 */
#ifndef GRAPH_REGION_H
#define GRAPH_REGION_H

#include "base/atomic.h"
#include "base/util.h"

/* Words of bits have one word of bits above them. */
#define REGION_TASKS (64u * 64)

/* Bytes that a region may have for each task, without slots of branches. */
#define REGION_BYTES 64u

/* Loops in a loop, one in the other, that a worker goes through with it: the
 * way through is a call each. */
#define REGION_DEPTH 8u

enum region_how {
	REGION_LIVE, /* makes its target live */
	REGION_ALL, /* its target waits for several edges: one of them */
	REGION_ONE, /* the same, and it is one of those that a choice takes */
	REGION_ORDER, /* nothing: its target runs in any case */
	REGION_BACK,
	REGION_EXIT,
	REGION_PORT = 8, /* or'ed: the edge's byte says that it was taken */
};

struct region_edge {
	uint16_t how; /* enum region_how */
	uint16_t to; /* a position; BACK, EXIT: which edge of the task */
	uint16_t branch;
};

struct region_task {
	_Alignas(32) uint32_t index;
	/* Where the places of its branches begin, see struct region. For a
	 * loop in the loop: its number. */
	uint32_t first_at;
	/* Where it is not chosen, lkdf.unchosen grows so much; of ours: 0. */
	uint32_t nr_counted;
	/* Edges that it always takes, then those with branches, sorted. */
	uint16_t first, first_branch, end;
	/* Each branch has a place. The first nr_dense branches are numbered
	 * base, base + 1, ..., the others as number[] says. */
	uint16_t base, nr_dense;
	uint16_t sparse; /* table of these others, 1 for the first; 0: none */
	/* The one task that it leads to, LIVE; 0: others. A choice has one for
	 * each branch in jump[]. */
	uint16_t only;
	uint16_t joins; /* the one task that it leads to, ALL; 0: others */
	/* A loop in the loop, with its exits as edges. Those that a task of it
	 * chooses have their place among all of them as branch. */
	bool is_loop;
};

_Static_assert(sizeof(struct region_task) == 32, "two tasks a cache line");

/* Edges and places of a region at most: they have 16 bits. */
#define REGION_EDGES 0x8000u

/* In slot[]. */
#define FREE_SLOT UINT16_MAX

/* In jump[]: the one edge of a branch goes round the loop. */
#define REGION_ROUND UINT16_MAX

/* Places of the branches of one task that do not follow the first one. */
struct region_sparse {
	uint32_t first_slot; /* in slot[] */
	uint32_t bits; /* 2 to the power of this slots, see branches_slot() */
};

/* Edges with PORT, each of which has a byte in the frame, see port.h. */
struct region_ports {
	uint32_t *live; /* bytes of all of them, nr */
	uint32_t *of; /* by edge; NULL: there are none */
	uint32_t nr;
	bool has_hooks; /* see struct ports */
};

/* Tasks by position. */
struct region_list {
	uint16_t *at;
	uint32_t nr;
};

/* Constant after seal, but for is_wide. */
struct region {
	_Alignas(32) uint32_t nr, nr_words, nr_edges;
	uint32_t nr_sparse, nr_slots;
	uint32_t depth; /* of loops in it, one in the other */
	bool has_loops;
	bool counts; /* some tasks wait for several edges */
	bool has_ports; /* something is to be done for them */
	bool is_plain; /* no loops, all count as one, and no lists */
	uint32_t nr_counted; /* of all tasks */
	struct region_list begins; /* live when an iteration begins */
	struct region_list readers; /* bytes of LKDF_DATA_ONCE wait for them */
	struct region_ports ports;
	struct region_task *task; /* by position; the head has 0 */
	struct region_edge *edge;
	/* By place: where the edges of the branch begin, with one place more
	 * behind each task's; the task that it leads to; its number. */
	uint16_t *at, *jump, *number;
	struct region_sparse *sparse;
	uint16_t
		*slot; /* a place, less the task's first one; FREE_SLOT: free */
	uint16_t *waits; /* by position */

	/* Any worker, racy: tasks were live side by side, others had none. */
	_Atomic(uint32_t) is_wide;
};

#endif
