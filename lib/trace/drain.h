/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The thread "lkdf/drain", which carries what the executors have written into
 * a file *.lkdf.
 */
#ifndef TRACE_DRAIN_H
#define TRACE_DRAIN_H

struct trace;
struct trace_drain;

/* -EEXIST, -EPERM, -errno: the file is refused; -EAGAIN no thread. */
int drain_start(struct trace *t, const char *file, struct trace_drain **out);

/* Writes what is left and the end. Accepts NULL. */
void drain_stop(struct trace_drain *d);

/* In a forked child. Accepts NULL. */
void drain_abandon(struct trace_drain *d);

#endif
