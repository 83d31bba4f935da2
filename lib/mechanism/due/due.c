/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/due/due.h"

#include "mechanism/part/part.h"

void due_set(struct sched *s, int first, int last, uint32_t is_due)
{
	/* Relaxed: the items carry it, see due.h. */
	for (; first < last; first++)
		a_store(&due_of(&s->workers[first])->is_due, is_due, relaxed);
}

static bool is_due(const struct worker *w)
{
	return due_is(w);
}

/* The member, or what was bound to the worker before it. */
static bool take_due(struct worker *w, uint64_t *item)
{
	struct link *link =
		part_dig_bound(w, UINT32_MAX, w->sched->ops.precedes);

	if (link)
		*item = link_item(link);
	return link != NULL;
}

const struct mechanism due_mechanism = {
	.name = "due",
	.uses = "part",
	.needs = "part",
	.of_worker = MECHANISM_DATA(struct due_worker),
	.is_due = is_due,
	.take_due = take_due,
};
