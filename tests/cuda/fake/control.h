/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests ask of the test library beside the driver's API. They find these
 * functions by dlsym() in the library that the program has loaded.
 */
#ifndef FAKE_CONTROL_H
#define FAKE_CONTROL_H

/* The call after so many fails once; -EINVAL: no such call, or too many. */
int fake_cuda_fail(const char *call, unsigned result, unsigned after);

/* How often it was called, -EINVAL: there is none of that name. */
long fake_cuda_calls(const char *call);

/* Calls that have waited for what ran: those that nobody may make then. */
long fake_cuda_waits(void);

/* Bytes of memory that are taken, of all cards; host: pinned, registered. */
long fake_cuda_bytes(int host);

#endif
