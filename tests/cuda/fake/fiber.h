/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The threads of a block that has barriers: each has a stack, and one of the
 * CPU's threads goes from one to the next where a barrier is.
 */
#ifndef FAKE_FIBER_H
#define FAKE_FIBER_H

#include <stddef.h>

/* run() for each of n; resume() before one goes on behind a barrier. */
void fiber_run(size_t n, void (*run)(void *arg, size_t i),
	       void (*resume)(void *arg, size_t i), void *arg);

/* Called in run(): all others come here, or have ended. */
void fiber_barrier(void);

/* The thread ends: its stacks go. */
void fiber_end(void);

#endif
