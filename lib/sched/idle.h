/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A worker without work: it looks near and far with a pace, then sleeps. */
#ifndef SCHED_IDLE_H
#define SCHED_IDLE_H

#include "sched/worker.h"

/* Looks for work, sleeping if there is none. False: the runtime stops. */
bool idle_find(struct worker *w, uint64_t *item);

#endif
