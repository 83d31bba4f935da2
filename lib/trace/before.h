/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counters of a runtime when a recording began: the file tells what came since.
 * Called by the thread that starts the recording, before its drain thread.
 */
#ifndef TRACE_BEFORE_H
#define TRACE_BEFORE_H

#include <stdbool.h>
#include <stdint.h>

struct trace;

struct before {
	uint64_t *counted; /* by ring and counter */
	uint64_t *bytes; /* by ring and node; the last one is of none */
};

/* Rings begin anew. False: no memory, and nothing to be freed. */
bool before_init(struct before *b, struct trace *t);
void before_fini(struct before *b);

#endif
