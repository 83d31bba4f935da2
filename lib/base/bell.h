/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An eventfd that one thread sleeps on and that the kernel may ring, too. The
 * model checker has its own bell.c.
 */
#ifndef BASE_BELL_H
#define BASE_BELL_H

#include <stdint.h>

/* A descriptor, or -errno. */
int bell_open(void);

/* Also while nobody sleeps: the next to sleep wakes at once. */
void bell_ring(int fd);

/*
 * Sleeps until it has rung since the last time it woke somebody. 0: it has, or
 * a signal came; -ETIMEDOUT after timeout_ns >= 0; -1 is for ever.
 */
int bell_wait(int fd, int64_t timeout_ns);

#endif
