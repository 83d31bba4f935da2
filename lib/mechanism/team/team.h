/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * CPUs for a body that makes threads of its own. Its worker leads a team: other
 * workers of the node lend their CPUs to it, that is, they leave what they have
 * to others between two bodies, or in a join that finds nothing, and are on
 * standby (quota.h) until the body has ended. The body begins once they have.
 *
 *	leader                           a worker
 *	(A) lent_to = its number         (C) is_away = 0, or is_parking = 1
 *	(B) looks at is_away, at those   (D) looks at lent_to
 *	    that sleep, and waits
 *
 * All seq_cst: either B sees C and waits, or wakes the sleeper, or D sees A and
 * the worker goes away, and says so. A leader is away itself until all of its
 * workers are lent at once, under the node's lock. So no leader has some and
 * waits for others, and none of them waits for a worker that waits for it.
 *
 * A worker that has operations under way which it alone sees to the end says
 * that it is away, and goes on. The only one of a part that a quota leaves is
 * never lent.
 */
#ifndef MECHANISM_TEAM_H
#define MECHANISM_TEAM_H

#include "base/lock.h"
#include "mechanism/rows.h"
#include "sched/worker.h"

/* For each worker. */
struct team_worker {
	/* A leader sets, under the node's lock: its number + 1; 0. */
	_Atomic(uint32_t) lent_to;

	/* This worker sets: in no body, or in a join that rests; a futex. */
	_Atomic(uint32_t) is_away;

	/* This worker only: bodies of teams on this stack. */
	int depth, size;

	/* This worker sets, under the node's lock. */
	bool is_leader;
};

/* For each node: workers that begin or end a team. */
struct team_node {
	struct lock lock;
	_Atomic(uint32_t) word; /* futex: one has ended */
};

extern const struct mechanism team_mechanism;

static inline struct team_worker *team_of(const struct worker *w)
{
	return w->data[SLOT_TEAM];
}

static inline struct team_node *team_at(const struct sched_node *node)
{
	return node->data[SLOT_TEAM];
}

/*
 * This worker only, before a body. How many CPUs it has until team_end(): nr,
 * or as many as its node has workers. Within a team it has those of the team.
 */
int team_begin(struct worker *w, int nr);
void team_end(struct worker *w);

/* CPUs of the body that runs on this worker. */
static inline int team_size(const struct worker *w)
{
	return team_of(w)->depth ? team_of(w)->size : 1;
}

/* This worker only. Is its CPU somebody else's? */
static inline bool team_has(const struct worker *w)
{
	/* [team.d] after is_away, or is_parking; pairs with [team.a]. */
	return unlikely(a_load(&team_of(w)->lent_to, seq_cst) != 0);
}

static inline bool team_is_away(const struct worker *w)
{
	return unlikely(a_load(&team_of(w)->is_away, relaxed) != 0);
}

/* This worker only, outside of bodies or in a join. */
void team_away(struct worker *w);

/* This worker only, in a join: until its CPU is its own. */
void team_rest(struct worker *w);

static inline void team_back(struct worker *w)
{
	/* [team.c] before we look whether we are lent; pairs with [team.b]. */
	a_store(&team_of(w)->is_away, 0, seq_cst);
}

#endif
