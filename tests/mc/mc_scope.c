/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The ends of a scope: who waits is woken when the last member has left, not
 * before, each of several; a scope is freed once, after all that use it. No
 * sleep here ends by itself, but in the scenario of the timeout: a wake-up that
 * is lost is a deadlock.
 */
#include "scope/scope.h"

#include "mc.h"
#include "members.h"

static _Atomic(uint32_t) nr_users; /* of the handle to scope */

/* The last one out wakes both that wait. */
static void one_wakes_two(int id)
{
	if (id == 2) {
		leave(0);
		return;
	}
	await(id);
	mc_assert(told[id] == 0);
	mc_assert(plain_load(&work[0]) == 1);
}

static void two_leave(int id)
{
	if (id) {
		mc_assert(is_live(scope));
		leave(id - 1);
		return;
	}
	await(id);
	mc_assert(told[id] == 0);
	mc_assert(plain_load(&work[0]) == 1);
	mc_assert(plain_load(&work[1]) == 1);
}

/* The wait may or may not be for the one that comes. */
static void one_comes(int id)
{
	if (id == 0) {
		await(id);
		mc_assert(plain_load(&work[0]) == 1);
	} else if (id == 1) {
		leave(0);
	} else {
		enter(scope, 1);
		leave(1);
	}
}

/* Who finds a scope empty finds all above it empty as well. */
static void from_the_root_down(int id)
{
	if (id) {
		scope_leave(below, 1);
		return;
	}
	mc_assert(scope_wait(below, FOR_EVER) == 0);
	mc_assert(scope_wait(scope, 0) == 0);
	mc_assert(scope_wait(&root, 0) == 0);
}

static void end_below(void)
{
	is_empty(below);
	scope_put(below);
	end();
}

static void init_users(void)
{
	init_one();
	a_store(&nr_users, 2, relaxed);
}

/* Of those that wait the last puts the handle, while the member leaves. */
static void put_behind_a_wait(int id)
{
	if (id == 2) {
		leave(0);
		return;
	}
	await(id);
	mc_assert(told[id] == 0);
	if (a_sub(&nr_users, 1, acq_rel) == 1)
		scope_put(scope);
}

/* The last member, the time, and a wait that is told. */
static void deadline_at_the_end(int id)
{
	if (id == 0) {
		await(id);
		mc_assert(!told[id] || told[id] == -ETIME);
		mc_see(told[id] ? "late" : "in time");
		scope_put(scope);
	} else if (id == 1) {
		leave(0);
	} else {
		fire_timer(NULL);
	}
}

/* The time to wait is over, or the last member has left. */
static void time_is_up(int id)
{
	if (id == 1) {
		leave(0);
		return;
	}
	told[id] = scope_wait(scope, id ? FOR_EVER : 3 * SECOND / 2);
	mc_see(told[id] ? "timed out" : "in time");
	if (!told[id])
		mc_assert(plain_load(&work[0]) == 1);
	mc_assert(!id || !told[id]);
}

static const struct mc_scenario table[] = {
	ROW("one leaves, two wait", 3, 3, init_one, one_wakes_two, end, "woken",
	    "found empty"),
	ROW("one leaves the root, two wait", 3, 3, init_root_one, one_wakes_two,
	    end, "woken", "found empty"),
	ROW("two leave, one waits", 3, 3, init_two, two_leave, end, "woken",
	    "found empty"),
	ROW("two leave the root, one waits", 3, 3, init_root_two, two_leave,
	    end, "woken", "found empty"),
	ROW("one comes while one leaves", 3, 3, init_one, one_comes, end,
	    "woken", "found empty"),
	ROW("from the root down", 2, 3, init_below, from_the_root_down,
	    end_below, "woken", "found empty"),
	ROW("the handle is put behind a wait", 3, 3, init_users,
	    put_behind_a_wait, is_gone, NULL),
	ROW("the deadline at the end", 3, 3, init_deadline, deadline_at_the_end,
	    is_gone, "late", "in time"),
	{ .name = "the time to wait is over",
	  .nr_threads = 3,
	  .bound = 3,
	  .stale = 1,
	  .timeouts = 1,
	  .init = init_one,
	  .thread = time_is_up,
	  .final = end,
	  .must_see = { "timed out", "in time" } },
};

MC_MAIN(table)
