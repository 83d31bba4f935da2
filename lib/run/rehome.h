/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A block whose tasks are stolen again and again had better be where the
 * thieves are. When its home is behind by more than what is left to do on the
 * block, the pages move, and with them the tasks to come; a buffer and the one
 * that it is exchanged with move together or not at all.
 *
 * Only blocks that outlast the run, and only with the option rehome: what
 * moving pages costs is the machine's secret.
 */
#ifndef RUN_REHOME_H
#define RUN_REHOME_H

#include "run/frame.h"

struct executor;

/* A thief starts a task that writes the var, which is somewhere else. */
void rehome(struct executor *ex, struct frame *f, uint32_t var);

#endif
