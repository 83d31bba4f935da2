/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Arrivals in a graph with control flow: the counter of a record holds how
 * edges were resolved as well. Exactly one arriver is the last, it finds the
 * verdict of all edges whatever their order, it sees what all predecessors
 * wrote, and the next run finds the counter as the first did.
 */
#include "graph/control.h"
#include "mc.h"
#include "run/control.h"

#define NR 3 /* arrivals */

static struct rec rec;
static uint8_t edge_flags[NR];
static int verdicts[2][NR]; /* by round and edge: how the edge is resolved */
static int expected[2]; /* by round: what all of them say */
static int nr_rounds;
static int wrote[NR]; /* plain: the counter must order it */
static int nr_last; /* plain too: only the last arriver writes */
static _Atomic(uint32_t) remaining, run_nr;

static void init(uint8_t rec_flags, int rounds)
{
	int i;

	rec.nr_in = NR;
	rec.flags = rec_flags;
	rec_rearm(&rec, NR);
	a_store(&remaining, NR, relaxed);
	a_store(&run_nr, 0, relaxed);
	for (i = 0; i < NR; i++)
		plain_store(&wrote[i], 0);
	plain_store(&nr_last, 0);
	nr_rounds = rounds;
	mc_name(&rec.pending, "pending");
	mc_name(&remaining, "remaining");
	mc_name(&run_nr, "run_nr");
}

static void edge(int i, uint8_t flags, int first, int second)
{
	edge_flags[i] = flags;
	verdicts[0][i] = first;
	verdicts[1][i] = second;
}

static void expect(int first, int second)
{
	expected[0] = first;
	expected[1] = second;
}

#define PLAIN 0
#define BRANCH (CONTROL_BRANCH | CONTROL_COUNTS)
#define LIVE VERDICT_LIVE
#define FAILED VERDICT_FAILED
#define UNCHOSEN VERDICT_UNCHOSEN

/* ---- arrivals ------------------------------------------------------------ */

/* The arriver is the last: as control_arrive() in run/control.c. */
static void resolve(uint32_t all, int round)
{
	int i;

	rec_rearm(&rec, rec.nr_in);
	for (i = 0; i < NR; i++)
		mc_assert(plain_load(&wrote[i]) == round + 1);
	mc_assert(control_verdict(&rec, all) == expected[round]);
	plain_store(&nr_last, plain_load(&nr_last) + 1);
}

static void arrive(int id, int round)
{
	uint32_t all;

	plain_store(&wrote[id], round + 1);
	if (rec_arrive_control(
		    &rec, control_arrival(edge_flags[id], verdicts[round][id]),
		    &all))
		resolve(all, round);
}

/* The second run starts when the frame says that the first has ended. */
static void arrive_in_each(int id)
{
	int round;

	for (round = 0; round < nr_rounds; round++) {
		while (a_load(&run_nr, acquire) != (uint32_t)round)
			a_pause();
		arrive(id, round);
		/* As frame_resolved(). */
		if (a_sub(&remaining, 1, acq_rel) == 1) {
			a_store(&remaining, NR, relaxed);
			a_store(&run_nr, (uint32_t)round + 1, release);
		}
	}
}

static void arrive_once(int id)
{
	arrive(id, 0);
}

/* The first thread brings the arrivals of tasks that were not chosen: before
 * it many are to come, behind it few. */
static void arrive_with_many(int id)
{
	uint32_t all;

	if (id) {
		arrive(id, 0);
		return;
	}
	plain_store(&wrote[0], 1);
	if (rec_arrive_unchosen(&rec, REC_MANY, 0, &all))
		resolve(all, 0);
}

static void one_last_in_each(void)
{
	mc_assert(plain_load(&nr_last) == nr_rounds);
	mc_assert(a_load(&rec.pending, relaxed) == NR);
}

/* ---- scenarios ----------------------------------------------------------- */

static void all_live(void)
{
	init(0, 1);
	edge(0, PLAIN, LIVE, LIVE);
	edge(1, PLAIN, LIVE, LIVE);
	edge(2, PLAIN, LIVE, LIVE);
	expect(LIVE, LIVE);
}

static void one_failed(void)
{
	all_live();
	edge(1, PLAIN, FAILED, LIVE);
	expect(FAILED, LIVE);
}

static void one_unchosen(void)
{
	all_live();
	edge(1, PLAIN, UNCHOSEN, LIVE);
	expect(UNCHOSEN, LIVE);
}

/* An edge that was not chosen tells more than a failure. */
static void failed_and_unchosen(void)
{
	all_live();
	edge(0, PLAIN, FAILED, LIVE);
	edge(1, PLAIN, UNCHOSEN, LIVE);
	expect(UNCHOSEN, LIVE);
}

static void two_failed(void)
{
	all_live();
	edge(0, PLAIN, FAILED, LIVE);
	edge(2, PLAIN, FAILED, LIVE);
	expect(FAILED, LIVE);
}

