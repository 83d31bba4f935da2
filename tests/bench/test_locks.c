/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The loads of the table of lkdf bench policy: bodies of each lock, on each
 * way, run as often as there are tasks, by one worker and by two that meet.
 * Nothing is timed.
 */
#include "bench/locks.h"
#include "tests/tap.h"

#include <lkdf/lkdf.h>

#define NR_TASKS 31

static uint64_t bodies_of(struct lkdf *rt)
{
	uint64_t nr = 0;

	return lkdf_stat(rt, "lkdf.tasks", &nr) ? 0 : nr;
}

/* Tasks of a run; 0: as many as it was cut into. */
static uint64_t nr_tasks(enum lock_mode mode)
{
	switch (mode) {
	case MODE_JOINED:
		return NR_TASKS + 1;
	case MODE_GOES_ON:
		return 2 * NR_TASKS;
	case MODE_LOOP:
		return 0;
	default:
		return NR_TASKS;
	}
}

static bool has_run(struct lkdf *rt, enum lock_mode mode, unsigned times)
{
	uint64_t nr = nr_tasks(mode);

	return !nr || bodies_of(rt) == times * nr;
}

static bool runs_twice(enum lock_sort lock, enum lock_mode mode, int workers)
{
	struct lock_load l = { .mode = mode, .nr_tasks = NR_TASKS };
	bool good;

	locks_choose(lock);
	good = !lock_load_open(&l, workers, NULL) && lock_load_run(&l) >= 0 &&
	       has_run(l.rt, mode, 1) && lock_load_run(&l) >= 0 &&
	       has_run(l.rt, mode, 2);
	lock_load_close(&l);
	return good;
}

static void each_lock(enum lock_mode mode)
{
	int i;

	for (i = 0; i < NR_LOCKS; i++)
		ok(runs_twice((enum lock_sort)i, mode, 1) &&
			   runs_twice((enum lock_sort)i, mode, 2),
		   "%s, %s: each body once in each run", lock_names[i],
		   mode_names[mode]);
}

static void mixed_ones(void)
{
	struct lock_load l = { .mode = MODE_FRESH,
			       .nr_tasks = NR_TASKS,
			       .is_mixed = 1 };

	ok(!lock_load_open(&l, 2, NULL) && lock_load_run(&l) >= 0,
	   "a graph whose leaves meet nobody");
	is(bodies_of(l.rt), NR_TASKS, "has as many bodies");
	lock_load_close(&l);
}

int main(void)
{
	int mode;

	tap_start(120);
	ok(!locks_open(), "locks are made");
	for (mode = 0; mode < NR_MODES; mode++)
		each_lock((enum lock_mode)mode);
	mixed_ones();
	locks_close();
	return tap_end();
}
