/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Is the checker right about sleeping, waking, spinning and time? */
#include "base/futex.h"

#include "mc.h"

#include <errno.h>

static _Atomic(uint32_t) x, y, z;

static void init(void)
{
	a_store(&x, 0, relaxed);
	a_store(&y, 0, relaxed);
	a_store(&z, 0, relaxed);
	mc_name(&x, "x");
	mc_name(&y, "y");
	mc_name(&z, "z");
}

/* Says it sleeps after it looked: the wake-up goes by in between. */
static void lost_wakeup(int id)
{
	if (id == 0) {
		a_store(&x, 1, seq_cst);
		if (a_load(&y, seq_cst))
			futex_wake(&z, 1);
	} else if (!a_load(&x, seq_cst)) {
		a_store(&y, 1, seq_cst);
		futex_wait(&z, 0, -1);
	}
}

/* As above in the right order, but seen by nobody in time. */
static void weak_wakeup(int id)
{
	if (id == 0) {
		a_store(&x, 1, release);
		if (a_load(&y, acquire)) {
			a_store(&z, 1, relaxed);
			futex_wake(&z, 1);
		}
	} else {
		a_store(&y, 1, release);
		if (!a_load(&x, acquire))
			futex_wait(&z, 0, -1);
	}
}

static void right_wakeup(int id)
{
	if (id == 0) {
		a_store(&x, 1, seq_cst);
		if (a_load(&y, seq_cst)) {
			a_store(&z, 1, relaxed);
			futex_wake(&z, 1);
		}
	} else {
		a_store(&y, 1, seq_cst);
		if (!a_load(&x, seq_cst)) {
			mc_see("sleeps");
			futex_wait(&z, 0, -1);
		}
	}
}

static void sleep_timed(int id)
{
	if (id == 0) {
		a_store(&z, 1, relaxed);
		futex_wake(&z, 1);
	} else if (futex_wait(&z, 0, 1000) == -ETIMEDOUT) {
		mc_see("timed out");
	} else {
		mc_see("woken");
	}
}

static void spin_for_ever(int id)
{
	if (id == 0)
		a_store(&y, 1, relaxed);
	else
		while (!a_load(&x, relaxed))
			a_pause();
}

static void spin_until(int id)
{
	if (id == 0)
		a_store(&x, 1, relaxed);
	else
		while (!a_load(&x, relaxed))
			a_pause();
}

#define ROW(text, n, f) \
	.name = text, .nr_threads = n, .bound = -1, .init = init, .thread = f

static const struct mc_scenario table[] = {
	{ ROW("a lost wake-up is found", 2, lost_wakeup), .timeouts = -1,
	  .fails = "deadlock" },
	{ ROW("a wake-up lost in a store buffer is found", 2, weak_wakeup),
	  .timeouts = -1, .fails = "deadlock" },
	{ ROW("a right wake-up passes", 2, right_wakeup), .timeouts = -1,
	  .must_see = { "sleeps" } },
	{ ROW("a sleep ends by time or wake-up", 2, sleep_timed), .timeouts = 1,
	  .must_see = { "timed out", "woken" } },
	{ ROW("spinning for nothing is found", 2, spin_for_ever),
	  .fails = "deadlock" },
	{ ROW("spinning for a store ends", 2, spin_until) },
};

MC_MAIN(table)
