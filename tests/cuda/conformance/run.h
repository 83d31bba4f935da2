/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The line of the check that this process is at. */
#ifndef CONFORMANCE_RUN_H
#define CONFORMANCE_RUN_H

void run_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
