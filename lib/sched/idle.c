/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/idle.h"

#include "base/clock.h"
#include "sched/phase.h"
#include "sched/sleep.h"
#include "sched/tick.h"
#include "trace/counters.h"

static bool look_once(struct worker *w, bool is_far, uint64_t *item)
{
	w->idle.nr_rounds++;
	return phase_take(w, is_far, item);
}

/* A task that a timer starts may come to our own deque. */
static bool look_at_clock(struct worker *w, uint64_t *item)
{
	if (!worker_has_clock(w) || !worker_tick(w) || !worker_pop(w, item))
		return false;
	phase_move(w, PHASE_TOOK);
	return true;
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
			      item) ||
		    look_at_clock(w, item))
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

	w->idle.since = start;
	w->idle.nr_rounds = 0;
	phase_enter(w);
	park_spin(&w->node->park);
	while (!(found = spin_for(w, ticks, item)) && !sleep_is_over(w))
		ticks = sleep_once(w);
	ns = sched_ns(s, clock_ticks() - start);
	counter_add(w->executor->counters, COUNTER_IDLE_NS, ns);
	counter_add(w->executor->counters, COUNTER_STEAL_ROUNDS,
		    w->idle.nr_rounds);
	sleep_leave(w, found, found ? *item : 0);
	w->idle.wake_link = 0;
	phase_leave(w, found);
	if (found && s->nr_worker_nodes > 1 && s->ops.leave)
		s->ops.leave(w);
	if (found)
		worker_pass_time(w);
	return found;
}
