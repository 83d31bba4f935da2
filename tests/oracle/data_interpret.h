/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside of the interpreter of programs with data: tasks in data_model.c,
 * operations in data_ops.c.
 */
#ifndef TESTS_ORACLE_DATA_INTERPRET_H
#define TESTS_ORACLE_DATA_INTERPRET_H

#include "tests/oracle/data_model.h"
#include "tests/oracle/data_view.h"

#define D_CANCELLED (1u << ERROR_CANCEL)

struct d_interpreter {
	const struct d_program *p;
	struct d_expect *e;
	struct d_view root;
	uint64_t word[D_VARS][D_WORDS];
	bool knows_version[D_VARS];
	uint64_t version[D_VARS];
	uint16_t scope_errors;
	uint32_t nr_failed, nr_skipped, nr_cancelled;

	/* Of what is run now. */
	uint32_t op, rep;
	bool is_cancelled;
	bool is_of_graph;
	uint16_t run_errors;
	uint64_t run_version[D_VARS];
};

struct d_result *d_result_of(struct d_interpreter *x, uint32_t node);

/* The task and all below it. */
void d_run_task(struct d_interpreter *x, struct d_view *v, uint32_t node);

#endif
