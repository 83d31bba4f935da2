/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A file that somebody gives for what the flight recorder holds: one thread
 * gives it and waits, the thread that writes the recording takes it.
 */
#ifndef TRACE_LAST_GIVEN_H
#define TRACE_LAST_GIVEN_H

#include "base/util.h"

#include <stdint.h>

/* Zeroed memory holds no file. */
struct last_given {
	/* The file + 1; 0: none. A thread that exchanges it for 0 owns it. */
	_Atomic(int32_t) fd;
	_Atomic(uint32_t) nr_done; /* files that were taken and written */

	/* It describes the last of them; the writer's until it is counted in
	 * nr_done. */
	int error; /* 0 or -errno */
	uint64_t slices, lost;
};

/*
 * The giver: waits until the file, which is taken over in any case, is written.
 * bell wakes the writer. 0; -ETIMEDOUT: nobody has taken it; -errno of
 * write(2).
 */
int last_give(struct last_given *g, int fd, _Atomic(uint32_t) *bell);

/* The writer: a file, which is its own to close, or -1. */
int last_take(struct last_given *g);
/* The writer: after error, slices and lost are set. */
void last_given_done(struct last_given *g);

#endif
