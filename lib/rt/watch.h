/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option stall: a thread that tells once, as errors in the log, what lkdf_why()
 * says when nothing has ended for so many seconds although something is open:
 * no body, task, run or wave. It tells again when something has ended since,
 * and all stands still once more. While nothing is open it sleeps.
 * With option order, where nobody else could go on, the program ends then.
 */
#ifndef RT_WATCH_H
#define RT_WATCH_H

#include "core/runtime.h"

/* Before there are executors; nothing where the option is 0. -ENOMEM. */
int watch_init(struct lkdf *rt);

/* Once all is there. -EAGAIN: no thread to be had. */
int watch_start(struct lkdf *rt);

/* Joins the thread; nothing where there is none. */
void watch_stop(struct lkdf *rt);

/* Without a thread, or in a forked child. */
void watch_fini(struct lkdf *rt);

#endif
