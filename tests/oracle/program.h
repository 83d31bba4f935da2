/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A random program as plain data: a graph whose tasks may spawn trees, trees
 * that are submitted, and the calls that start them. The model interprets it
 * sequentially, the world has the library run it, the check compares.
 *
 * A node is a task of the graph, a submitted task or a child. Nodes
 * 0 .. nr_tasks - 1 are the graph's. All that are below a node, children of
 * children included, have the numbers below .. below + nr_below - 1, each
 * child followed by what is below it.
 */
#ifndef TESTS_ORACLE_PROGRAM_H
#define TESTS_ORACLE_PROGRAM_H

#include "tests/oracle/random.h"

#define MAX_KINDS 6
#define MAX_LIMITS 3
#define MAX_CALLS 16
#define MAX_TIMES 5
#define MAX_THREADS 3
#define NO_ERROR 0xff

/* What a body does after it has spawned its children. */
enum mode {
	MODE_PLAIN, /* returns; nobody waits for the children */
	MODE_JOIN,
	MODE_THEN, /* goes on after the children */
	MODE_THEN_EVENT, /* goes on when somebody has signalled */
	MODE_THEN_DONE, /* goes on after the last child's done event */
	MODE_HOLD, /* ends when somebody has signalled */
	NR_MODES,
};

struct p_limit_use {
	uint8_t limit, tokens;
};

struct p_kind {
	bool is_shared, is_blocking, has_drop;
	uint8_t width, prio, nr_limits;
	uint8_t arg_size; /* 0: borrowed */
	struct p_limit_use limit[MAX_LIMITS];
};

struct node {
	uint32_t below, nr_below;
	uint8_t kind, prio, mode;
	uint8_t error; /* index of the errno it fails with, or NO_ERROR */
	uint8_t signal_error; /* of hold or event */
	uint8_t fail_call, fail_rep; /* when both errors happen */
	bool by_task; /* a task signals, not a thread */
	bool swallows; /* errors of children it waits for */
	bool fails_early; /* with then: fn must not be called */
	bool again; /* then: a second time, on an event */
	uint8_t place; /* 0: none, else which node, modulo their number */
	bool is_pinned; /* there and nowhere else */
};

struct call {
	uint32_t first, nr; /* nodes that it runs, if submitted */
	uint8_t phase, thread, times;
	bool is_submit, has_done, waits_at_once, no_wait;
};

struct program {
	uint64_t seed;
	const char *shape;
	uint32_t nr_tasks, nr_nodes, nr_edges;
	struct node *node;
	uint32_t *order; /* tasks, each after its predecessors */
	uint32_t *edge; /* pairs before, after, in the order of the calls */
	uint32_t *pred_at, *pred; /* the same by after */
	uint32_t nr_kinds, nr_limits, nr_calls, nr_phases, nr_threads;
	struct p_kind kind[MAX_KINDS];
	uint8_t limit[MAX_LIMITS];
	struct call call[MAX_CALLS];
	uint8_t inflight;
	bool has_places;
	bool is_nested, cancels, cancels_outer, has_children, has_errors;
	uint32_t cancel_at; /* bodies started before it */
};

void program_create(struct program *p, uint64_t seed, uint32_t max_tasks);
void program_destroy(struct program *p);

/* All calls are the first thread's, and none of them tries until it may. */
void program_of_one_thread(struct program *p);
void program_print(const struct program *p);

/* Predecessors, anew after edges have changed. */
void program_index_edges(struct program *p);

/* Edges of a random shape over ranks, low to high; edge is malloc'ed. */
void shape_create(struct program *p, struct rng *r);

/* The nodes a call may run: all of a graph with what is below, or one tree. */
static inline uint32_t call_nr_cells(const struct program *p,
				     const struct call *c)
{
	return c->is_submit ? c->nr : p->nr_nodes;
}

static inline bool node_fails_now(const struct node *n, uint32_t call,
				  uint32_t rep)
{
	return n->fail_call == call && n->fail_rep == rep;
}

static inline bool node_fails(const struct node *n, uint32_t call, uint32_t rep)
{
	return n->error != NO_ERROR && node_fails_now(n, call, rep);
}

#endif
