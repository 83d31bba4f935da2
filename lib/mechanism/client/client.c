/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/client/client.h"

#include "base/clock.h"
#include "sched/sleep.h"

/* An idle worker that has spun for so long gives its CPU to a client. */
#define ASIDE_NS 4000

/* So long a CPU that others keep is left alone. */
#define CROWDED_NS 10000000

static int open_client(struct sched *s, const struct sched_setup *a)
{
	(void)a;
	client_in(s)->crowded_ticks =
		(uint64_t)CROWDED_NS * s->ticks_per_1024ns / 1024;
	return 0;
}

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
	    start - client_of(w)->crowded_at < client_in(s)->crowded_ticks)
		return;
	sleep_announce(w);
	if (sleep_may(w)) {
		client_forget(s);
		sched_yield();
		if (clock_ticks() - start > s->wake_ticks &&
		    !client_was_here(s))
			client_of(w)->crowded_at = start;
	}
	park_retract(&w->node->park);
}

const struct mechanism client_mechanism = {
	.name = "client",
	.of_worker = MECHANISM_DATA(struct client_worker),
	.of_sched = MECHANISM_DATA(struct client_sched),
	.open = open_client,
	.spin = step_aside,
	.spin_ns = ASIDE_NS,
};
