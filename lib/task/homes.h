/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task that is submitted goes to the node that has most of its bytes when its
 * data is there. That is a wish, which a thief may overrule.
 */
#ifndef TASK_HOMES_H
#define TASK_HOMES_H

#include "core/home.h"
#include "data/place.h"
#include "task/kind.h"

#include <lkdf/task.h>

struct executor;
struct task;

/* Gives a task a home, if its data says so and the user did not. ex: or NULL.
 */
void homes_find(struct executor *ex, struct task *t);

/*
 * The home of a task, by the place that it asks for. The border has checked
 * that a strict place has workers; without, another place is no place.
 */
static inline uint16_t home_of(const struct lkdf_task *t)
{
	const struct lkdf_place *p = t->place;
	unsigned home;

	if (likely(!p) || !sched_has_worker(&p->rt->sched, p->node))
		return HOME_NONE;
	home = p->home | (t->flags & LKDF_PINNED ? 1 : 0);
	if (unlikely(t->kind->kernel != NULL) && !p->device)
		home |= HOME_HOST;
	return (uint16_t)home;
}

#endif
