/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The transitions of mechanisms: a debug build aborts an engine that leaves out
 * a call or makes it in another phase, and a row that is not whole. This file
 * has the engine's header as a debug build has it, in any build.
 */
#ifndef LKDF_DEBUG
#define LKDF_DEBUG
#define check_failed test_check_failed
#define HAS_OWN_CHECK
#endif

#include "sched/phase.h"
#include "tests/tap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HAS_OWN_CHECK
_Noreturn void check_failed(const char *cond, const char *file, int line)
{
	dprintf(2, "# %s:%d: %s\n", file, line, cond);
	abort();
}
#endif

static struct sched s;
static struct worker w;
static int nr_calls;
static uint64_t taken;
static int64_t nap_ns;

static bool is_free(const struct worker *v)
{
	(void)v;
	return false;
}

static bool take(struct worker *v, bool is_far, uint64_t *item)
{
	(void)v;
	(void)is_far;
	*item = taken;
	return true;
}

static unsigned has_none(struct worker *v)
{
	(void)v;
	return 0;
}

static int64_t nap(struct worker *v)
{
	(void)v;
	return nap_ns;
}

static void count(struct worker *v)
{
	(void)v;
	nr_calls++;
}

static void count_leave(struct worker *v, bool has_found)
{
	(void)v;
	(void)has_found;
	nr_calls++;
}

static void start(void)
{
	memset(&s, 0, sizeof(s));
	memset((void *)&w, 0, sizeof(w));
	w.sched = &s;
	s.calls.is_due = is_free;
	s.calls.take[0] = take;
	s.calls.enter[0] = s.calls.before_sleep[0] = count;
	s.calls.announce[0] = s.calls.after_wake[0] = count;
	s.calls.stand_by = count;
	s.calls.nap[0] = nap;
	s.calls.leave[0] = count_leave;
	nr_calls = 0;
	taken = 1;
	nap_ns = -1;
}

/* ---- as it should be ----------------------------------------------------- */

static void finds_at_once(void)
{
	uint64_t item;

	phase_enter(&w);
	phase_take(&w, false, &item);
	phase_leave(&w, true);
}

static void sleeps_before(void)
{
	uint64_t item;

	phase_stand_by(&w);
	phase_enter(&w);
	phase_announce(&w);
	phase_before_sleep(&w);
	phase_stand_by(&w);
	phase_announce(&w);
	phase_nap(&w, -1);
	phase_after_wake(&w);
	phase_take(&w, true, &item);
	phase_leave(&w, true);
}

static void is_told_to_stop(void)
{
	phase_enter(&w);
	phase_before_sleep(&w);
	phase_after_wake(&w);
	phase_leave(&w, false);
}

/* ---- planted ------------------------------------------------------------- */

static void no_after_wake(void)
{
	phase_enter(&w);
	phase_before_sleep(&w);
	phase_leave(&w, false);
}

static void sleeps_twice(void)
{
	phase_enter(&w);
	phase_before_sleep(&w);
	phase_before_sleep(&w);
}

static void wakes_without_sleep(void)
{
	phase_enter(&w);
	phase_after_wake(&w);
}

static void found_without_take(void)
{
	phase_enter(&w);
	phase_leave(&w, true);
}

static void take_without_found(void)
{
	uint64_t item;

	phase_enter(&w);
	phase_take(&w, false, &item);
	phase_leave(&w, false);
}

static void takes_twice(void)
{
	uint64_t item;

	phase_enter(&w);
	phase_take(&w, false, &item);
	phase_take(&w, false, &item);
}

static void takes_in_its_sleep(void)
{
	uint64_t item;

	phase_enter(&w);
	phase_before_sleep(&w);
	phase_take(&w, false, &item);
}

static void takes_nothing(void)
{
	uint64_t item;

	taken = 0;
	phase_enter(&w);
	phase_take(&w, false, &item);
}

