/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies that run when a recording begins or ends: the time of their workers
 * would look idle. A worker that neither sleeps nor shows anything else at the
 * start is in a body until it does, and one that neither sleeps nor has shown
 * anything for longer than workers spin is in one at the end. Both are told as
 * slices of kinds of their own; a sleep at the start as an event.
 *
 * The drain thread only, but for edges_init().
 */
#ifndef TRACE_EDGES_H
#define TRACE_EDGES_H

#include <stdbool.h>
#include <stdint.h>

struct trace;
struct trace_file;

struct edges {
	struct trace *t;
	struct trace_file *file;
	uint64_t start_ticks;
	uint32_t before, running; /* names of kinds */
	uint8_t *state; /* by executor; NULL: they are not told */
};

/*
 * Called by the thread that starts a recording, once rings have begun anew.
 * False: no memory.
 */
bool edges_init(struct edges *e, struct trace *t, struct trace_file *f,
		uint64_t start_ticks);
void edges_fini(struct edges *e);

/* Executor i: before what has come in a round is carried away. */
void edges_look(struct edges *e, int i);

/* When the last of it has been; ticks: when the recording was to end. */
void edges_end(struct edges *e, int i, uint64_t ticks);

#endif
