/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hands the memfd to a tool that listens on an abstract socket, so that the
 * tool has it when the process is gone. Payload: struct lkdf_stats_hello; the
 * descriptor comes as SCM_RIGHTS.
 */
#ifndef TRACE_ANNOUNCE_H
#define TRACE_ANNOUNCE_H

struct trace;

/* name: of the socket, without the leading NUL. Where nobody listens, or
 * somebody whom rights_trust() refuses, nothing is sent: the log tells why. */
void trace_announce(const struct trace *t, const char *name);

#endif
