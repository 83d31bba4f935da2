/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The first chunks of a file: what counters and events are, and facts. */
#ifndef TRACE_ABOUT_H
#define TRACE_ABOUT_H

struct trace_file;

/* Writes what the file is about; facts are lines "key=value". */
void about_write(struct trace_file *f, const char *facts);

#endif
