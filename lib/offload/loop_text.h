/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The text of a kernel made from the text of a loop's body: one body for OpenCL
 * C and for CUDA C. Each thread takes an item and then that one a whole grid
 * further on, so any grid covers any range; the step does not overflow at the
 * end of the numbers. The body is a function of one item, so that a return in
 * it ends the item and no other.
 *
 * A body sees i, j and k, unsigned long, and the parameters p0, p1 ... Types of
 * parameters and whatever stands before the body may use GLOBAL, LOCAL and
 * DEVICE, which are nothing or the qualifiers of the language.
 *
 * Pure functions from texts to texts; the caller frees text.buf.
 */
#ifndef OFFLOAD_LOOP_TEXT_H
#define OFFLOAD_LOOP_TEXT_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define LOOP_MAX_PARAMS 64

enum loop_language {
	LOOP_OPENCL,
	LOOP_CUDA
};

struct loop_param {
	const char *type; /* "float", "GLOBAL const float *" */
	uint32_t bytes; /* that are handed over; 0: the compiler knows */
	bool by_memory; /* a kernel gets its address */
};

/* Members that loops, reductions and scans have. */
struct loop_head {
	enum loop_language language;
	const char *entry; /* of the kernel: an identifier */
	const char *top; /* functions and types of the user; NULL: none */
	const struct loop_param *param;
	uint32_t nr_param;
};

struct loop_text {
	struct loop_head head;
	const char *body; /* statements */
	uint32_t nr_dims; /* 1 .. 3; k and j are 0 without */
	uint32_t block[3]; /* threads, known before; 0: not */
	uint32_t max_block; /* threads of a block that is not known; 0: any */
	uint32_t min_blocks; /* on a unit at a time, CUDA; 0: no matter */
};

/*
 * A kernel named entry with the parameters and then, for each dimension, the
 * first item and the number of items, both unsigned long. -EINVAL: a name or a
 * type that is none, with a text; -ENOMEM.
 */
int loop_text(const struct loop_text *l, struct text *out);

/*
 * The text before each kernel of a head: macros, the user's top, and checks of
 * the sizes of parameters. The head is checked first.
 */
int loop_text_begin(const struct loop_head *h, struct text *out);

/* A type that a name can be put behind. */
bool loop_text_is_type(const char *s);

/*
 * "float p0, GLOBAL float *p1, " of what an item is given. A kernel gets
 * "GLOBAL const float *p0, " where p0 goes by memory, and gives "*p0, p1, " to
 * an item.
 */
void loop_text_params(const struct loop_head *h, struct text *out);
void loop_text_kernel_params(const struct loop_head *h, struct text *out);
void loop_text_args(const struct loop_head *h, struct text *out);

#endif
