/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * PTX as far as the kernels of the tests go: integers of 32 and 64 bits, loads
 * and stores, branches. Other instructions are errors of the compiler.
 */
#ifndef FAKE_PTX_H
#define FAKE_PTX_H

#include "tests/cuda/fake/fake.h"

enum ptx_do {
	PTX_MOVE,
	PTX_ADD,
	PTX_SUB,
	PTX_MUL,
	PTX_SET, /* a predicate */
	PTX_LOAD_PARAM,
	PTX_LOAD,
	PTX_STORE,
	PTX_BRANCH,
	PTX_RETURN,
	PTX_TRAP,
	PTX_ASSERT,
	PTX_NOTHING,
};

enum ptx_compare {
	PTX_EQ,
	PTX_NE,
	PTX_LT,
	PTX_LE,
	PTX_GT,
	PTX_GE,
};

enum ptx_kind {
	PTX_NUMBER,
	PTX_REGISTER,
	PTX_TIME,
	PTX_THREAD, /* number: x, y, z */
	PTX_BLOCK,
	PTX_BLOCK_SIZE,
	PTX_GRID,
};

struct ptx_operand {
	enum ptx_kind kind;
	uint64_t number; /* or which one */
};

struct ptx_step {
	enum ptx_do what;
	enum ptx_compare compare;
	unsigned size; /* bytes of its type */
	bool is_shared; /* memory of the block */
	int guard; /* register of the predicate, -1: none */
	bool is_not;
	unsigned to; /* register, or step of a branch */
	struct ptx_operand a, b;
	int64_t offset;
};

struct ptx_code {
	struct ptx_step *steps;
	unsigned nr_steps, nr_registers;
};

/* 218 or 222, and why, as the toolkit's compiler says it. */
cu_result ptx_load(struct CUmod_st *m, const char *text, char *log,
		   size_t size);
void ptx_free(struct ptx_code *c);

/* All threads, one after the other; 0 or the error of a fault. */
cu_result ptx_run(const struct op *o);

#endif
