/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Places of a runtime and the heap behind them. A place is a node, or a part of
 * its workers, whose memory is the node's.
 */
#ifndef DATA_PLACE_H
#define DATA_PLACE_H

#include "core/home.h"
#include "core/runtime.h"

#include <lkdf/place.h>
#include <lkdf/task.h>

#define PLACE_MAX_DEN 1024 /* of one call */

struct lkdf_place {
	/* Set when made, constant afterwards. */
	struct lkdf *rt;
	struct heap *heap;
	int node; /* index in topo and heap */
	uint16_t home; /* of what prefers it */
	const struct part *part; /* NULL: the node */
	struct lkdf_place *next; /* part; of the runtime */
	unsigned memory; /* the node's own, in the heap */
	bool is_hooked; /* a tool is told of blocks, see lkdf/hooks.h */
};

/* The heap and the places of all nodes. 0 or -errno. */
int place_open(struct lkdf *rt);

/* Reports blocks that were not freed: no thread allocates any more. */
void place_report_leaks(struct lkdf *rt);

/* Unmaps all memory. After a failed place_open(), too. */
void place_close(struct lkdf *rt);

/*
 * Part num of den of the place's workers: as many of its first workers lie
 * before it as parts do, rounded down, and it has one at least. The same each
 * time; the place itself where it has all of its workers. -ENOMEM; -ENOSPC.
 */
int place_part(struct lkdf_place *p, unsigned num, unsigned den,
	       struct lkdf_place **out);

/* The system's number of the node. */
int place_id(const struct lkdf_place *p);

/* Why memory is not bound to its node; NULL: it is. */
const char *place_unbound_text(const struct lkdf *rt);

/*
 * The home of a task, by the place that it asks for. The border has checked
 * that a strict place has workers; without, another place is no place.
 */
static inline uint16_t home_of(const struct lkdf_task *t)
{
	const struct lkdf_place *p = t->place;

	if (likely(!p) || !sched_has_worker(&p->rt->sched, p->node))
		return HOME_NONE;
	return p->home | (t->flags & LKDF_PINNED ? 1 : 0);
}

#endif
