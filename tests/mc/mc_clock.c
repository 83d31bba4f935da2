/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Timers and sleeping workers: while there is a time, somebody sleeps to it,
 * or wakes and sees it. Who sleeps for ever while nobody keeps the time shows
 * as a deadlock. The clock of the test is the end of a timed sleep: it says
 * that the time it was armed to is over.
 */
#include "mc.h"
#include "sched/park.h"
#include "sched/timers.h"

#include <errno.h>

/* So far away that the real clock says nothing. */
#define EARLY (INT64_MAX / 4)
#define LATE (INT64_MAX / 2)
#define FIRST (EARLY - 1) /* is deleted */

static struct park park;
static struct timers timers;
static struct timer first, early, late;
static _Atomic(uint32_t) is_fired, nr_work;

static void init(void)
{
	park_init(&park);
	timers_init(&timers);
	early.end_ns = EARLY;
	late.end_ns = LATE;
	first.end_ns = FIRST;
	a_store(&is_fired, 0, relaxed);
	a_store(&nr_work, 0, relaxed);
	mc_name(&park.word, "park");
	mc_name(&timers.earliest, "earliest");
	mc_name(&timers.armed, "armed");
}

static void init_with_late(void)
{
	init();
	timers_add(&timers, &late);
}

static void init_with_first(void)
{
	init();
	timers_add(&timers, &first);
}

static void init_with_early(void)
{
	init();
	timers_add(&timers, &early);
}

/* As sched_add_timer(). */
static void add_early(void)
{
	if (timers_add(&timers, &early) && timers_need(&timers) &&
	    park_notify(&park))
		mc_see("woken");
}

/* As worker_pass_time(). */
static void turn_busy(void)
{
	park_found(&park);
	if (timers_need(&timers) && park_notify(&park))
		mc_see("passed on");
}

static bool is_over(void)
{
	return a_load(&is_fired, seq_cst) != 0;
}

/* Sleeps once; the early time is over when it ends. */
static void sleep_once(void)
{
	int64_t mine, left;
	int rc;

	park_announce(&park);
	left = timers_arm(&timers, &mine);
	if (is_over() || a_load(&nr_work, seq_cst)) {
		park_retract(&park);
		timers_disarm(&timers, mine);
		return;
	}
	/* Nobody lives until the late one. */
	rc = park_sleep(&park, mine <= EARLY ? left : -1);
	timers_disarm(&timers, mine);
	if (rc != -ETIMEDOUT || mine != EARLY)
		return;
	mc_see("in time");
	a_store(&is_fired, 1, seq_cst);
	park_wake_all(&park);
}

/* An idle worker, until the time is over. */
static void idle(void)
{
	park_spin(&park);
	while (!is_over())
		sleep_once();
	park_found(&park);
	/* We may have taken the token of one that sleeps on. */
	park_wake_all(&park);
}

static void added_beside_sleepers(int id)
{
	if (id)
		idle();
	else
		add_early();
}

/* One who is about to find work counts as looking until it says so. */
static void added_beside_a_spinner(int id)
{
	if (id == 0) {
		add_early();
	} else if (id == 1) {
		park_spin(&park);
		turn_busy();
	} else {
		idle();
	}
}

/* Work comes for one of two; the other keeps the time. */
static void work_comes_too(int id)
{
	uint32_t one = 1;

	if (id == 0) {
		a_store(&nr_work, 1, seq_cst);
		park_notify(&park);
		return;
	}
	park_spin(&park);
	while (!is_over()) {
		one = 1;
		if (a_cas(&nr_work, &one, 0, acq_rel, relaxed)) {
			turn_busy();
			return;
		}
		sleep_once();
	}
	park_found(&park);
	park_wake_all(&park);
}

/* Who slept to a time that is no more says so before it turns busy. */
static void another_one_instead(int id)
{
	work_comes_too(id);
	if (id)
		return;
	timers_del(&timers, &first);
	add_early();
}

static void time_was_kept(void)
{
	uint64_t word = a_load(&park.word, relaxed);

	mc_assert(a_load(&is_fired, relaxed) == 1);
	mc_assert(a_load(&timers.armed, relaxed) == TIMERS_NONE);
	mc_assert(word == 0);
}

#define ROW(text, nr, b, before, f, ...)                                \
	{                                                               \
		.name = text, .nr_threads = nr, .bound = b, .stale = 1, \
		.timeouts = 0, .init = before, .thread = f,             \
		.final = time_was_kept, .must_see = {                   \
			"in time",                                      \
			__VA_ARGS__                                     \
		}                                                       \
	}

static const struct mc_scenario table[] = {
	ROW("a timer is added while one goes to sleep", 2, -1, init,
	    added_beside_sleepers, "woken"),
	ROW("a timer is added while two go to sleep", 3, 2, init,
	    added_beside_sleepers, "woken"),
	ROW("an earlier one is added", 3, 2, init_with_late,
	    added_beside_sleepers, "woken"),
	ROW("a spinner turns busy", 3, 2, init, added_beside_a_spinner,
	    "passed on"),
	ROW("who keeps the time gets work", 3, 2, init_with_early,
	    work_comes_too, "passed on"),
	ROW("another one instead of it", 3, 2, init_with_first,
	    another_one_instead, "passed on"),
};

MC_MAIN(table)