static void one_branch_live(void)
{
	init(REC_CHOSEN, 1);
	edge(0, BRANCH, LIVE, LIVE);
	edge(1, BRANCH, UNCHOSEN, LIVE);
	edge(2, PLAIN, LIVE, LIVE);
	expect(LIVE, LIVE);
}

static void two_branches_live(void)
{
	one_branch_live();
	edge(1, BRANCH, LIVE, LIVE);
}

/* A lost branch harms nobody who was chosen by another. */
static void one_branch_lost(void)
{
	one_branch_live();
	edge(1, BRANCH, FAILED, LIVE);
}

static void no_branch_live(void)
{
	one_branch_live();
	edge(0, BRANCH, UNCHOSEN, LIVE);
	expect(UNCHOSEN, LIVE);
}

static void lost_and_unchosen(void)
{
	one_branch_live();
	edge(0, BRANCH, FAILED, LIVE);
	expect(FAILED, LIVE);
}

static void branch_live_and_failed(void)
{
	one_branch_live();
	edge(2, PLAIN, FAILED, LIVE);
	expect(FAILED, LIVE);
}

/* LKDF_ANY: all edges count, and none of them is more than another. */
static void any_of_three(void)
{
	init(REC_CHOSEN, 1);
	edge(0, CONTROL_COUNTS, FAILED, LIVE);
	edge(1, CONTROL_COUNTS, LIVE, LIVE);
	edge(2, CONTROL_COUNTS, UNCHOSEN, LIVE);
	expect(LIVE, LIVE);
}

static void none_of_three(void)
{
	any_of_three();
	edge(1, CONTROL_COUNTS, UNCHOSEN, LIVE);
	expect(FAILED, LIVE);
}

static void many_and_two_live(void)
{
	init(REC_CHOSEN, 1);
	rec_rearm(&rec, REC_MANY + 2);
	edge(1, BRANCH, LIVE, LIVE);
	edge(2, BRANCH, LIVE, LIVE);
	expect(LIVE, LIVE);
}

static void many_and_one_live(void)
{
	many_and_two_live();
	edge(2, BRANCH, FAILED, LIVE);
}

static void many_and_none_live(void)
{
	many_and_one_live();
	edge(1, BRANCH, UNCHOSEN, LIVE);
	expect(FAILED, LIVE);
}

/* Nothing of how the first run was is left for the second. */
static void dead_then_live(void)
{
	init(0, 2);
	edge(0, PLAIN, FAILED, LIVE);
	edge(1, PLAIN, UNCHOSEN, LIVE);
	edge(2, PLAIN, LIVE, LIVE);
	expect(UNCHOSEN, LIVE);
}

static void live_then_dead(void)
{
	init(REC_CHOSEN, 2);
	edge(0, BRANCH, LIVE, UNCHOSEN);
	edge(1, BRANCH, LIVE, FAILED);
	edge(2, PLAIN, LIVE, LIVE);
	expect(LIVE, FAILED);
}

/* The second arrival with a bit that is there must not count on the first. */
static void dead_and_dead_again(void)
{
	init(0, 2);
	edge(0, PLAIN, FAILED, LIVE);
	edge(1, PLAIN, FAILED, LIVE);
	edge(2, PLAIN, LIVE, FAILED);
	expect(FAILED, FAILED);
}

#define ROW(text, before)                                            \
	.name = text, .nr_threads = NR, .bound = -1, .init = before, \
	.thread = arrive_once, .final = one_last_in_each
#define MANY(text, before)                                           \
	.name = text, .nr_threads = NR, .bound = -1, .init = before, \
	.thread = arrive_with_many, .final = one_last_in_each
#define TWICE(text, before)                                     \
	.name = text, .nr_threads = NR, .bound = 1, .stale = 2, \
	.init = before, .thread = arrive_in_each, .final = one_last_in_each

static const struct mc_scenario table[] = {
	{ ROW("three live", all_live) },
	{ ROW("one failed", one_failed) },
	{ ROW("two failed", two_failed) },
	{ ROW("one was not chosen", one_unchosen) },
	{ ROW("one failed, one was not chosen", failed_and_unchosen) },
	{ ROW("one of two branches is live", one_branch_live) },
	{ ROW("both branches are live", two_branches_live) },
	{ ROW("one branch is live, one is lost", one_branch_lost) },
	{ ROW("no branch is live", no_branch_live) },
	{ ROW("one branch is lost, one not chosen", lost_and_unchosen) },
	{ ROW("a branch is live, a plain edge failed",
	      branch_live_and_failed) },
	{ ROW("any: one of three is live", any_of_three) },
	{ ROW("any: none of three is live", none_of_three) },
	{ MANY("many edges, two are live", many_and_two_live) },
	{ MANY("many edges, one is live, one is lost", many_and_one_live) },
	{ MANY("many edges, none is live", many_and_none_live) },
	{ TWICE("two runs, dead and live", dead_then_live) },
	{ TWICE("two runs, branches live and lost", live_then_dead) },
	{ TWICE("two runs, both dead", dead_and_dead_again) },
};

MC_MAIN(table)
