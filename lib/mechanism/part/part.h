/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part: some of a node's workers, one after the other by number, and the
 * work that was placed on them. Parts may overlap. Their work waits in two
 * queues, oldest first: what is bound to the part and what only prefers it.
 * Its workers take one link at a time from either, to run it at once: in a
 * deque others of the node would steal it, and a long body would bury it. An
 * idle worker elsewhere takes from the second one, too, after all else.
 *
 * All sleepers of a node sleep on one futex, and a spinner there need not be
 * of the part. So each worker says that it is about to sleep, and who has
 * pushed to a part calls those of its workers that have said so, see park.h:
 *
 *	pushes                           sleeps
 *	(A) makes the link public        (C) is_parking = 1
 *	(B) looks at is_parking           (D) looks at its parts
 *
 * All four are seq_cst: either B sees C, or D sees A. A spinner or a worker
 * in a body comes by in any case before it sleeps.
 */
#ifndef MECHANISM_PART_H
#define MECHANISM_PART_H

#include "mechanism/rows.h"
#include "sched/sched.h"

extern const struct mechanism part_mechanism;

#define MAX_PARTS 4096 /* of a runtime */

struct part {
	/* Any thread pushes, the workers of the part take. */
	struct backlog bound;

	/* Links that idle workers of all nodes take. */
	struct backlog wish;

	/* Set when made, constant afterwards. */
	_Alignas(CACHE_LINE) struct part *next; /* of the node */
	struct sched_node *node;
	int first, nr; /* workers */
	unsigned id; /* in part_sched.parts */
};

/* For each node. */
struct part_node {
	/* Any thread: parts of its workers, the youngest first. */
	_Atomic(struct part *) parts;
};

/* For each scheduler: written by the maker of a part, one at a time. */
struct part_sched {
	struct part **parts; /* by id */
	unsigned nr_parts;
};

static inline struct part_node *part_at(const struct sched_node *node)
{
	return node->data[SLOT_PART];
}

static inline struct part_sched *part_in(const struct sched *s)
{
	return s->data[SLOT_PART];
}

/*
 * The part with these workers, which are of one node; the same each time.
 * Called by one thread at a time. -ENOMEM; -ENOSPC: there are MAX_PARTS.
 */
int part_get(struct sched *s, int first, int nr, struct part **out);

/* With all its parts; nobody runs any more. */
void part_free_all(struct sched *s);

static inline bool part_has(const struct part *p, const struct worker *w)
{
	return w->id >= p->first && w->id < p->first + p->nr;
}

/*
 * Any thread; from: its worker, or NULL. For a link that is not bound, a worker
 * of the part should have tried its deque before. True: it woke somebody, which
 * the caller counts.
 */
bool part_push(struct sched *s, unsigned id, struct worker *from,
	       struct link *link, bool is_bound);

/*
 * This worker only. The oldest of one of its parts, what is bound to the part
 * first; false: none.
 */
bool part_pop(struct worker *w, uint64_t *item);

/* An idle worker: the oldest that prefers a part of the node; false: none. */
bool part_help(struct sched_node *node, uint64_t *item);

/*
 * For a join: as backlog_dig(), of what the worker may run of all parts.
 */
struct link *part_dig(struct worker *w, uint32_t nr, bool turns,
		      bool (*fits)(const struct link *link, const void *u),
		      const void *u);

/* And of what is bound to one of its parts. */
struct link *part_dig_bound(struct worker *w, uint32_t nr,
			    bool (*fits)(const struct link *link,
					 const void *u));

/* Is there something that prefers any part of the node? */
bool part_has_wish(struct sched_node *node);

static inline struct part *part_first(struct sched_node *node)
{
	/* [part.first] what it is, and after is_parking: a part that is new is
	 * of what (D) looks at; pairs with [part.made]. */
	return a_load(&part_at(node)->parts, seq_cst);
}

/*
 * Is there something that is bound to one of the worker's parts? Or that
 * prefers one of them?
 */
bool part_asks(struct worker *w, bool has_to_be_bound);

static inline bool part_has_bound(struct worker *w)
{
	return unlikely(part_first(w->node) != NULL) && part_asks(w, true);
}

static inline bool part_has_news(struct worker *w)
{
	return unlikely(part_first(w->node) != NULL) && part_asks(w, false);
}

#endif
