/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From a node's inboxes and backlogs into a worker's deques. Links that a full
 * deque refuses go to the backlog, where all find it.
 */
#ifndef SCHED_INTAKE_H
#define SCHED_INTAKE_H

#include "sched/worker.h"

/* Takes links of any node that are bound to none. False: nothing came. */
bool intake_any(struct worker *w, struct sched_node *node);

/*
 * A worker that has said that it sleeps: a bit for each deque that intake_any()
 * would fill.
 */
unsigned intake_has(struct sched_node *node);

/* All, of the own node. */
bool intake_all(struct worker *w, struct sched_node *node);

#endif
