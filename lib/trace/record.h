/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Recordings of a trace, one after another. trace_record() and
 * trace_record_end() are in trace.h; here is what open and close do.
 */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

struct trace;

/*
 * Opens a recording that lasts until close, in rings of the memfd. As
 * drain_start().
 */
int record_open(struct trace *t, const char *file);

/* No recording is under way. */
void record_fini(struct trace *t);

#endif
