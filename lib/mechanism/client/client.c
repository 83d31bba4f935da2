/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/client/client.h"

#include "base/clock.h"
#include "sched/idle.h"

/* An idle worker that has spun for so long gives its CPU to a client. */
#define ASIDE_NS 4000

/*
 * Where a thread that submits wants our CPU it has it for as long as we find
 * nothing; it may keep it for milliseconds, so meanwhile no waker counts on us.
 * If it was somebody else who has kept it we do not step aside for a while.
 */
static void step_aside(struct worker *w, bool is_last)
{
	struct sched *s = w->sched;
	uint64_t start = clock_ticks();

	if (is_last || !client_is_here(s) ||
	    start - w->crowded_at < s->crowded_ticks)
		return;
	idle_announce(w);
	if (idle_may_sleep(w)) {
		client_forget(s);
		sched_yield();
		if (clock_ticks() - start > s->wake_ticks &&
		    !client_was_here(s))
			w->crowded_at = start;
	}
	park_retract(&w->node->park);
}

const struct mechanism client_mechanism = {
	.name = "client",
	.spin = step_aside,
	.spin_ns = ASIDE_NS,
};
