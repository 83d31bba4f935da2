/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One program in the library: its objects, its bodies, and what they leave.
 *
 * Cells are written and read by plain accesses where the order of tasks makes
 * that right, so that a race detector sees an order that is missing.
 */
#ifndef TESTS_ORACLE_WORLD_H
#define TESTS_ORACLE_WORLD_H

#include "tests/oracle/model.h"

#include <lkdf/lkdf.h>
#include <stdatomic.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })

/* No arguments but these travel: 12 bits of call, 20 of node. */
#define ID_NODE_BITS 20
#define ID_OF_GRAPH 0xfffu

enum cell_state {
	CELL_NEW,
	CELL_STARTED,
	CELL_ENDED, /* the body has returned for the last time */
};

/* What one node of one repetition of one call leaves. */
struct cell {
	/* The body and who signals it; afterwards who comes after it. */
	uint64_t value, extra, in, bring;
	uint32_t start, end, signal_end;
	struct lkdf_event event; /* to be signalled */
	int error, seen; /* of the signal; of the children */

	_Atomic(uint32_t) state, nr_drops;
};

/* A call of the program and what came of it. */
struct run {
	struct cell *cell; /* times * call_nr_cells() */
	struct expect expect;
	struct lkdf_event done;
	bool has_event;
	uint32_t *id; /* arguments that are borrowed */
	uint32_t rep; /* written between two repetitions */
	int start_rc; /* of run or submit */
	int rc; /* of the event */
	struct lkdf_error error; /* of the event, if nobody waited at once */
	_Atomic(uint64_t) seq[MAX_TIMES]; /* plus 1 */
};

/* Counters that one program adds to. */
#define NR_COUNTED 5

#define MAX_NODES 2
#define MAX_PLACES (3 * MAX_NODES) /* with the halves of each node */

struct world {
	const struct program *p;
	struct lkdf *rt;
	struct lkdf_scope *outer, *scope;
	struct lkdf_limit *limit[MAX_LIMITS];
	struct lkdf_kind *kind[MAX_KINDS], *signal_kind;
	struct lkdf_graph *graph;
	struct run run[MAX_CALLS];
	uint32_t *id;
	uint64_t *last_turn; /* of tasks that take turns */
	uint32_t phase;
	bool is_serial;
	int nr_workers; /* serial mode: 0 */
	struct lkdf_place *place[MAX_PLACES]; /* nodes with workers, halves */
	int first[MAX_PLACES], end[MAX_PLACES]; /* their workers */
	int nr_places, nr_nodes; /* the nodes are the first places */
	int nr_substitutes; /* workers behind the others, see
			       mechanism/lend/lend.h */
	struct lkdf_error scope_error;
	uint64_t counted[NR_COUNTED];

	/* Any thread. */
	_Atomic(uint32_t) clock, nr_started, is_cancelled, nr_wrong;
	_Atomic(uint64_t) nr_calls; /* of functions by the library */
	_Atomic(uint32_t) *nr_active; /* by task */
	_Atomic(uint32_t) *nr_drops; /* by task */
	_Atomic(uint32_t) limit_used[MAX_LIMITS];
};

struct outcome;

extern const char *const world_counters[NR_COUNTED];

/* Runs it and checks all; true: as the model says. o: added to, or NULL. */
bool world_try(struct lkdf *rt, int nr_workers, const struct program *p,
	       struct outcome *o);

/* Something is not as it should be; the first few are kept. */
__attribute__((format(printf, 2, 3))) void wrong(struct world *w,
						 const char *fmt, ...);
const char *wrong_text(void);
void wrong_reset(void);

/* As the node of the program asks for; NULL: anywhere. */
struct lkdf_place *world_place(const struct world *w, const struct node *n);

/* May the worker run a task that is pinned to the place? */
bool world_may_run(const struct world *w, int worker, int place);

/* 0, or LKDF_PINNED. */
uint32_t world_task_flags(const struct node *n);

/* The world that runs now, for bodies. One at a time. */
struct world *world_now(void);

/* Bodies. */
int body_run(struct lkdf_ctx *c, void *arg);
void body_drop(void *arg);
int body_signal(struct lkdf_ctx *c, void *arg);

/* The thread that signals what bodies asked for. */
void signaller_start(void);
void signaller_stop(void);
void signaller_ask(struct cell *cell);

/* Brings the value and fires the event. */
void cell_signal(struct cell *cell);

/* After all phases, or between them. */
void check_phase(struct world *w, uint32_t phase);
void check_drops(struct world *w);
void check_run_error(struct world *w, uint32_t call, int rc);
void check_run_event(struct world *w, uint32_t call);
void check_scope(struct world *w, uint32_t phase, int rc);

static inline struct cell *cell_of(struct world *w, uint32_t call, uint32_t rep,
				   uint32_t node)
{
	const struct call *c = &w->p->call[call];

	return &w->run[call]
			.cell[rep * call_nr_cells(w->p, c) + node - c->first];
}

/* What nodes first .. end - 1 have left so far. */
uint64_t cells_sum(struct world *w, uint32_t call, uint32_t rep, uint32_t first,
		   uint32_t end);

#endif
