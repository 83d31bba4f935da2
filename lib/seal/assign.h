/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks run where most of their bytes are. In a sealed graph that is planned
 * from the uses, together with the homes of bytes that do not exist yet; a
 * task that is submitted goes to the node that has most of its bytes when its
 * data is there. Both are wishes, which a thief may overrule.
 */
#ifndef SEAL_ASSIGN_H
#define SEAL_ASSIGN_H

#include "graph/graph.h"

struct task;

/* By seal, once successors are laid out. 0 or -ENOMEM. */
int assign_plan(struct lkdf_graph *g);

/* Gives a task a home, if its data says so and the user did not. */
void assign_task(const struct lkdf *rt, struct task *t);

#endif
