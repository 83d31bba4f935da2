/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Formats that a recording is converted to. in is read twice, clocks come
 * first; what is readable is written, whatever the return: as trace_read().
 * Errors of out are left to the caller.
 */
#ifndef TOOLS_TRACE_FORMATS_H
#define TOOLS_TRACE_FORMATS_H

#include "trace/read.h"

/* Comma-separated values: a line for each body, span and event. */
int trace_to_csv(FILE *in, FILE *out, struct trace_fault *fault);

/*
 * Perfetto's protobuf (protos/perfetto/trace/trace_packet.proto): a track per
 * executor, operations on tracks of their own, an arrow from what made a body
 * ready to its begin.
 */
int trace_to_perfetto(FILE *in, FILE *out, struct trace_fault *fault);

#endif
