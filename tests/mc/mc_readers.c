/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Readers of bytes: never two of them are told that they are the last, whoever
 * is told sees what all others read, and only where one is on the maker's
 * worker and one elsewhere may nobody be told.
 */
#include "mc.h"
#include "run/readers.h"

static struct readers readers;
static int bytes; /* read by all, written by the last */
static _Atomic(uint32_t) nr_told;
static uint32_t nr;

static void start(uint32_t nr_readers)
{
	nr = nr_readers;
	readers_reset(&readers);
	a_store(&nr_told, 0, relaxed);
	plain_store(&bytes, 7);
}

static void init_two(void)
{
	start(2);
}

static void init_three(void)
{
	start(3);
}

static void init_four(void)
{
	start(4);
}

static void leave(bool is_own)
{
	mc_assert(plain_load(&bytes) == 7);
	if (!readers_leave(&readers, nr, is_own))
		return;
	mc_see(is_own ? "the maker's worker is the last" : "another is");
	plain_store(&bytes, 0);
	a_add(&nr_told, 1, relaxed);
}

static void one_each(int id)
{
	leave(id == 0);
}

static void two_on_the_first(int id)
{
	leave(id == 0);
	if (id == 0)
		leave(true);
}

static void none_on_the_makers(int id)
{
	(void)id;
	leave(false);
}

static uint32_t left(void)
{
	return a_load(&readers.own, relaxed) +
	       (uint32_t)a_load(&readers.others, relaxed);
}

static void somebody_is_told(void)
{
	mc_assert(a_load(&nr_told, relaxed) == 1);
	mc_assert(left() == 0);
}

static void at_most_one_is_told(void)
{
	uint32_t told = a_load(&nr_told, relaxed);

	mc_assert(told < 2);
	mc_assert(left() == (told ? 0 : nr));
	if (!told)
		mc_see("nobody is");
}

static const struct mc_scenario table[] = {
	{ .name = "one on the maker's worker, one elsewhere",
	  .nr_threads = 2,
	  .bound = -1,
	  .init = init_two,
	  .thread = one_each,
	  .final = at_most_one_is_told,
	  .must_see = { "the maker's worker is the last", "another is",
			"nobody is" } },
	{ .name = "two there, one elsewhere",
	  .nr_threads = 2,
	  .bound = -1,
	  .init = init_three,
	  .thread = two_on_the_first,
	  .final = at_most_one_is_told,
	  .must_see = { "the maker's worker is the last", "another is",
			"nobody is" } },
	{ .name = "two there, two elsewhere",
	  .nr_threads = 3,
	  .bound = 3,
	  .init = init_four,
	  .thread = two_on_the_first,
	  .final = at_most_one_is_told,
	  .must_see = { "the maker's worker is the last", "another is" } },
	{ .name = "all elsewhere",
	  .nr_threads = 3,
	  .bound = -1,
	  .init = init_three,
	  .thread = none_on_the_makers,
	  .final = somebody_is_told,
	  .must_see = { "another is" } },
};

MC_MAIN(table)
