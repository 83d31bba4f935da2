/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A block whose tasks are taken again and again had better be where the takers
 * are. A node that has taken two of the block's last three tasks from a home
 * that is late gets the pages, and with them the tasks to come; a buffer and
 * the one that it is exchanged with move together or not at all. As many runs
 * are to come as there were: what moving costs is paid back before long, or the
 * graph is not run so often.
 *
 * A block whose old home takes one of its next two tasks moves back: that move
 * has not paid. After two of these the blocks of the graph stay.
 *
 * Only blocks that outlast the run.
 */
#ifndef RUN_REHOME_H
#define RUN_REHOME_H

#include "run/frame.h"

struct executor;

/* A task that writes the var most starts on the executor's node. */
void rehome(struct executor *ex, struct frame *f, uint32_t var);

#endif
