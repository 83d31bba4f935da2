/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory that a body may use while it runs: one block per executor, on its
 * node, grown only. A body further down the stack of a join may still use an
 * older block, so those stay until the runtime ends.
 */
#ifndef CORE_SCRATCH_H
#define CORE_SCRATCH_H

#include "sched/executor.h"

/* At least size bytes on a multiple of 64; NULL: no memory. */
void *scratch_get(struct executor *ex, size_t size);

void scratch_free(struct executor *ex);

#endif
