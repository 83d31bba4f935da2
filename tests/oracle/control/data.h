/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Data of random graphs. In an iteration uses take effect in the order of
 * adding, and one iteration after the other: the model makes that of an edge
 * between any two uses that are not both READ, both REDUCE or both COMMUTE.
 * Programs with REDUCE or COMMUTE have no task that fails: which others are
 * skipped then depends on who came first.
 *
 * Each run begins with the same values.
 */
#ifndef TESTS_ORACLE_CONTROL_DATA_H
#define TESTS_ORACLE_CONTROL_DATA_H

#include "tests/oracle/control/program.h"

#include <lkdf/lkdf.h>

struct rng;

/* Uses for the tasks, in some programs. */
void data_add(struct program *p, struct rng *r);
void data_print(const struct program *p);

/* The edges that come of uses, behind the program's own. */
void data_edges(struct program *p);

/* One call of a task: its n'th in the run. */
struct call {
	const struct program *p;
	int run, task, n;
};

/* Does it leave its uses with MAYBE as they were? */
bool data_leaves(const struct call *call);

void data_first(const struct program *p, uint64_t word[NR_VARS][NR_WORDS]);

/* What a call does to the values, and sees of them. */
void data_call(const struct call *call, uint64_t word[NR_VARS][NR_WORDS],
	       uint64_t *seen);

/* The library's data of one graph. */
struct variables {
	struct lkdf_data *d[NR_VARS];
};

void variables_open(struct variables *v, struct lkdf *rt);
void variables_close(struct variables *v);

/* All have their first value. */
void variables_reset(struct variables *v, const struct program *p);

/* The run is over. False, and told: other values than the model's. */
bool variables_compare(struct variables *v, const struct story *s);

/* Uses of a task for lkdf_graph_add(); how many. */
unsigned variables_uses(const struct variables *v, const struct program *p,
			int task, struct lkdf_use use[MAX_USES]);

/* In the body of a task. child: of variables_child(). */
void variables_call(struct lkdf_ctx *c, const struct variables *v,
		    struct lkdf_kind *child, const struct call *call,
		    uint64_t *seen);

/* What it adds to each word of its use, and how many there are. */
struct addend {
	uint64_t x, nr;
};

int variables_child(struct lkdf_ctx *c, void *arg);

#endif
