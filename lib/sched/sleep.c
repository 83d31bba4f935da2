/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/sleep.h"

#include "sched/help.h"
#include "sched/nap.h"
#include "sched/notify.h"
#include "sched/phase.h"
#include "sched/steal_request.h"
#include "trace/counters.h"
#include "trace/usdt.h"

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

void sleep_announce(struct worker *w)
{
	struct sched *s = w->sched;
	int i;

	phase_announce(w);
	park_announce(&w->node->park);
	for (i = 0; i < s->nr_workers - 1; i++)
		steal_request_send(&s->workers[w->victims[i]]);
}

bool sleep_is_over(struct worker *w)
{
	/* [sched.stopping] after we said that we sleep; pairs with
	 * [sched.stop]. */
	return a_load(&w->sched->is_stopping, seq_cst) != 0 || help_is_over(w);
}

bool sleep_may(struct worker *w)
{
	return !work_left(w) && !sleep_is_over(w);
}

/* The kernel would not take all operations: it is asked again. */
static int64_t retry_nap(struct worker *w)
{
	return unlikely(w->io.waits) ? IO_RETRY_NS : -1;
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
	int64_t ns = phase_nap(w, timer_ns);

	return nap_min(nap_min(ns, retry_nap(w)), duty_nap(w));
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
	phase_stand_by(w);
	park_spin(&w->node->park);
}

/* Sleeps if there is still no work. True: its time was over. */
static bool sleep_or_retract(struct worker *w, int64_t ns)
{
	struct sched *s = w->sched;
	bool is_over;

	if (!sleep_may(w) || sleep_has_to_go(w) || !ns) {
		park_retract(&w->node->park);
		return false;
	}
	counter_add(w->executor->counters, COUNTER_PARKS, 1);
	trace_event(w->executor->ring, EVENT_PARK, 0, 0);
	usdt_1(park, w->id);
	is_over = park_sleep_uncalled(&w->node->park, ns, &w->is_parking,
				      park_bits(w->cpu));
	if (!is_over)
		w->idle.wake_link = wake_depth_take(&s->wakes);
	trace_event(w->executor->ring, EVENT_UNPARK, 0, 0);
	usdt_1(unpark, w->id);
	return is_over;
}

uint64_t sleep_once(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t ticks;
	int64_t armed, ns;

	phase_before_sleep(w);
	ticks = sched_spin(s);
	if (sleep_has_to_go(w)) {
		sit_out(w);
	} else {
		worker_nap(w);
		sleep_announce(w);
		ns = nap_of(w, timers_arm(&s->timers, &armed));
		if (sleep_or_retract(w, ns))
			ticks = 0;
		worker_rise(w);
		timers_disarm(&s->timers, armed);
	}
	phase_after_wake(w);
	return ticks;
}

void sleep_leave(struct worker *w, bool found, uint64_t item)
{
	struct sched *s = w->sched;
	bool is_last;

	/* On our way here we may have taken the token of one that sleeps on. */
	if (!found && !w->help.word)
		park_wake_all(&w->node->park);
	/* And have given up what one had asked for, whom we took for awake. */
	if (found && notify_has_sleeper(s))
		steal_request_send(w);
	/* The woken worker wakes the next ones, if there is more. */
	is_last = leave_spinners(w);
	if (notify_has_sleeper(s) && !(found && notify_tree(w, item)) &&
	    is_last)
		worker_notify(w, public_for(w));
}
