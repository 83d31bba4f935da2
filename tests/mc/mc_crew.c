/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The crew of a loop: each unit runs once, the leader goes on when all members
 * are out and has seen what they did, no member is in a loop that is over, and
 * a leader that sleeps is woken.
 */
#include "base/futex.h"
#include "mc.h"
#include "mechanism/crew/crew.h"

#define NR_WORKERS 2
#define MAX_UNITS 4

static struct crew crew;
static struct crew_seat seat[NR_WORKERS + 1];
static struct crew_group group[1];

/* Of one loop: gone when it is over. */
struct work {
	int units[MAX_UNITS]; /* plain: the crew orders it */
};

static void init(void)
{
	int i;

	crew.seat = seat;
	crew.group = group;
	crew.nr_seats = NR_WORKERS + 1;
	crew.nr_groups = 1;
	a_store(&crew.state, CREW_FREE, relaxed);
	a_store(&crew.leader, NR_WORKERS, relaxed);
	a_store(&crew.nr_wakes, 0, relaxed);
	a_store(&crew.is_waited, 0, relaxed);
	a_store(&group[0].nr_in, 0, relaxed);
	for (i = 0; i <= NR_WORKERS; i++)
		a_store(&seat[i].range, 0, relaxed);
	mc_name(&crew.state, "state");
	mc_name(&group[0].nr_in, "nr_in");
	mc_name(&crew.is_waited, "is_waited");
}

static void work_seat(uint32_t me)
{
	struct work *w = plain_load(&crew.work);
	uint32_t unit;

	do {
		while (crew_take(&crew, me, 1, &unit)) {
			mc_assert(unit < MAX_UNITS);
			plain_store(&w->units[unit],
				    plain_load(&w->units[unit]) + 1);
		}
	} while (crew_steal(&crew, me, 1));
}

static void take_part(uint32_t me)
{
	if (!crew_offers(&crew, me) || !crew_enter(&crew, me))
		return;
	mc_see("entered");
	work_seat(me);
	crew_leave(&crew, me);
}

static void wait_for_members(void)
{
	while (!crew_is_out(&crew)) {
		crew_is_awaited(&crew);
		if (crew_is_out(&crew))
			break;
		mc_see("sleeps");
		futex_wait(&crew.is_waited, 1, -1);
	}
}

/* leader: its seat; may be a worker's, who is kept out then. */
static void lead(uint32_t nr, uint32_t leader, bool takes_part)
{
	struct work *w = mc_alloc(sizeof(*w));
	uint32_t i;

	for (i = 0; i < nr; i++)
		plain_store(&w->units[i], 0);
	if (!crew_claim(&crew)) {
		mc_see("refused");
		return;
	}
	crew_deal(&crew, nr, takes_part ? leader : NR_WORKERS - 1);
	crew_open(&crew, leader, w);
	if (takes_part)
		work_seat(leader);
	crew_close(&crew);
	wait_for_members();
	for (i = 0; i < nr && takes_part; i++)
		mc_assert(plain_load(&w->units[i]) == 1);
	crew_free(&crew);
	mc_free(w);
}

static void one_loop(int id)
{
	if (id)
		take_part((uint32_t)id - 1);
	else
		lead(4, NR_WORKERS, true);
}

/* What the members did not come for stays undone: nobody waits for it. */
static void leader_only_waits(int id)
{
	if (id)
		take_part((uint32_t)id - 1);
	else
		lead(2, NR_WORKERS, false);
}

static void two_loops(int id)
{
	if (id) {
		take_part((uint32_t)id - 1);
		return;
	}
	lead(2, NR_WORKERS, true);
	lead(2, 0, true);
}

static void two_leaders(int id)
{
	if (id == 2)
		take_part(1);
	else
		lead(1, NR_WORKERS, true);
}

static void crew_is_free(void)
{
	mc_assert(a_load(&crew.state, relaxed) == CREW_FREE);
	mc_assert(a_load(&group[0].nr_in, relaxed) == 0);
}

static const struct mc_scenario table[] = {
	{ .name = "each unit runs once",
	  .nr_threads = 2,
	  .bound = 4,
	  .timeouts = -1,
	  .init = init,
	  .thread = one_loop,
	  .final = crew_is_free,
	  .must_see = { "entered", "sleeps" } },
	{ .name = "two workers help",
	  .nr_threads = 3,
	  .bound = 2,
	  .timeouts = -1,
	  .init = init,
	  .thread = one_loop,
	  .final = crew_is_free,
	  .must_see = { "entered", "sleeps" } },
	{ .name = "the leader sleeps and is woken",
	  .nr_threads = 3,
	  .bound = 3,
	  .timeouts = -1,
	  .init = init,
	  .thread = leader_only_waits,
	  .final = crew_is_free,
	  .must_see = { "entered", "sleeps" } },
	{ .name = "late members find the next loop, or none",
	  .nr_threads = 2,
	  .bound = 4,
	  .timeouts = -1,
	  .init = init,
	  .thread = two_loops,
	  .final = crew_is_free,
	  .must_see = { "entered" } },
	{ .name = "one of two loops has it",
	  .nr_threads = 3,
	  .bound = 2,
	  .timeouts = -1,
	  .init = init,
	  .thread = two_leaders,
	  .final = crew_is_free,
	  .must_see = { "entered", "refused" } },
};

MC_MAIN(table)
