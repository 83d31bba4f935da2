/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Lanes of a recording for threads of the program that run blocks of loops,
 * behind those of devices: a thread has the same one in all recordings of a
 * runtime. Those for whom none is left share the last.
 */
#ifndef TRACE_CALLERS_H
#define TRACE_CALLERS_H

#include "base/atomic.h"

#include <lkdf/format.h>
#include <stdint.h>

struct trace;

struct callers {
	/* Any thread: who has the lane, 0: nobody; and the last recording that
	 * was told of it. */
	_Atomic(uint32_t) tid[LKDF_THREAD_LANES];
	_Atomic(uint32_t) told[LKDF_THREAD_LANES];
};

/* The calling thread's, counted from the end of the executors; the recording
 * knows it from here on. */
uint32_t callers_lane(struct trace *t);

#endif
