/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The sequential interpreter of programs with data: runs the operations one
 * after another, each task when it is submitted, without the library. Which
 * tasks run, fail, are skipped, is determined; where several errors race for
 * being the first it says which are possible, as a set of bits.
 *
 * Each body mixes what it reads into what it writes, so the values at the end
 * tell of any order that was not kept. COMMUTE and REDUCE add or multiply.
 */
#ifndef TESTS_ORACLE_DATA_MODEL_H
#define TESTS_ORACLE_DATA_MODEL_H

#include "tests/oracle/data_program.h"
#include "tests/oracle/model.h"

/* What one node of one repetition of one operation leaves. */
struct d_result {
	uint64_t seen; /* mixed from all that it has read */
	uint16_t errors; /* possible ones, whatever came of it; 0: succeeds */
	uint16_t child_errors;
	uint16_t input_errors[D_USES]; /* of what it reads */
	bool has_run, is_refused;
};

struct d_of_op {
	uint32_t at; /* of its results; repetition by repetition */
	uint32_t nr_reps; /* that are started */
	bool is_refused; /* -ENODATA */
	uint16_t errors; /* of its event; of the acquisition; of the scope */
	uint64_t seen; /* by an acquisition */
	/* WAIT: of the scope, since it was made. */
	uint32_t nr_failed, nr_skipped, nr_cancelled;
};

struct d_of_var {
	uint64_t word[D_WORDS];
	uint16_t errors;
	bool is_written; /* the whole of it */
	bool knows_version;
	uint64_t version;
};

struct d_expect {
	struct d_result *result;
	struct d_of_op op[D_OPS];
	struct d_of_var var[D_VARS];
	uint32_t nr_drops;
	/* The outcome depends on who of a group goes first: whose use, what. */
	bool is_racy;
	uint32_t racy_node;
	uint8_t racy_var;
};

/* To be freed with d_expect_free(). */
void d_model_run(const struct d_program *p, struct d_expect *e);
void d_expect_free(struct d_expect *e);

/* The nodes of an operation: first and how many. */
uint32_t d_op_nodes(const struct d_program *p, uint32_t op, uint32_t *first);

/* Where the words of each use are; NULL: not to be touched. */
struct d_bytes {
	uint64_t *word[D_USES];
};

/* What a body begins with. */
static inline uint64_t d_begin(const struct d_program *p, uint32_t op,
			       uint32_t rep, uint32_t node)
{
	return mix(mix(p->seed + node) ^ (uint64_t)op << 32 ^ rep) | 1;
}

/* The same, but for what is the same in all runs of a graph. */
static inline uint64_t d_begin_task(const struct d_program *p, uint32_t op,
				    uint32_t rep, uint32_t node,
				    bool is_of_graph)
{
	const struct d_task *t = &p->node[node];

	return t->device && t->is_code && is_of_graph
		       ? d_begin(p, 0, 0, node)
		       : d_begin(p, op, rep, node);
}

/* Reads, unless it is blind, and writes; returns what it has mixed. */
uint64_t d_touch(const struct d_program *p, const struct d_task *t,
		 const struct d_bytes *b, uint64_t h, bool is_blind);

/* The same for a thread that has acquired the whole of a variable. */
uint64_t d_touch_acquired(const struct d_program *p, uint32_t op,
			  uint64_t *word);

/* As the REDUCE of a variable does. */
static inline uint64_t d_combine(const struct d_var *v, uint64_t a, uint64_t b)
{
	return v->multiplies ? a * b : a + b;
}

#endif
