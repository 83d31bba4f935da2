/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program with data in the library: its objects, its bodies, and what they
 * leave, compared with what the model says.
 *
 * Cells and the user's bytes are written and read by plain accesses, so a race
 * detector sees an order that is missing.
 */
#ifndef TESTS_ORACLE_DATA_WORLD_H
#define TESTS_ORACLE_DATA_WORLD_H

#include "tests/oracle/data_model.h"
#include "tests/oracle/world.h"

/* Argument of a kernel that is a text: what it begins with, and how it uses. */
struct d_text {
	uint64_t begin, use[D_USES];
};

/* What one node of one repetition of one operation leaves. */
struct d_cell {
	uint64_t seen;
	int child_error;
	uint32_t node; /* argument of a task that is not of a graph */
	uint8_t op;
	void *self; /* argument of a kernel, or */
	struct d_text text;
	_Atomic(uint32_t) nr_started, nr_ended;
};

struct d_run {
	struct d_cell *cell; /* repetition by repetition */
	struct lkdf_event done;
	bool has_event;
	uint32_t rep; /* written between two repetitions */
};

struct d_world {
	const struct d_program *p;
	struct lkdf *rt;
	struct lkdf_scope *scope;
	struct lkdf_kind *kind[D_KINDS];
	struct lkdf_kind *kernel[D_KINDS][D_USES + 2]; /* 0: is no code */
	const void *node_arg[D_NODES]; /* of kernels of graphs, or */
	struct d_text text[D_NODES];
	_Atomic(uint32_t) nr_kernels[D_NODES]; /* that know no cell */
	struct lkdf_data *data[D_VARS];
	struct lkdf_graph *graph[D_GRAPHS];
	uint64_t wrapped[D_VARS][D_WORDS];
	struct d_run run[D_OPS];
	struct d_expect expect;
	struct lkdf_use use[D_NODES][D_USES];
	uint64_t used; /* bytes of the runtime's memory, before */
	bool has_seen; /* an event or an acquisition has told an error */
	_Atomic(uint32_t) nr_drops;
	_Atomic(uint32_t) nr_wrong;
};

/* Runs it and checks all; true: as the model says. */
bool d_world_try(struct lkdf *rt, const struct d_program *p);

/* The world that runs now, for bodies. One at a time. */
struct d_world *d_world_now(void);

int d_body(struct lkdf_ctx *c, void *arg);

/* As the operations go. */
void d_check_event(struct d_world *w, uint32_t op, int rc);
void d_check_wait(struct d_world *w, uint32_t op, int rc);
void d_check_acquired(struct d_world *w, uint32_t op, int rc,
		      const uint64_t *word);

/* When all have ended. */
void d_check_cells(struct d_world *w);
void d_check_data(struct d_world *w);

/* After a hang: what should have run and has not. */
void d_print_missing(void);

__attribute__((format(printf, 2, 3))) void d_wrong(struct d_world *w,
						   const char *fmt, ...);

/* Is it one of the errors that are possible? */
bool d_is_possible(int rc, uint16_t errors);

/* cell: NULL of a graph. */
struct lkdf_task d_task_of(struct d_world *w, uint32_t node,
			   struct d_cell *cell);

static inline struct d_cell *d_cell_of(struct d_world *w, uint32_t op,
				       uint32_t rep, uint32_t node)
{
	uint32_t first, nr = d_op_nodes(w->p, op, &first);

	return &w->run[op].cell[rep * nr + node - first];
}

static inline const struct d_result *
d_expected(const struct d_world *w, uint32_t op, uint32_t rep, uint32_t node)
{
	uint32_t first, nr = d_op_nodes(w->p, op, &first);

	return &w->expect.result[w->expect.op[op].at + rep * nr + node - first];
}

#endif
