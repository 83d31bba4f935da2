/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The sequential interpreter: what a program computes, written without the
 * library. Where several errors race for being the first, it says which ones
 * are possible, as a set of bits.
 *
 * A node's value is mixed from the seed, its number, the call, the repetition,
 * what all its predecessors and all below them left, and what it waited for.
 * So a task that is early, lost or comes twice changes all that follow.
 */
#ifndef TESTS_ORACLE_MODEL_H
#define TESTS_ORACLE_MODEL_H

#include "tests/oracle/program.h"

#define NR_ERRORS 9
#define ERROR_CANCEL 8

/* What one node of one repetition of one call leaves. */
struct result {
	uint64_t value;
	uint64_t extra; /* what the signals brought */
	bool has_run;
	uint16_t errors; /* possible ones; 0: succeeds */
	uint16_t child_errors; /* of its children */
};

struct expect {
	struct result *result; /* times * call_nr_cells() */
	uint32_t nr_reps; /* that are started */
	uint32_t nr_failed, nr_skipped; /* the graph's, in the last one */
	uint32_t nr_failed_below; /* tasks that are not the graph's */
	uint16_t errors;
};

void model_run(const struct program *p, uint32_t call, struct expect *e);

/* The negative errno of an index. */
int model_errno(uint32_t error);

/* The bit of a negative errno; 0: none of ours. */
uint16_t model_bit(int rc);

/*
 * The pieces of a value. in: sum of what the predecessors left; waited: sum
 * of what the body waited for.
 */
uint64_t model_value(const struct program *p, uint32_t node, uint32_t call,
		     uint32_t rep, uint64_t in, uint64_t waited);

/* What the nr'th signal brings to a node, 1 or 2. */
uint64_t model_signal(const struct program *p, uint32_t node, uint32_t call,
		      uint32_t rep, uint32_t nr);

/* What one node adds to a sum. */
static inline uint64_t model_part(uint64_t value, uint64_t extra)
{
	return mix(value) + extra;
}

/* Number of signals a node gets, if it runs. */
uint32_t model_nr_signals(const struct node *n, bool fails);

/* Does the body go on in a second function? */
bool model_goes_on(const struct node *n, bool fails);

/* The nodes whose results the body sees by waiting. */
void model_waited(const struct program *p, uint32_t node, bool fails,
		  uint32_t *first, uint32_t *end);

/* The last direct child of a node that has one. */
uint32_t model_last_child(const struct program *p, uint32_t node);

#endif
