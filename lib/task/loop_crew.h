/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A loop run by its caller and by the workers of a node that are idle, as a
 * crew of mechanism/crew/crew.h. Units are grains of the range; those of a
 * static loop are the parts of workers.
 */
#ifndef TASK_LOOP_CREW_H
#define TASK_LOOP_CREW_H

#include "task/parallel_for.h"

/*
 * The rest of the range, which is not empty; ex: this thread's, or NULL. True:
 * all of it has run, or the loop is over. False, and nothing has run: nobody
 * is idle, another loop has the crew, or there is no memory.
 */
bool crew_runs_loop(struct loop *l, struct executor *ex, const struct piece *p);

#endif
