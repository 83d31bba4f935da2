/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The lock: one holder at a time, whose number the word has, who sees what the
 * last one wrote, and nobody who waits sleeps for ever. It is built to spin one
 * round only: who waits for a change in every round never comes to sleep in the
 * model.
 */
#include "base/lock.h"
#include "mc.h"

static struct lock lock;
static int inside, sum;
static _Atomic(uint32_t) nr_done;

static void init(void)
{
	a_store(&lock.word, 0, relaxed);
	a_store(&nr_done, 0, relaxed);
	plain_store(&inside, 0);
	plain_store(&sum, 0);
}

static void section(void)
{
	lock_take(&lock);
	mc_assert((a_load(&lock.word, relaxed) & FUTEX_TID_MASK) ==
		  lock_owner());
	mc_assert(!plain_load(&inside));
	plain_store(&inside, 1);
	plain_store(&sum, plain_load(&sum) + 1);
	mc_assert(plain_load(&inside));
	plain_store(&inside, 0);
	lock_give(&lock);
}

static void once(int id)
{
	(void)id;
	section();
	mc_see("done");
}

static void twice(int id)
{
	(void)id;
	section();
	section();
	mc_see("done");
}

static void sum_is_two(void)
{
	mc_assert(plain_load(&sum) == 2);
	mc_assert(a_load(&lock.word, relaxed) == 0);
}

static void sum_is_three(void)
{
	mc_assert(plain_load(&sum) == 3);
	mc_assert(a_load(&lock.word, relaxed) == 0);
}

static void sum_is_four(void)
{
	mc_assert(plain_load(&sum) == 4);
	mc_assert(a_load(&lock.word, relaxed) == 0);
}

static const struct mc_scenario table[] = {
	{ .name = "two take it once",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = init,
	  .thread = once,
	  .final = sum_is_two,
	  .must_see = { "done" } },
	{ .name = "two take it twice",
	  .nr_threads = 2,
	  .bound = 4,
	  .init = init,
	  .thread = twice,
	  .final = sum_is_four,
	  .must_see = { "done" } },
	{ .name = "three take it once",
	  .nr_threads = 3,
	  .bound = 3,
	  .init = init,
	  .thread = once,
	  .final = sum_is_three,
	  .must_see = { "done" } },
	{ .name = "a sleep may end for no reason",
	  .nr_threads = 2,
	  .bound = 4,
	  .spurious = 1,
	  .init = init,
	  .thread = twice,
	  .final = sum_is_four,
	  .must_see = { "done" } },
};

MC_MAIN(table)
