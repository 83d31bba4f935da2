/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The thread of option stall sleeps while nothing is open, and whoever submits
 * wakes it: core/watch.h as it is shipped, with a count in the root's place.
 */
#include "core/watch.h"
#include "mc.h"

static struct watch watch;
static _Atomic(uint32_t) nr_open;

static void init(void)
{
	a_store(&watch.word, 0, relaxed);
	a_store(&nr_open, 0, relaxed);
	mc_name(&watch.word, "word");
	mc_name(&nr_open, "nr_open");
}

static void submit(void)
{
	a_add(&nr_open, 1, relaxed);
	watch_opened(&watch);
}

/* As watch_main(): until something is open. */
static void wait_for_open(void)
{
	uint32_t word = watch_clear(&watch);

	while (!a_load(&nr_open, relaxed)) {
		mc_see("sleeps");
		futex_wait(&watch.word, word, -1);
		word = watch_clear(&watch);
	}
	mc_see("awake");
}

static void submitted_beside(int id)
{
	if (id == 0)
		wait_for_open();
	else
		submit();
}

/* It is there when nothing is open, and open again later. */
static void begin_watching(void)
{
	init();
	a_store(&watch.word, WATCH_OPEN, relaxed);
}

static const struct mc_scenario table[] = {
	{ .name = "something is submitted while the watcher looks",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = 0,
	  .init = init,
	  .thread = submitted_beside,
	  .must_see = { "sleeps", "awake" } },
	{ .name = "two submit while the watcher still watches",
	  .nr_threads = 3,
	  .bound = -1,
	  .timeouts = 0,
	  .init = begin_watching,
	  .thread = submitted_beside,
	  .must_see = { "sleeps", "awake" } },
};

MC_MAIN(table)
