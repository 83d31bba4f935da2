/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The hot loop of graphs with branches and loops.
 */
#ifndef RUN_CONTROL_LOOP_H
#define RUN_CONTROL_LOOP_H

#include <stdint.h>

struct burst;

/* Tasks that one follows without a look at what else there is. */
#define CONTROL_TURNS 64

/* Returns an item that was taken and is to be run next, or 0. */
uint64_t run_control(struct burst *b, uint32_t index);

#endif
