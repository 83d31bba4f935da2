/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks of a sealed graph run where most of their bytes are: that is planned
 * from the uses, together with the homes of bytes that do not exist yet. Both
 * are wishes, which a thief may overrule. task/homes.h is the same for tasks
 * that are submitted.
 */
#ifndef SEAL_ASSIGN_H
#define SEAL_ASSIGN_H

#include "graph/graph.h"

/* By seal, once successors are laid out. 0 or -ENOMEM. */
int assign_plan(struct lkdf_graph *g);

#endif
