/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A worker without work: it looks near and far with a pace, then sleeps. */
#ifndef SCHED_IDLE_H
#define SCHED_IDLE_H

#include "sched/worker.h"

static inline void idle_pause(int nr_workers)
{
	int i;

	for (i = policy_pauses(nr_workers); i; i--)
		a_pause();
}

/* This worker only, between two looks: or are there enough that look? */
static inline bool idle_spins_on(const struct worker *w)
{
	const struct sched_node *n = w->node;
	uint64_t word;

	if (likely(n->nr_workers <= POLICY_SPINNERS))
		return true;
	word = a_load(&n->park.word, relaxed);
	return policy_spins_on(park_spinners(word), park_sleepers(word), w->id);
}

/*
 * This worker only: a completion that has come meanwhile, and has called no
 * more than a function, is followed by the next one as a task is by work. The
 * worker spins until it is idle for more then, else for ticks as before.
 */
static inline uint64_t idle_spins_for(struct worker *w, uint64_t ticks,
				      uint64_t more)
{
	if (likely(!w->idle.has_found))
		return ticks;
	w->idle.has_found = false;
	return more;
}

/* Looks for work, sleeping if there is none. False: the runtime stops. */
bool idle_find(struct worker *w, uint64_t *item);

#endif
