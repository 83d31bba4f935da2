/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task has chosen among its branches: arms that are not chosen are passed
 * over in one step, see graph/choice.h.
 */
#ifndef RUN_CHOOSE_H
#define RUN_CHOOSE_H

#include <stdint.h>

struct burst;
struct rec;

/*
 * The task, which has a choice, has returned value. *nr_closed: edges that
 * close its loop, of its own and of its arms; those are not told yet. Where
 * that is 0 and the task is a member the run may be over afterwards. Returns
 * the task to run next.
 */
uint32_t choose_arms(struct burst *b, const struct rec *r, int value,
		     uint32_t *nr_closed);

#endif
