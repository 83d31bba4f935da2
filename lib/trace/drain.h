/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The thread "lkdf/drain", which carries what the executors have written into
 * a file *.lkdf.
 */
#ifndef TRACE_DRAIN_H
#define TRACE_DRAIN_H

#include <stdbool.h>

struct trace;
struct trace_drain;
struct trace_sum;

/*
 * Into a file by name, or into fd, an empty one that is taken over in any case.
 * Records that were written before are left out. -EEXIST, -EPERM, -errno: the
 * file is refused; -EAGAIN no thread.
 */
int drain_start(struct trace *t, const char *file, int fd,
		struct trace_drain **out);

/* Which file, for people. */
const char *drain_path(const struct trace_drain *d);

/* Writes what is left and the end; sum may be NULL. */
void drain_stop(struct trace_drain *d, struct trace_sum *sum);

/*
 * The process ends while executors may run. drain_claim() true: until
 * drain_leave(), which writes what is left and the end, drain_stop() waits on
 * other threads. False: somebody has been here, or this is the thread.
 */
bool drain_claim(struct trace_drain *d);
void drain_leave(struct trace_drain *d);

/* In a forked child. Accepts NULL. */
void drain_abandon(struct trace_drain *d);

#endif
