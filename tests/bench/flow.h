/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Programs whose tasks pass blocks of bytes on: each task makes one block
 * from its predecessors' blocks. The first input is copied whole, the others
 * go into the first and last word, so that a body costs little more than the
 * copy. All that a task has made is added up in its result, and compared with
 * what the serial program made.
 */
#ifndef TESTS_BENCH_FLOW_H
#define TESTS_BENCH_FLOW_H

#include "tests/bench/shapes.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOW_MAX_INPUTS 4

struct flow {
	struct shape shape;
	uint64_t bytes; /* of a block, a multiple of 8 */
	uint64_t seed; /* what tasks without input start from */
	uint64_t *result; /* by task */
};

/* 0, -EINVAL or -ENOMEM. */
int flow_init(struct flow *f, const char *shape, uint32_t nr, uint64_t bytes);
void flow_fini(struct flow *f);

/* A body; adds to result[task]. */
void flow_task(struct flow *f, uint32_t task, const uint64_t *const *in,
	       unsigned nr_in, uint64_t *out);

/*
 * The serial program: tasks by number, through a pointer to a function, on
 * blocks that are used again after their last reader.
 */
struct flow_serial {
	struct flow *flow;
	uint64_t **block, **out; /* all blocks; by task */
	const uint64_t **in; /* by edge */
	uint32_t nr_blocks;
};

int flow_serial_init(struct flow_serial *s, struct flow *f);
void flow_serial_fini(struct flow_serial *s);
void flow_serial_run(struct flow_serial *s);

/* Is result @times what one serial run makes now? Clears result. */
bool flow_is_right(struct flow_serial *s, uint64_t times);

#endif
