/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The tables of what an ending passes on: each ending has the verdict and the
 * counter that the documentation names, each sort of edge passes each verdict
 * as Documentation/control-flow.rst says, and a target with two edges makes of
 * any two of them what that page says.
 */
#include "graph/control.h"

#include "run/frame_count.h"
#include "tests/tap.h"
#include "trace/counters.h"

#define LIVE VERDICT_LIVE
#define FAILED VERDICT_FAILED
#define UNCHOSEN VERDICT_UNCHOSEN
#define BRANCH (CONTROL_BRANCH | CONTROL_COUNTS)

static const int verdicts[] = { LIVE, FAILED, UNCHOSEN };

static void each_ending_has_a_verdict_and_a_counter(void)
{
	static const struct {
		const char *name;
		enum ending ending;
		int verdict;
		enum counter counter;
	} rows[] = {
		{ "failed", ENDED_FAILED, FAILED, COUNTER_FAILED },
		{ "skipped", ENDED_SKIPPED, FAILED, COUNTER_SKIPPED },
		{ "cancelled", ENDED_CANCELLED, FAILED, COUNTER_CANCELLED },
		{ "unchosen", ENDED_UNCHOSEN, UNCHOSEN, COUNTER_UNCHOSEN },
	};
	size_t i;

	is((int)ARRAY_SIZE(rows), NR_ENDINGS, "all endings are listed here");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		ok(ending_verdicts[rows[i].ending] == rows[i].verdict &&
			   ending_counters[rows[i].ending] == rows[i].counter,
		   "%s: verdict %d, and its counter", rows[i].name,
		   rows[i].verdict);
}

static void a_tally_adds_up_and_tells_each_count(void)
{
	struct lkdf_error e = { 0 };
	struct tally all = { 0 }, one = { 0 };
	int i;

	for (i = 0; i < NR_ENDINGS; i++)
		a_store(&one.nr[i], (uint64_t)i + 1, relaxed);
	tally_add(&all, &one);
	tally_add(&all, &one);
	tally_tell(&all, &e);
	ok(e.nr_failed == 2 && e.nr_skipped == 4 && e.nr_cancelled == 6 &&
		   e.nr_unchosen == 8,
	   "two of the same are told as twice the counts");
	tally_clear(&all);
	tally_tell(&all, &e);
	ok(!e.nr_failed && !e.nr_skipped && !e.nr_cancelled && !e.nr_unchosen,
	   "and none after they are cleared");
}

static void each_sort_of_edge_passes_what_the_page_says(void)
{
	static const struct {
		const char *name;
		uint8_t flags;
		bool is_taken;
		int passes[3]; /* live, failed, unchosen */
	} rows[] = {
		{ "plain", 0, false, { LIVE, FAILED, UNCHOSEN } },
		{ "taken branch", BRANCH, true, { LIVE, FAILED, UNCHOSEN } },
		{ "other branch",
		  BRANCH,
		  false,
		  { UNCHOSEN, FAILED, UNCHOSEN } },
		{ "way back",
		  CONTROL_BACK,
		  false,
		  { UNCHOSEN, FAILED, UNCHOSEN } },
		{ "way of ANY",
		  CONTROL_COUNTS,
		  false,
		  { LIVE, FAILED, UNCHOSEN } },
		{ "order of data",
		  CONTROL_DATA,
		  false,
		  { LIVE, FAILED, LIVE } },
	};
	size_t i, v;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (v = 0; v < ARRAY_SIZE(verdicts); v++)
			is(control_passes(rows[i].flags, verdicts[v],
					  rows[i].is_taken),
			   rows[i].passes[v], "%s: of verdict %d", rows[i].name,
			   verdicts[v]);
	is(control_passes(0, 7, false), LIVE, "any value is live");
}

static void only_a_failure_fails_the_loop_around(void)
{
	ok(verdict_row(FAILED)->fails_loop, "a failure does");
	ok(!verdict_row(UNCHOSEN)->fails_loop, "a task not chosen does not");
	ok(!verdict_row(LIVE)->fails_loop && !verdict_row(5)->fails_loop,
	   "nor does any value");
}

/* Two edges to one task: what it makes of them, in either order. */
static int target_of(uint8_t rec_flags, uint8_t first, int a, uint8_t second,
		     int b)
{
	struct rec r = { .nr_in = 2, .flags = rec_flags };
	uint32_t all;

	rec_rearm(&r, 2);
	if (rec_arrive_control(&r, control_arrival(first, a), &all))
		return 1;
	if (!rec_arrive_control(&r, control_arrival(second, b), &all))
		return 2;
	return control_verdict(&r, all);
}

static void two_edges(const char *how, uint8_t flags, uint8_t first,
		      uint8_t second, const int table[3][3])
{
	int a, b, nr_wrong = 0;

	for (a = 0; a < 3; a++)
		for (b = 0; b < 3; b++)
			nr_wrong += target_of(flags, first, verdicts[a], second,
					      verdicts[b]) != table[a][b] ||
				    target_of(flags, second, verdicts[b], first,
					      verdicts[a]) != table[a][b];
	is(nr_wrong, 0, "%s: nine pairs in both orders", how);
}

static void a_target_makes_of_two_edges_what_the_page_says(void)
{
	/* By row the first edge, by column the second: live, failed, not. */
	static const int plain[3][3] = {
		{ LIVE, FAILED, UNCHOSEN },
		{ FAILED, FAILED, UNCHOSEN },
		{ UNCHOSEN, UNCHOSEN, UNCHOSEN },
	};
	static const int branches[3][3] = {
		{ LIVE, LIVE, LIVE },
		{ LIVE, FAILED, FAILED },
		{ LIVE, FAILED, UNCHOSEN },
	};
	static const int mixed[3][3] = {
		{ LIVE, FAILED, UNCHOSEN },
		{ FAILED, FAILED, UNCHOSEN },
		{ UNCHOSEN, UNCHOSEN, UNCHOSEN },
	};

	two_edges("plain edges", 0, 0, 0, plain);
	two_edges("branches, or a kind with ANY", REC_CHOSEN, BRANCH, BRANCH,
		  branches);
	two_edges("a branch and a plain edge", REC_CHOSEN, BRANCH, 0, mixed);
}

int main(void)
{
	tap_start(30);
	each_ending_has_a_verdict_and_a_counter();
	a_tally_adds_up_and_tells_each_count();
	each_sort_of_edge_passes_what_the_page_says();
	only_a_failure_fails_the_loop_around();
	a_target_makes_of_two_edges_what_the_page_says();
	return tap_end();
}
