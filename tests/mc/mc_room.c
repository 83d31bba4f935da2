/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Room in a scope: who waits for some is woken when there is enough, or when
 * the scope is cancelled; never does more live in it than may. A wake-up that
 * is lost is a deadlock, for no sleep here ends by itself, but in the scenario
 * of the patience.
 */
#include "base/futex.h"
#include "core/waits.h"
#include "scope/deadline.h"
#include "scope/room.h"

#include "mc.h"
#include "thread_below.h"

#define MANY 8 /* a quarter of it is two, see ROOM_MANY in mc.mk */

static struct lkdf runtime;
static struct lkdf_scope scope;
static int live; /* plain: what lives in a scope for one */

int scope_refuse(const struct lkdf_scope *s)
{
	return a_load(&s->cancel_err, relaxed) ? -ECANCELED : 0;
}

void deadline_sleep(struct lkdf *rt, _Atomic(uint32_t) *word, uint32_t expect,
		    int64_t timeout_ns)
{
	(void)rt;
	mc_see(futex_wait(word, expect, timeout_ns) ? "timed out" : "woken");
}

/* Nobody records. */
void wait_tell_room(struct lkdf *r, const char *place, uint64_t fits,
		    uint64_t begin)
{
	(void)r;
	(void)place;
	(void)fits;
	(void)begin;
	mc_fail("room.c has told a wait");
}

static void init_with(uint64_t max_tasks)
{
	scope.rt = &runtime;
	scope.is_limited = true;
	scope.max_tasks = max_tasks;
	a_store(&scope.nr_taken, max_tasks, relaxed);
	a_store(&scope.room_asked, 0, relaxed);
	a_store(&scope.room_epoch, 0, relaxed);
	a_store(&scope.cancel_err, 0, relaxed);
	mc_name(&scope.nr_taken, "nr_taken");
	mc_name(&scope.room_asked, "room_asked");
	mc_name(&scope.room_epoch, "room_epoch");
	plain_store(&live, 0);
}

static void init_one(void)
{
	init_with(1);
}

static void init_two(void)
{
	init_with(2);
}

static void init_many(void)
{
	init_with(MANY);
}

static void take(uint32_t nr)
{
	mc_assert(room_take(&scope, nr, true) == 0);
	mc_assert(a_load(&scope.nr_taken, relaxed) <= scope.max_tasks);
}

static void all_is_given(void)
{
	mc_assert(a_load(&scope.nr_taken, relaxed) == 0);
}

/* One lives in it; two others wait for its room, one after the other. */
static void one_by_one(int id)
{
	if (id) {
		take(1);
		plain_store(&live, plain_load(&live) + 1);
		mc_assert(plain_load(&live) == 1);
		plain_store(&live, 0);
	}
	room_give(&scope, 1);
}

/* Two wait, one of them for twice the room. */
static void unlike(int id)
{
	if (!id) {
		room_give(&scope, 1);
		room_give(&scope, 1);
		return;
	}
	take((uint32_t)id);
	room_give(&scope, (uint32_t)id);
}

/* The second that leaves makes a quarter. */
static void a_quarter(int id)
{
	if (id < 2)
		room_give(&scope, 1);
	else
		take(1);
}

static void is_one_less(void)
{
	mc_assert(a_load(&scope.nr_taken, relaxed) == MANY - 1);
}

/* No quarter will ever be free. */
static void less_than_a_quarter(int id)
{
	if (id)
		take(1);
	else
		room_give(&scope, 1);
}

static void is_full(void)
{
	mc_assert(a_load(&scope.nr_taken, relaxed) == MANY);
}

static void is_cancelled(int id)
{
	if (id) {
		mc_assert(room_take(&scope, 1, true) == -ECANCELED);
	} else {
		/* As scope_cancel(). */
		a_store(&scope.cancel_err, -EINTR, seq_cst);
		room_wake(&scope);
	}
}

static const struct mc_scenario table[] = {
	{ .name = "one gives, two wait for it",
	  .nr_threads = 3,
	  .bound = 3,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init_one,
	  .thread = one_by_one,
	  .final = all_is_given,
	  .must_see = { "woken" } },
	{ .name = "one waits for one, one for two",
	  .nr_threads = 3,
	  .bound = 3,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init_two,
	  .thread = unlike,
	  .final = all_is_given,
	  .must_see = { "woken" } },
	{ .name = "a quarter wakes",
	  .nr_threads = 3,
	  .bound = 3,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init_many,
	  .thread = a_quarter,
	  .final = is_one_less,
	  .must_see = { "woken" } },
	{ .name = "patience ends",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = 1,
	  .init = init_many,
	  .thread = less_than_a_quarter,
	  .final = is_full,
	  .must_see = { "timed out" } },
	{ .name = "a cancel wakes all",
	  .nr_threads = 3,
	  .bound = 3,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init_one,
	  .thread = is_cancelled,
	  .must_see = { "woken" } },
};

MC_MAIN(table)
