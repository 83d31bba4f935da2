/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random graphs with branches, loops and values, and what one run of such a
 * graph is to do. The model works from definitions: reachability as a matrix,
 * members of loops by a fixed point, one task resolved after the other. It
 * shares no line with the library.
 */
#ifndef TESTS_ORACLE_CONTROL_PROGRAM_H
#define TESTS_ORACLE_CONTROL_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_TASKS 14
#define MAX_GIVEN 64 /* edges of the program */
#define MAX_EDGES 512 /* and those of the model */
#define NR_VARS 3
#define NR_WORDS 2 /* of a var; each is one of its parts */
#define MAX_USES 2
#define NO_BRANCH_YET -1

struct edge {
	int from, to;
	int branch; /* -1: a plain edge */
	bool is_back;
	bool has_value; /* from out port 0 to in port 0 */
	bool is_data; /* of the model: two uses of one data */
	bool is_soft; /* the same: it keeps an order, no more */
	bool is_maybe; /* the same: its task may leave the data as it was */
};

/* Of one data or a part of it; at most one use of a data in a task. */
struct use {
	int var, part; /* part 0: the whole */
	uint32_t mode;
};

struct program {
	uint64_t seed;
	int nr_tasks, nr_edges;
	struct edge edge[MAX_EDGES];
	bool is_any[MAX_TASKS], is_always[MAX_TASKS], is_blocking[MAX_TASKS];
	bool has_in[MAX_TASKS]; /* an edge to it has a value */
	int nr_branches[MAX_TASKS];
	int number[MAX_TASKS][MAX_GIVEN]; /* of these branches */
	bool is_stream; /* the runs are waves of one stream */
	int inflight, max_waves, nr_runs;
	int receiver, sender; /* tasks: a value each call; -1: none */
	int depth; /* of their channels */
	bool has_data, never_fails;
	bool is_bare; /* no task has a port: see lib/graph/region.h */
	int nr_uses[MAX_TASKS];
	struct use use[MAX_TASKS][MAX_USES];
};

/* What one run leaves. */
struct story {
	int calls[MAX_TASKS];
	uint64_t seen[MAX_TASKS]; /* program_see() of all calls */
	int nr_unchosen, nr_skipped;
	bool has_failed;
	uint64_t word[NR_VARS][NR_WORDS]; /* at the end */
};

void program_create(struct program *p, uint64_t seed);
void program_print(const struct program *p);

/* What the n'th call of a task returns in the run, n from 0. */
int program_value(const struct program *p, int run, int task, int n);

/* Does a task that returns the value take the branch? */
bool program_takes(int value, int branch);

/* What that call leaves at its out port. */
uint64_t program_out(const struct program *p, int run, int task, int n);

/* The n'th value that the receiver receives, over all runs. */
uint64_t program_fed(const struct program *p, uint64_t n);

/* The call has seen this value; NULL: none. */
uint64_t program_see(uint64_t seen, int n, const uint64_t *value);

/*
 * 0: the story of the run; or the errno that seal returns. out: by task, what
 * lies at its out port; left by the run before that had this run's place.
 */
int model_run(const struct program *p, int run, uint64_t *out, struct story *s);

#endif
