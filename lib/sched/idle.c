/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/idle.h"

#include "base/clock.h"
#include "sched/sched.h"
#include "sched/sleep.h"
#include "sched/tick.h"
#include "trace/counters.h"

/* A round over all places, see mechanism.h. */
static bool look_once(struct worker *w, bool is_far, uint64_t *item)
{
	const struct mechanism_calls *c = &w->sched->calls;
	size_t i;

	w->idle.nr_rounds++;
	if (c->is_due(w))
		return c->take_due(w, item);
	for (i = 0; c->take[i]; i++)
		if (c->take[i](w, is_far, item))
			return true;
	return false;
}

/*
 * Mechanisms do something now and then while a worker spins: each when it is
 * idle for longer than at[i].
 */
static void spin_calls(struct worker *w, uint64_t idle, uint64_t *at)
{
	const struct mechanism_calls *c = &w->sched->calls;
	size_t i;

	for (i = 0; c->spin[i]; i++) {
		if (idle <= at[i])
			continue;
		c->spin[i](w, false);
		at[i] = idle + c->spin_ticks[i];
	}
}

static void last_spin_calls(struct worker *w)
{
	const struct mechanism_calls *c = &w->sched->calls;
	size_t i;

	for (i = 0; c->spin[i]; i++)
		c->spin[i](w, true);
}

/* Spins for so long, a pause between any two looks. True: an item. */
static bool spin_for(struct worker *w, uint64_t ticks, uint64_t *item)
{
	struct sched *s = w->sched;
	uint64_t start = clock_ticks(), idle = 0, far = sched_spin(s);
	uint64_t at[MAX_MECHANISMS];
	size_t i;

	if (sleep_has_to_go(w))
		return false;
	for (i = 0; s->calls.spin[i]; i++)
		at[i] = s->calls.spin_ticks[i];
	do {
		if (look_once(w, w->nr_near == 0 || policy_steal_far(idle, far),
			      item))
			return true;
		/* A task that a timer starts may come to our own deque. */
		if (worker_has_clock(w) && worker_tick(w) &&
		    worker_pop(w, item))
			return true;
		idle_pause(s->nr_workers);
		idle = clock_ticks() - start;
		ticks = idle_spins_for(w, ticks, idle + far);
		if (idle < ticks)
			spin_calls(w, idle, at);
	} while (idle < ticks && !sleep_is_over(w) && !sleep_has_to_go(w) &&
		 idle_spins_on(w));
	if (sleep_has_to_go(w))
		return false;
	last_spin_calls(w);
	return look_once(w, true, item);
}

bool idle_find(struct worker *w, uint64_t *item)
{
	struct sched *s = w->sched;
	uint64_t start = clock_ticks(), ticks = sched_spin(s), ns;
	bool found;
	size_t i;

	w->idle.since = start;
	w->idle.nr_rounds = 0;
	for (i = 0; s->calls.enter[i]; i++)
		s->calls.enter[i](w);
	park_spin(&w->node->park);
	while (!(found = spin_for(w, ticks, item)) && !sleep_is_over(w))
		ticks = sleep_once(w);
	ns = sched_ns(s, clock_ticks() - start);
	counter_add(w->executor->counters, COUNTER_IDLE_NS, ns);
	counter_add(w->executor->counters, COUNTER_STEAL_ROUNDS,
		    w->idle.nr_rounds);
	sleep_leave(w, found, found ? *item : 0);
	w->idle.wake_link = 0;
	for (i = 0; s->calls.leave[i]; i++)
		s->calls.leave[i](w, found);
	if (found && s->nr_worker_nodes > 1 && s->ops.leave)
		s->ops.leave(w);
	if (found)
		worker_pass_time(w);
	return found;
}
