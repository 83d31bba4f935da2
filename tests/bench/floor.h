/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The floor: how fast a frozen graph can run on this machine when nothing but
 * order matters. No kinds, errors, scopes, tracing or safety; a measuring
 * stick for lkdf bench, not a library.
 */
#ifndef TESTS_BENCH_FLOOR_H
#define TESTS_BENCH_FLOOR_H

#include "tests/bench/shapes.h"

#include <stdint.h>

struct floor;
struct floor_graph;

typedef void (*floor_fn)(uint32_t task);

/* The caller of floor_run() is worker 0; the others sleep between runs. */
int floor_open(int nr_workers, struct floor **out);
void floor_close(struct floor *f);

int floor_build(const struct shape *s, floor_fn fn, struct floor_graph **out);
void floor_free(struct floor_graph *g);

/* Runs it so many times, one after another; nanoseconds of all together. */
uint64_t floor_run(struct floor *f, const struct floor_graph *g,
		   unsigned times);

#endif
