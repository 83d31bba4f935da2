/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The run loop: what the scheduler calls once per burst of work. It goes
 * through chains of a graph's tasks inline and takes the next piece from the
 * worker's own deque until there is none.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "run/frame.h"
#include "sched/sched.h"

extern const struct sched_ops run_ops;

#endif
