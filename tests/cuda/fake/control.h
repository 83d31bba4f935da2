/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests ask of the test library beside the driver's API. They find these
 * functions by dlsym() in the library that the program has loaded.
 */
#ifndef FAKE_CONTROL_H
#define FAKE_CONTROL_H

#include <stddef.h>

/* The call after so many fails once; -EINVAL: no such call, or too many. */
int fake_cuda_fail(const char *call, unsigned result, unsigned after);

/*
 * From now on each copy of bytes of the host, by a stream or by the thread that
 * calls, begins so much later: 0, at once.
 */
void fake_cuda_hold_copies(long long ns);

/* How many copies wait for that. */
long fake_cuda_held(void);

/* How often it was called, -EINVAL: there is none of that name. */
long fake_cuda_calls(const char *call);

/*
 * The last kernel that ran, by itself or of a graph, wants so many percent of
 * the memory for blocks; -1: its function does not say.
 */
int fake_cuda_carveout(void);

/* Calls that have waited for what ran: those that nobody may make then. */
long fake_cuda_waits(void);

/*
 * Pages there are about to leave the process, by a call of that name: ends it
 * where some of them are registered, for the driver would go on with the old
 * ones. A forked child has none, nor has a process that a fault has ended.
 */
void fake_cuda_gone(const char *call, const void *at, size_t size);

/* Bytes of memory that are taken, of all cards; host: pinned, registered. */
long fake_cuda_bytes(int host);

/* Waits until there are so many; -ETIMEDOUT: not within that time. */
int fake_cuda_await_bytes(int host, long bytes, long long patience_ns);

#endif
