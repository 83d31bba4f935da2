/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A random program with data, as plain data: variables, tasks that use them,
 * graphs, and the operations of one thread in their order. What it computes is
 * defined by running them one after another in this order.
 *
 * Nodes are tasks. Those of an operation or of a graph have the numbers first
 * .. first + nr - 1, each task followed by all that are below it.
 */
#ifndef TESTS_ORACLE_DATA_PROGRAM_H
#define TESTS_ORACLE_DATA_PROGRAM_H

#include "tests/oracle/random.h"

#define D_VARS 8
#define D_PARTS 4
#define D_WORDS 12
#define D_USES 4
#define D_GRAPHS 3
#define D_OPS 48
#define D_TIMES 4
#define D_MANY_TIMES 60 /* with devices, of some */
#define D_NODES 1000
#define D_ORDERS 2
#define D_NO_ERROR 0xff
#define D_ANY_OP 0xff
#define D_DEVICES 4
#define D_ORDERED 2 /* of the emulated: whose queues keep their order */

/* What the devices of a program are. */
enum d_devices {
	D_NO_DEVICES,
	D_EMULATED,
	D_OPENCL,
};

enum d_start {
	D_EMPTY,
	D_INIT,
	D_WRAP,
};

struct d_var {
	uint8_t nr_parts; /* 0: not split */
	uint8_t nr_words, stride; /* in words */
	uint8_t start;
	bool is_once, is_kept; /* of one graph */
	bool multiplies; /* COMMUTE and REDUCE, instead of adding */
	bool has_drop;
	uint8_t graph; /* that it is of, if is_once */
};

struct d_use {
	uint8_t var, part;
	uint8_t mode; /* enum lkdf_mode */
	bool ends; /* given on before the task ends */
	bool is_untouched; /* with MAYBE */
};

enum d_kind {
	D_SHARED = 1,
	D_ALWAYS = 2,
	D_BLOCKING = 4,
	D_KINDS = 8,
};

/* What a body does after it has spawned its children. */
enum d_wait {
	D_PLAIN,
	D_JOIN,
	D_THEN,
};

struct d_task {
	uint32_t below, nr_below;
	uint8_t kind, wait, prio, nr_uses, nr_orders;
	uint8_t error; /* index of the errno it fails with */
	uint8_t fail_op, fail_rep; /* of a graph: when, or D_ANY_OP */
	uint8_t device; /* 0: a CPU; else it is a kernel, there */
	bool is_code; /* of a kernel: see data_device.h */
	bool swallows; /* errors of children it waits for */
	struct d_use use[D_USES];
	uint8_t order[D_ORDERS]; /* of a graph: after these, from its first */
};

struct d_graph {
	uint32_t first, nr;
	uint8_t inflight;
	bool is_recorded;
	bool is_of_bodies; /* with devices: none of its tasks is a kernel */
	uint8_t *add; /* tasks in the order of adding */
};

enum d_what {
	D_SUBMIT,
	D_MANY,
	D_RUN,
	D_ACQUIRE, /* and after the next nr_held operations released */
	D_WAIT,
	D_CANCEL, /* tasks that wait for var, which the thread holds */
};

struct d_op {
	uint8_t what;
	uint8_t graph, times;
	uint8_t var, mode, nr_held; /* of an acquisition */
	bool looks_first; /* acquires without waiting before */
	bool has_done, waits_at_once;
	uint32_t first, nr; /* nodes */
};

struct d_program {
	uint64_t seed;
	uint32_t nr_vars, nr_graphs, nr_ops, nr_nodes;
	bool has_errors, has_children;
	uint8_t devices; /* enum d_devices */
	struct d_var var[D_VARS];
	struct d_graph graph[D_GRAPHS];
	struct d_op op[D_OPS];
	struct d_task node[D_NODES];
};

/* Which of the two sorts of programs a seed makes. */
static inline bool seed_has_data(uint64_t seed)
{
	return mix(seed ^ 0xda7a) % 3 == 0;
}

struct d_program *d_program_create(uint64_t seed, uint32_t max_ops,
				   enum d_devices devices);
void d_program_destroy(struct d_program *p);
void d_program_print(const struct d_program *p);

/* Of the generator: graphs with their tasks, and the tasks of operations. */
void d_make_graphs(struct d_program *p, struct rng *r);
void d_make_tree(struct d_program *p, struct rng *r);
void d_make_strong(struct d_program *p, struct rng *r, uint8_t var);

static inline uint32_t d_first_word(const struct d_var *v, uint32_t part)
{
	return part ? (part - 1u) * v->stride : 0;
}

static inline uint32_t d_nr_words(const struct d_var *v, uint32_t part)
{
	uint32_t left = v->nr_words - d_first_word(v, part);

	return part && left > v->stride ? v->stride : left;
}

static inline bool d_task_fails(const struct d_task *t, uint32_t op,
				uint32_t rep, bool is_of_graph)
{
	if (t->error == D_NO_ERROR || !is_of_graph || t->fail_op == D_ANY_OP)
		return t->error != D_NO_ERROR;
	return t->fail_op == op && t->fail_rep == rep;
}

/* The value that it is created with. */
static inline uint64_t d_first_value(const struct d_program *p, uint32_t var,
				     uint32_t word)
{
	return mix(p->seed ^ (var * 100 + word));
}

#endif
