/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The crew of a node as a place where its idle workers find work. */
#include "mechanism/crew/crew.h"

#include "sched/sched.h"

static bool take_crew(struct worker *w, bool is_far, uint64_t *item)
{
	(void)is_far;
	return crew_offered(&crew_at(w->node)->crew, (uint32_t)w->id, item);
}

static unsigned has_crew(struct worker *w)
{
	uint64_t item;

	return take_crew(w, false, &item) ? 1u << CLASS_NORMAL : 0;
}

static void close_crews(struct sched *s)
{
	int i;

	for (i = 0; s->nodes && i < s->nr_nodes; i++)
		crew_destroy(a_load(&crew_at(&s->nodes[i])->crew, relaxed));
}

const struct mechanism crew_mechanism = {
	.name = "crew",
	.of_node = MECHANISM_DATA(struct crew_node),
	.close = close_crews,
	.take = take_crew,
	.has = has_crew,
};
