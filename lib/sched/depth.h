/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How deep bodies may nest on a worker's stack. A join runs children on top of
 * its own body and is refused where less than a quarter of the stack is left,
 * so that a body always has that much. A spawn that runs its child at once does
 * so in the first quarter of the stack and in 256 such children; beyond, the
 * child is queued.
 *
 * In serial mode the stack is that of whatever thread has come. Its bounds are
 * asked for when it gets deep, not for each call.
 */
#ifndef SCHED_DEPTH_H
#define SCHED_DEPTH_H

#include "base/util.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEPTH_MAX_INLINE 256

struct depth {
	uintptr_t join_from; /* lowest address for the frame of a join */
	uintptr_t inline_from; /* of a spawn that runs its child */
	size_t size; /* of the stack; 0: not known yet */
	uint32_t nr_inline; /* such children on this stack */
};

/* The worker's own stack. */
void depth_set(struct depth *d, const void *base, size_t size);

/* This thread's stack, from here on: serial mode. */
void depth_begin(struct depth *d);

/* Learns the bounds of this thread's stack. True: there is room for a join. */
bool depth_look(struct depth *d);

/* May a join nest here? Surely so, and after a look. */
static inline __attribute__((always_inline)) bool
depth_has_room(const struct depth *d)
{
	return (uintptr_t)__builtin_frame_address(0) >= d->join_from;
}

static inline __attribute__((always_inline)) bool
depth_may_join(struct depth *d)
{
	return likely(depth_has_room(d)) || depth_look(d);
}

/* May a spawn run its child here? */
static inline __attribute__((always_inline)) bool
depth_may_inline(const struct depth *d)
{
	return (uintptr_t)__builtin_frame_address(0) >= d->inline_from &&
	       d->nr_inline < DEPTH_MAX_INLINE;
}

#endif
