/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads that call the driver. Two properties of a thread decide whether a
 * call succeeds: its current context, and its mode of captures. A thread begins
 * in the mode global, in which calls such as cuMemAlloc and cuStreamQuery fail
 * and end each capture that any thread of the process has begun in that mode.
 * In the mode relaxed they do neither.
 *
 * The library's own threads enter once and stay; a thread of the program is put
 * back as it was.
 */
#ifndef CUDA_ENTER_H
#define CUDA_ENTER_H

#include "cuda/abi.h"

#include <stdbool.h>

/* The state of the thread before. */
struct cuda_before {
	cu_context context;
	unsigned mode;
	bool has_context, has_mode; /* it is to be put back */
};

/* The thread is relaxed, and the context is its current one; NULL: it keeps
 * its own. */
void cuda_enter_context(const struct cuda *cuda, cu_context context,
			struct cuda_before *b);
void cuda_leave_context(const struct cuda *cuda, const struct cuda_before *b);

#endif
