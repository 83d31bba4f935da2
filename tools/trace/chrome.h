/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A trace as JSON in Chrome's trace event format, which Perfetto reads too:
 * a thread per executor, bodies as slices, rare events as instants. Times are
 * microseconds from the start of the trace.
 */
#ifndef TOOLS_TRACE_CHROME_H
#define TOOLS_TRACE_CHROME_H

#include "trace/read.h"

/*
 * Reads in twice: clocks come first. Records that are readable are written,
 * whatever the return: as trace_read(). Errors of out are left to the caller.
 */
int trace_to_chrome(FILE *in, FILE *out, struct trace_fault *fault);

#endif
