/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/home/home.h"

#include "sched/intake.h"
#include "sched/sched.h"

/* The sources, and what waits at the own node; see has_home(). */
static bool take_home(struct worker *w, bool is_far, uint64_t *item)
{
	struct sched *s = w->sched;

	(void)is_far;
	return ((s->ops.poll && s->ops.poll(w)) || worker_take_home(w)) &&
	       worker_pop(w, item);
}

/* Sources have a bell, see park_set_bell(). */
static unsigned has_home(struct worker *w)
{
	struct sched_node *node = w->node;
	unsigned found = intake_has(node);

	if (!inbox_is_empty(&node->bound) ||
	    !backlog_is_empty(&node->backlog[DEQUE_BOUND]))
		found |= 1u << DEQUE_BOUND;
	return found;
}

const struct mechanism home_mechanism = {
	.name = "home",
	.stays = "nobody else takes what came to a node",
	.take = take_home,
	.has = has_home,
};
