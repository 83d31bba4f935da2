/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "seal/region_places.h"

#include "graph/branches.h"
#include "graph/region.h"

/* Those that do not follow the first one, of nr in all. */
static void fill_slots(struct region *r, struct region_task *t, uint32_t nr)
{
	const uint16_t *number = r->number + t->first_at;
	struct region_sparse *s = &r->sparse[r->nr_sparse];
	unsigned bits = branches_bits(nr - t->nr_dense);
	uint32_t place, at, mask = (1u << bits) - 1;

	*s = (struct region_sparse){ r->nr_slots, bits };
	t->sparse = (uint16_t)++r->nr_sparse;
	r->nr_slots += mask + 1;
	for (at = 0; at <= mask; at++)
		r->slot[s->first_slot + at] = FREE_SLOT;
	for (place = t->nr_dense; place < nr; place++) {
		at = branches_slot(number[place], bits);
		while (r->slot[s->first_slot + at] != FREE_SLOT)
			at = (at + 1) & mask;
		r->slot[s->first_slot + at] = (uint16_t)place;
	}
}

uint32_t region_places_add(struct region *r, struct region_task *t, uint32_t at)
{
	uint32_t e = t->first_branch, nr;

	t->first_at = at;
	for (; e < t->end; at++) {
		r->at[at] = (uint16_t)e;
		r->number[at] = r->edge[e].branch;
		while (e < t->end && r->edge[e].branch == r->number[at])
			e++;
	}
	nr = at - t->first_at;
	t->base = r->number[t->first_at];
	t->nr_dense = (uint16_t)branches_dense(&r->number[t->first_at], nr);
	if (nr > t->nr_dense)
		fill_slots(r, t, nr);
	r->at[at++] = (uint16_t)e;
	return at;
}

/* Where edges first to end lead to if that is all; 0: more is to be done. */
static uint16_t leads_to(const struct region *r, uint32_t first, uint32_t end)
{
	if (end - first != 1)
		return 0;
	if (r->edge[first].how == REGION_BACK)
		return REGION_ROUND;
	return r->edge[first].how == REGION_LIVE ? r->edge[first].to : 0;
}

void region_places_find_jumps(struct region *r)
{
	struct region_task *t;
	uint32_t p, i;

	for (p = 0; p < r->nr && !r->has_ports; p++) {
		t = &r->task[p];
		if (t->first_branch == t->end)
			t->only = leads_to(r, t->first, t->end);
		if (t->first_branch == t->end && t->end - t->first == 1 &&
		    r->edge[t->first].how == REGION_ALL)
			t->joins = r->edge[t->first].to;
		if (t->first != t->first_branch || t->first == t->end ||
		    t->is_loop)
			continue;
		for (i = t->first_at; r->at[i] < t->end; i++)
			r->jump[i] = leads_to(r, r->at[i], r->at[i + 1]);
	}
}
