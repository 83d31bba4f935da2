/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A recording that begins and ends while the program runs. Bodies that run when
 * it begins are not in it. The thread "lkdf/ask" only.
 */
#ifndef RT_RECORD_H
#define RT_RECORD_H

struct lkdf;
struct trace_sum;

/*
 * Into fd, an empty regular file, which is taken over in any case. -EINVAL: it
 * is none, or not open for writing; else as trace_record().
 */
int record_start(struct lkdf *rt, int fd);

/* The flight recorder is written into such a file when the call returns.
 * -EINVAL, or as trace_last_into(). */
int record_last(struct lkdf *rt, int fd, struct trace_sum *sum);
void record_stop(struct lkdf *rt, struct trace_sum *sum);

#endif
