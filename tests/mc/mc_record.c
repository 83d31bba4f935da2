/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counters that re-arm themselves: exactly one arriver finds the task ready,
 * it sees what all predecessors wrote, a dead input is never overlooked, and
 * the next run finds the counter as the first did.
 */
#include "graph/record.h"
#include "mc.h"

static struct rec rec;
static int wrote[3]; /* plain: the counter must order it */
static int nr_ready, nr_dead; /* plain too: only the last arriver writes */
static _Atomic(uint32_t) remaining, run_nr;

static void init(void)
{
	int i;

	rec.nr_in = 3;
	rec_rearm(&rec, 3);
	a_store(&remaining, 3, relaxed);
	a_store(&run_nr, 0, relaxed);
	for (i = 0; i < 3; i++)
		plain_store(&wrote[i], 0);
	plain_store(&nr_ready, 0);
	plain_store(&nr_dead, 0);
}

static void fire(int nr_rounds)
{
	int i;

	rec_rearm(&rec, rec.nr_in);
	for (i = 0; i < 3; i++)
		mc_assert(plain_load(&wrote[i]) == nr_rounds);
	plain_store(&nr_ready, plain_load(&nr_ready) + 1);
}

static void arrive_once(int id)
{
	plain_store(&wrote[id], 1);
	if (rec_arrive(&rec) == ARRIVAL_LIVE)
		fire(1);
}

static void ready_once(void)
{
	mc_assert(plain_load(&nr_ready) == 1);
	mc_assert(a_load(&rec.pending, relaxed) == 3);
}

static void one_is_dead(int id)
{
	enum arrival a;
	int i;

	plain_store(&wrote[id], 1);
	a = id == 1 ? rec_arrive_dead(&rec) : rec_arrive(&rec);
	mc_assert(a != ARRIVAL_LIVE);
	if (a == ARRIVAL_DEAD) {
		for (i = 0; i < 3; i++)
			mc_assert(plain_load(&wrote[i]) == 1);
		rec_rearm(&rec, rec.nr_in);
		plain_store(&nr_dead, plain_load(&nr_dead) + 1);
	}
}

static void dead_once(void)
{
	mc_assert(plain_load(&nr_dead) == 1);
	mc_assert(a_load(&rec.pending, relaxed) == 3);
}

/* Two runs: the second starts when the frame says that the first has ended. */
static void run_twice(int id)
{
	uint32_t r;

	for (r = 0; r < 2; r++) {
		while (a_load(&run_nr, acquire) != r)
			a_pause();
		plain_store(&wrote[id], (int)r + 1);
		if (rec_arrive(&rec) == ARRIVAL_LIVE)
			fire((int)r + 1);
		/* As frame_resolved(). */
		if (a_sub(&remaining, 1, acq_rel) == 1) {
			a_store(&remaining, 3, relaxed);
			a_store(&run_nr, r + 1, release);
		}
	}
}

static void ready_twice(void)
{
	mc_assert(plain_load(&nr_ready) == 2);
	mc_assert(a_load(&rec.pending, relaxed) == 3);
}

static const struct mc_scenario table[] = {
	{ .name = "three arrive, one fires",
	  .nr_threads = 3,
	  .bound = -1,
	  .init = init,
	  .thread = arrive_once,
	  .final = ready_once },
	{ .name = "a dead input is seen",
	  .nr_threads = 3,
	  .bound = -1,
	  .init = init,
	  .thread = one_is_dead,
	  .final = dead_once },
	{ .name = "two runs, re-armed between",
	  .nr_threads = 3,
	  .bound = 1,
	  .init = init,
	  .thread = run_twice,
	  .final = ready_twice },
};

MC_MAIN(table)
