/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/idle.h"

#include "base/clock.h"
#include "sched/help.h"
#include "sched/nap.h"
#include "sched/notify.h"
#include "sched/sched.h"
#include "sched/steal_request.h"
#include "sched/tick.h"
#include "trace/counters.h"
#include "trace/usdt.h"

/* A round over all places, see mechanism.h. */
static bool look_once(struct worker *w, bool is_far, uint64_t *item)
{
	const struct mechanism_calls *c = &w->sched->calls;
	size_t i;

	w->nr_rounds++;
	if (c->is_due(w))
		return c->take_due(w, item);
	for (i = 0; c->take[i]; i++)
		if (c->take[i](w, is_far, item))
			return true;
	return false;
}

/* After we have said that we sleep: is anything left that we may take? */
static unsigned work_left(struct worker *w)
{
	const struct mechanism_calls *c = &w->sched->calls;
	unsigned found = 0;
	size_t i;

	for (i = 0; c->has[i]; i++)
		if (!row_is_dropped(c->has_name[i]))
			found |= c->has[i](w);
	return found;
}

/* Work that another worker may take: not what is bound to a part. */
static unsigned public_for(struct worker *w)
{
	return work_left(w) & ~(1u << DEQUE_PART);
}

void idle_announce(struct worker *w)
{
	struct sched *s = w->sched;
	size_t call;
	int i;

	for (call = 0; s->calls.announce[call]; call++)
		s->calls.announce[call](w);
	park_announce(&w->node->park);
	for (i = 0; i < s->nr_workers - 1; i++)
		steal_request_send(&s->workers[w->victims[i]]);
}

static bool is_stopping(struct worker *w)
{
	/* [sched.stopping] after we said that we sleep; pairs with
	 * [sched.stop]. */
	return a_load(&w->sched->is_stopping, seq_cst) != 0 || help_is_over(w);
}

/* The kernel would not take all operations: it is asked again. */
static int64_t retry_nap(struct worker *w)
{
	return unlikely(w->io_waits) ? IO_RETRY_NS : -1;
}

/* The layer above: what idle workers do for others beside taking work. */
static int64_t duty_nap(struct worker *w)
{
	const struct sched *s = w->sched;

	return s->nr_worker_nodes > 1 && s->ops.nap ? s->ops.nap(w) : -1;
}

/*
 * Why a sleeper comes back by itself: mechanisms, the kernel, duties, which may
 * say 0, not at all, and timers.
 */
static int64_t nap_of(struct worker *w, int64_t timer_ns)
{
	const struct mechanism_calls *c = &w->sched->calls;
	int64_t ns = timer_ns;
	size_t i;

	for (i = 0; c->nap[i]; i++)
		ns = nap_min(ns, c->nap[i](w));
	return nap_min(nap_min(ns, retry_nap(w)), duty_nap(w));
}

/* Its CPU is somebody else's, or the one whose seat it had is back. */
static inline bool has_to_go(struct worker *w)
{
	return w->sched->calls.must_leave(w, true);
}

/* Spinner -> busy. True: nobody of the node looks for work any more. */
static bool leave_spinners(struct worker *w)
{
	if (!park_found(&w->node->park))
		return false;
	/* [urgent.look] after we left; pairs with [urgent.set]. */
	if (unlikely(a_load(&w->sched->has_urgent, seq_cst)))
		w->sched->ops.urgent(w->executor->rt);
	return true;
}

/* A worker without a CPU waits until it has one again. */
static void sit_out(struct worker *w)
{
	if (leave_spinners(w) && notify_has_sleeper(w->sched))
		worker_notify(w, public_for(w));
	w->sched->calls.stand_by(w);
	park_spin(&w->node->park);
}

/* Sleeps if there is still no work. True: its time was over. */
static bool sleep_or_retract(struct worker *w, int64_t ns)
{
	struct sched *s = w->sched;
	bool is_over;

	if (!idle_may_sleep(w) || has_to_go(w) || !ns) {
		park_retract(&w->node->park);
		return false;
	}
	counter_add(w->executor->counters, COUNTER_PARKS, 1);
	trace_event(w->executor->ring, EVENT_PARK, 0, 0);
	usdt_1(park, w->id);
	is_over = park_sleep_uncalled(&w->node->park, ns, &w->is_parking,
				      park_bits(w->cpu));
	if (!is_over)
		w->wake_link = wake_depth_take(&s->wakes);
	trace_event(w->executor->ring, EVENT_UNPARK, 0, 0);
	usdt_1(unpark, w->id);
	return is_over;
}

/*
 * Spinner on entry and on return. For how many ticks it is worth to spin then:
 * whoever slept its time has no reason to expect more than what it was for.
 */
static uint64_t sleep_once(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t ticks;
	int64_t armed, ns;
	size_t i;

	for (i = 0; s->calls.before_sleep[i]; i++)
		s->calls.before_sleep[i](w);
	ticks = sched_spin(s);
	if (has_to_go(w)) {
		sit_out(w);
	} else {
		worker_nap(w);
		idle_announce(w);
		ns = nap_of(w, timers_arm(&s->timers, &armed));
		if (sleep_or_retract(w, ns))
			ticks = 0;
		worker_rise(w);
		timers_disarm(&s->timers, armed);
	}
	for (i = 0; s->calls.after_wake[i]; i++)
		s->calls.after_wake[i](w);
	return ticks;
}

bool idle_may_sleep(struct worker *w)
{
	return !work_left(w) && !is_stopping(w);
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

	if (has_to_go(w))
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
	} while (idle < ticks && !is_stopping(w) && !has_to_go(w) &&
		 idle_spins_on(w));
	if (has_to_go(w))
		return false;
	last_spin_calls(w);
	return look_once(w, true, item);
}

bool idle_find(struct worker *w, uint64_t *item)
{
	struct sched *s = w->sched;
	uint64_t start = clock_ticks(), ticks = sched_spin(s), ns;
	bool found, is_last;
	size_t i;

	w->idle_since = start;
	w->nr_rounds = 0;
	for (i = 0; s->calls.enter[i]; i++)
		s->calls.enter[i](w);
	park_spin(&w->node->park);
	while (!(found = spin_for(w, ticks, item)) && !is_stopping(w))
		ticks = sleep_once(w);
	ns = sched_ns(s, clock_ticks() - start);
	counter_add(w->executor->counters, COUNTER_IDLE_NS, ns);
	counter_add(w->executor->counters, COUNTER_STEAL_ROUNDS, w->nr_rounds);
	/* On our way here we may have taken the token of one that sleeps on. */
	if (!found && !w->awaited)
		park_wake_all(&w->node->park);
	/* And have given up what one had asked for, whom we took for awake. */
	if (found && notify_has_sleeper(s))
		steal_request_send(w);
	/* The woken worker wakes the next ones, if there is more. */
	is_last = leave_spinners(w);
	if (notify_has_sleeper(s) && !(found && notify_tree(w, *item)) &&
	    is_last)
		worker_notify(w, public_for(w));
	w->wake_link = 0;
	for (i = 0; s->calls.leave[i]; i++)
		s->calls.leave[i](w, found);
	if (found && s->nr_worker_nodes > 1 && s->ops.leave)
		s->ops.leave(w);
	if (found)
		worker_pass_time(w);
	return found;
}
