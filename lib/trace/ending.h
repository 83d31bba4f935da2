/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How the thread that writes a recording is ended: by close, when nobody writes
 * slices any more, or by exit(3), while executors run and another thread may
 * close.
 */
#ifndef TRACE_ENDING_H
#define TRACE_ENDING_H

#include "base/lock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Zeroed memory is one that nobody has ended. */
struct ending {
	/* Set at start, constant afterwards. */
	pthread_t thread;
	_Atomic(uint32_t) *bell; /* wakes the thread */

	uint64_t stop_ticks; /* set before is_asked */
	_Atomic(uint32_t) is_asked; /* any thread */
	_Atomic(uint32_t) has_ended; /* the file has its end; the thread sets */

	/* Held by whoever ends the thread. */
	struct lock lock;
	bool is_joined, has_left; /* under it */
};

/* On the thread: this is the last round. */
bool ending_is_asked(const struct ending *e);
/* On the thread: the file has its end. */
void ending_tell(struct ending *e);

/* Asks the thread to write the end, and waits until it has. */
void ending_join(struct ending *e);

/*
 * For exit(3). ending_claim() true: until ending_leave(), which ends the
 * thread, ending_join() waits on other threads. False: somebody has been here,
 * or this is the thread.
 */
bool ending_claim(struct ending *e);
void ending_leave(struct ending *e);

#endif
