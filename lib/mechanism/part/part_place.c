/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Parts as a place where idle workers find work. */
#include "mechanism/part/part.h"

#include "mechanism/far/far.h"

static bool take_parts(struct worker *w, bool is_far, uint64_t *item)
{
	struct sched *s = w->sched;
	int i;

	for (i = 0; is_far && i < s->nr_nodes; i++)
		if (far_allows(w, &s->nodes[i]) &&
		    part_help(&s->nodes[i], item))
			return true;
	return false;
}

/* Nobody outside of a part takes what is bound to it. */
static unsigned has_parts(struct worker *w)
{
	unsigned found = part_has_bound(w) ? 1u << DEQUE_PART : 0;
	struct sched *s = w->sched;
	int i;

	for (i = 0; i < s->nr_nodes; i++)
		if (far_allows(w, &s->nodes[i]) && part_has_wish(&s->nodes[i]))
			return found | 1u << CLASS_NORMAL;
	return found;
}

const struct mechanism part_mechanism = {
	.name = "part",
	.uses = "far quota",
	.of_node = MECHANISM_DATA(struct part_node),
	.of_sched = MECHANISM_DATA(struct part_sched),
	.close = part_free_all,
	.take = take_parts,
	.has = has_parts,
	.has_news = part_has_news,
	.pop = part_pop,
};
