/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops of a graph: run/control.c as it is shipped. An iteration begins after
 * all members of the one before are resolved, the last latch decides by what
 * all members did, a loop is armed again before anybody comes back to it, and
 * whatever a run did lies behind its end.
 *
 * A task's edges have the order that seal gives them, by its own function.
 */
#include "run/control.h"

#include "loop_run.h"

/* ---- graphs -------------------------------------------------------------- */

static void two_latches(int nr)
{
	add_two_latches();
	expect(nr, 0);
	/* What one latch tells the other goes through nr_backs alone. */
	begin_run(false);
}

static void two_reducers(int nr, int rc)
{
	uint32_t i;

	two_latches(nr);
	control.folds = &fold;
	loops[0].nr_folds = 1;
	combine_rc = rc;
	for (i = 0; i < MAX_NR; i++)
		plain_store(&is_touched[i], false);
}

static void four_members(int nr)
{
	add_four_members();
	expect(nr, 0);
	begin_run(true);
}

static void nested(int outer, int inner)
{
	add_nested();
	expect(outer, inner);
	begin_run(true);
}

static void nested_continue(int outer, int inner)
{
	add_nested_continue();
	expect(outer, inner);
	begin_run(true);
}

static void exit_beside(int nr)
{
	add_exit_beside();
	expect(nr, 0);
	begin_run(true);
}

static void exit_alone(int nr)
{
	add_exit_alone();
	expect(nr, 0);
	begin_run(true);
}

/* ---- scenarios ----------------------------------------------------------- */

static void back_then_leave(void)
{
	two_latches(2);
	give(1, BACK, OUT, 0);
	give(2, BACK, OUT, 0);
}

static void copies_between(void)
{
	two_reducers(3, 0);
	give(1, BACK, BACK, OUT);
	give(2, BACK, NONE, OUT);
}

static void combining_fails(void)
{
	two_reducers(1, -EDOM);
	give(1, BACK, OUT, 0);
	give(2, NONE, OUT, 0);
	expected = VERDICT_FAILED;
}

static void back_or_none(void)
{
	two_latches(3);
	give(1, BACK, NONE, OUT);
	give(2, NONE, BACK, NONE);
}

/* A branch that leaves wins over one that goes back. */
static void back_against_leave(void)
{
	two_latches(2);
	give(1, BACK, BACK, 0);
	give(2, BACK, OUT, 0);
}

static void back_against_failure(void)
{
	two_latches(1);
	give(1, BACK, 0, 0);
	give(2, FAIL, 0, 0);
	expected = VERDICT_FAILED;
}

static void leave_against_failure(void)
{
	two_latches(2);
	give(1, BACK, OUT, 0);
	give(2, BACK, FAIL, 0);
	expected = VERDICT_FAILED;
}

static void nobody_chooses(void)
{
	two_latches(2);
	give(1, BACK, NONE, 0);
	give(2, NONE, NONE, 0);
	expected = VERDICT_UNCHOSEN;
}

static void head_fails_later(void)
{
	two_latches(2);
	give(0, 0, FAIL, 0);
	expected = VERDICT_FAILED;
}

static void back_against_cancel(void)
{
	two_latches(0);
	give(1, BACK, BACK, OUT);
	give(2, BACK, BACK, OUT);
	expected = ANY;
}

static void members_go_again(void)
{
	four_members(2);
	give(3, BACK, OUT, 0);
	give(4, NONE, OUT, 0);
}

static void member_fails(void)
{
	four_members(2);
	give(2, 0, FAIL, 0);
	expected = VERDICT_FAILED;
}

/* The inner loop runs twice, then once. */
static void outer_goes_again(void)
{
	nested(2, 3);
	give(2, BACK, NONE, NONE);
	give(3, NONE, NONE, NONE);
	give(4, BACK, OUT, 0);
	give(5, NONE, NONE, 0);
}

static void inner_fails(void)
{
	nested(2, 2);
	give(2, NONE, NONE, 0);
	give(3, NONE, FAIL, 0);
	give(4, BACK, OUT, 0);
	give(5, BACK, OUT, 0);
	expected = VERDICT_FAILED;
}

static void inner_continues(void)
{
	nested_continue(2, 2);
	give(2, NONE, NONE, 0);
	give(3, OUT, NONE, 0);
	give(4, NONE, OUT, 0);
}

/* A branch that leaves the outer loop wins over a continue of the inner. */
static void continue_against_leave(void)
{
	nested_continue(2, 3);
	give(2, BACK, NONE, NONE);
	give(3, BACK, OUT, OUT);
	give(4, BACK, OUT, 0);
}

/* The latch says BACK, while the task beside the other one leaves. */
static void leave_beside(void)
{
	exit_beside(1);
	give(1, OUT, STAY, STAY);
	give(4, BACK, NONE, NONE);
}

static void leave_beside_later(void)
{
	exit_beside(2);
	give(1, STAY, OUT, STAY);
	give(4, BACK, BACK, NONE);
}

/* The only way to the latch is not chosen. */
static void leave_alone(void)
{
	exit_alone(2);
	give(1, STAY, OUT, STAY);
	give(2, BACK, BACK, NONE);
}

static void work_or_cancel(int id)
{
	if (id < NR_THREADS)
		work(id);
	else
		a_store(&scope.cancel_err, -ECANCELED, relaxed);
}

#define ROW(text, b, before)                                            \
	.name = text, .nr_threads = NR_THREADS, .bound = b, .stale = 2, \
	.init = before, .thread = work

static const struct mc_scenario table[] = {
	{ ROW("both go back, both leave", 2, back_then_leave) },
	{ ROW("one goes back, the other chooses none", 1, back_or_none) },
	{ ROW("copies are combined between two iterations", 1, copies_between),
	  .must_see = { "copies are combined" } },
	{ ROW("the function that combines fails", 2, combining_fails),
	  .must_see = { "copies are combined" } },
	{ ROW("back against leave", 2, back_against_leave) },
	{ ROW("back against failure", 2, back_against_failure) },
	{ ROW("leave against failure", 2, leave_against_failure) },
	{ ROW("nobody chooses", 2, nobody_chooses) },
	{ ROW("the head fails in the second iteration", 2, head_fails_later) },
	{ .name = "back against cancel",
	  .nr_threads = NR_THREADS + 1,
	  .bound = 1,
	  .stale = 2,
	  .init = back_against_cancel,
	  .thread = work_or_cancel,
	  .must_see = { "the loop is left", "the loop is cancelled" } },
	{ ROW("members with two arrivals go again", 1, members_go_again) },
	{ ROW("a member fails in the second iteration", 1, member_fails) },
	{ ROW("a loop in a loop", 1, outer_goes_again) },
	{ ROW("a member of the inner loop fails", 1, inner_fails) },
	{ ROW("the inner loop continues the outer", 1, inner_continues) },
	{ ROW("continue against leave", 1, continue_against_leave) },
	{ ROW("one leaves beside the latch's way", 1, leave_beside) },
	{ ROW("one leaves in the second iteration", 1, leave_beside_later) },
	{ ROW("the way to the latch is not chosen", 2, leave_alone) },
};

MC_MAIN(table)
