/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A busy worker looks at the clock while there are timers: its bit in attn is
 * set whenever one is left, however its clearing meets an addition. tick.c as
 * it is shipped, with a worker that never sleeps.
 */
#include "mc.h"
#include "sched/tick.h"

/* So far away that the real clock says nothing. */
#define LATE (INT64_MAX / 2)

static struct sched sched;
static struct sched_node node;
static struct worker worker;
static struct executor executor;
static struct timer timer;

/* Of idle.c, for a worker that was idle. */
void worker_has_woken(struct worker *w)
{
	(void)w;
	mc_fail("tick.c has called worker_has_woken");
}

/* The last timer has just gone. */
static void init(void)
{
	sched.workers = &worker;
	sched.nodes = &node;
	sched.nr_workers = sched.nr_regular = 1;
	sched.nr_nodes = sched.nr_worker_nodes = 1;
	park_init(&node.park);
	worker.sched = &sched;
	worker.executor = &executor;
	timers_init(&sched.timers);
	timer.end_ns = LATE;
	a_store(&worker.attn, ATTN_CLOCK, relaxed);
	mc_name(&worker.attn, "attn");
	mc_name(&sched.timers.earliest, "earliest");
}

static void added_beside_a_tick(int id)
{
	if (id == 0) {
		sched_add_timer(&sched, &timer);
		return;
	}
	worker_tick(&worker);
	if (!(a_load(&worker.attn, relaxed) & ATTN_CLOCK))
		mc_see("cleared");
}

static void still_looks(void)
{
	mc_assert(a_load(&worker.attn, relaxed) & ATTN_CLOCK);
}

static const struct mc_scenario table[] = {
	{ .name = "a timer is added while the last was gone",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = init,
	  .thread = added_beside_a_tick,
	  .final = still_looks,
	  .must_see = { "cleared" } },
};

MC_MAIN(table)