static void no_leave(void)
{
	uint64_t item;

	phase_enter(&w);
	phase_take(&w, false, &item);
	phase_enter(&w);
}

static void announces_beside_bodies(void)
{
	phase_announce(&w);
}

static void naps_awake(void)
{
	phase_enter(&w);
	phase_nap(&w, -1);
}

static void naps_for_less_than_ever(void)
{
	nap_ns = -2;
	phase_enter(&w);
	phase_before_sleep(&w);
	phase_nap(&w, -1);
}

static void stands_by_while_it_looks(void)
{
	phase_enter(&w);
	phase_stand_by(&w);
}

static void row_without_has(void)
{
	phase_check_row(&(struct mechanism){ .take = take });
}

static void row_without_after_wake(void)
{
	phase_check_row(&(struct mechanism){ .before_sleep = count });
}

static bool take_due(struct worker *v, uint64_t *item)
{
	*item = taken;
	return v != NULL;
}

static enum keeping keeps_alone(const struct worker *v)
{
	(void)v;
	return KEEPS_ALONE;
}

static const struct mechanism due = { .is_due = is_free, .take_due = take_due };
static const struct mechanism keeps = { .keeps = keeps_alone };
static const struct mechanism enters = { .enter = count };

static void two_rows_are_due(void)
{
	phase_check_alone((const struct mechanism *[]){ &due, &enters, &due },
			  2);
}

static void two_rows_keep(void)
{
	phase_check_alone((const struct mechanism *[]){ &keeps, &keeps }, 1);
}

static void row_without_stand_by(void)
{
	phase_check_row(&(struct mechanism){ .stand_by = count });
}

/* The signal that ends a child which does that; 0: none. */
static int end_of(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		signal(SIGABRT, SIG_DFL);
		fn();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static const struct {
	const char *what;
	void (*fn)(void);
} planted[] = {
	{ "before_sleep without after_wake", no_after_wake },
	{ "a sleep in a sleep", sleeps_twice },
	{ "after_wake without before_sleep", wakes_without_sleep },
	{ "found without take", found_without_take },
	{ "take without found", take_without_found },
	{ "a second take", takes_twice },
	{ "a take of one that sleeps", takes_in_its_sleep },
	{ "a take of no item", takes_nothing },
	{ "enter without leave", no_leave },
	{ "announce of one that does not look", announces_beside_bodies },
	{ "a nap of one that is awake", naps_awake },
	{ "a nap below -1", naps_for_less_than_ever },
	{ "stand_by of one that looks", stands_by_while_it_looks },
	{ "a row with take alone", row_without_has },
	{ "a row with before_sleep alone", row_without_after_wake },
	{ "a row with stand_by alone", row_without_stand_by },
	{ "two rows that say whether a worker is due", two_rows_are_due },
	{ "two rows that keep work", two_rows_keep },
};

static void right_ways_pass(void)
{
	start();
	finds_at_once();
	is(nr_calls, 2, "a worker finds work: enter and leave");
	is(w.idle.phase, PHASE_BUSY, "and is busy");
	start();
	sleeps_before();
	is(nr_calls, 8, "it sleeps before: all calls came");
	is(w.idle.phase, PHASE_BUSY, "and is busy");
	start();
	is_told_to_stop();
	is(w.idle.phase, PHASE_BUSY, "it is told to stop");
	phase_check_alone((const struct mechanism *[]){ &enters, &enters, &due,
							&keeps },
			  3);
	phase_check_row(&(struct mechanism){ .take = take,
					     .has = has_none,
					     .before_sleep = count,
					     .after_wake = count });
}

int main(void)
{
	size_t i;

	tap_start(60);
	right_ways_pass();
	for (i = 0; i < ARRAY_SIZE(planted); i++) {
		start();
		is(end_of(planted[i].fn), SIGABRT, "%s is aborted",
		   planted[i].what);
	}
	return tap_end();
}
