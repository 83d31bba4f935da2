/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/tick.h"

/*
 * Any worker keeps the time as well as another: not notify_any(), which asks
 * whose work it is.
 */
static bool wake_one(struct sched *s)
{
	int i;

	for (i = 0; i < s->nr_nodes; i++)
		if (park_notify(&s->nodes[i].park))
			return true;
	return false;
}

/* Busy workers look at the clock from now on. */
static void set_clocks(struct sched *s)
{
	_Atomic(uint32_t) *attn;
	int i;

	for (i = 0; i < s->nr_workers; i++) {
		attn = &s->workers[i].attn;
		/* [tick.b] after earliest; pairs with [tick.c]. */
		if (!(a_load(attn, seq_cst) & ATTN_CLOCK))
			a_or(attn, ATTN_CLOCK, relaxed);
	}
}

void sched_add_timer(struct sched *s, struct timer *t)
{
	if (!timers_add(&s->timers, t))
		return;
	set_clocks(s);
	if (timers_need(&s->timers))
		wake_one(s);
}

void sched_del_timer(struct sched *s, struct timer *t)
{
	timers_del(&s->timers, t);
}

bool worker_tick(struct worker *w)
{
	struct timers *ts = &w->sched->timers;

	if (!timers_are_empty(ts))
		return sched_tick(w->sched, w->executor->rt);
	/* [tick.c] before we look again; pairs with [tick.b]. */
	a_and(&w->attn, ~ATTN_CLOCK, seq_cst);
	/* [tick.d] after attn; pairs with [timers.a]. */
	if (a_load(&ts->earliest, seq_cst) != TIMERS_NONE)
		a_or(&w->attn, ATTN_CLOCK, relaxed);
	return false;
}

void worker_pass_time(struct worker *w)
{
	if (timers_need(&w->sched->timers) && wake_one(w->sched))
		worker_has_woken(w);
}
