/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/nodes/nodes.h"

#include "mechanism/far/far.h"
#include "sched/intake.h"
#include "sched/sched.h"

static bool take_nodes(struct worker *w, bool is_far, uint64_t *item)
{
	struct sched *s = w->sched;
	int i;

	for (i = 0; is_far && i < s->nr_nodes; i++)
		if (far_allows(w, &s->nodes[i]) &&
		    intake_any(w, &s->nodes[i]) && worker_pop(w, item))
			return true;
	return false;
}

static unsigned has_nodes(struct worker *w)
{
	struct sched *s = w->sched;
	unsigned found = 0;
	int i;

	for (i = 0; i < s->nr_nodes; i++)
		if (&s->nodes[i] != w->node && far_allows(w, &s->nodes[i]))
			found |= intake_has(&s->nodes[i]);
	return found;
}

const struct mechanism nodes_mechanism = {
	.name = "nodes",
	.uses = "far",
	.stays = "a worker of another node may have got the wake-up",
	.take = take_nodes,
	.has = has_nodes,
};
