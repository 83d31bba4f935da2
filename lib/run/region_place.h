/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The place of a branch in a region, by its number: a subtraction where numbers
 * follow one another, some loads where they do not.
 */
#ifndef RUN_REGION_PLACE_H
#define RUN_REGION_PLACE_H

#include "graph/branches.h"
#include "graph/region.h"

/* No branch of the task has this number. */
#define NO_PLACE UINT32_MAX

/* Among the branches that do not follow the first one. */
static inline uint32_t region_find_sparse(const struct region *r,
					  const struct region_task *t,
					  uint32_t branch)
{
	const struct region_sparse *s = &r->sparse[t->sparse - 1];
	const uint16_t *number = r->number + t->first_at;
	const uint16_t *slot = r->slot + s->first_slot;
	uint32_t at = branches_slot(branch, s->bits);

	for (; slot[at] != FREE_SLOT; at = (at + 1) & ((1u << s->bits) - 1))
		if (number[slot[at]] == branch)
			return t->first_at + slot[at];
	return NO_PLACE;
}

/* The place of the branch that has the number value, or NO_PLACE. */
static inline uint32_t region_place_of(const struct region *r,
				       const struct region_task *t, int value)
{
	uint32_t at = (uint32_t)value - t->base;

	if (likely(at < t->nr_dense))
		return t->first_at + at;
	return t->sparse ? region_find_sparse(r, t, (uint32_t)value) : NO_PLACE;
}

#endif
