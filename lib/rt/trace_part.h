/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The trace as a part of a runtime, with the signals: the thread of the trace
 * reads them, so they go after it.
 */
#ifndef RT_TRACE_PART_H
#define RT_TRACE_PART_H

struct lkdf;

/* 0 or -errno. The places are open. */
int trace_part_open(struct lkdf *rt);

/* No other thread is left. The part may be open by half. */
void trace_part_close(struct lkdf *rt);

/* In a forked child. */
void trace_part_abandon(struct lkdf *rt);

#endif
