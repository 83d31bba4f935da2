/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From a node's inboxes and backlogs into a worker's deques. What a full deque
 * refuses goes to the backlog, where all find it.
 */
#ifndef SCHED_INTAKE_H
#define SCHED_INTAKE_H

#include "sched/worker.h"

/* What is bound to no node, of any. False: nothing came. */
bool intake_any(struct worker *w, struct sched_node *node);

/* All, of the own node. */
bool intake_all(struct worker *w, struct sched_node *node);

#endif
