/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From the place that a task asks for to the node where it runs.
 */
#ifndef CORE_HOME_H
#define CORE_HOME_H

#include "data/place.h"
#include "graph/graph.h"

/*
 * The border has checked that a strict place has workers; without, another
 * place is no place.
 */
static inline uint16_t home_of(const struct lkdf_task *t)
{
	const struct lkdf_place *p = t->place;

	if (likely(!p) || !sched_has_worker(&p->rt->sched, p->node))
		return HOME_NONE;
	return home_make(p->node, t->flags & LKDF_PINNED);
}

#endif
