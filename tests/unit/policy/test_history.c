/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks that move by history: tables of who is a taker, and runs of the
 * made-up machine. A graph of one sweep that is run again and again moves its
 * dear blocks to those who take them, as one of many sweeps does; even tasks
 * move none. The same every time.
 */
#include "policy/history.h"

#include "tests/unit/plan_programs.h"
#include "tests/unit/steal_run.h"

/* ---- tables ------------------------------------------------------------- */

static void takers_take_two_of_three(void)
{
	static const struct {
		int past[4];
		int nr, node;
		bool is_taker;
		const char *what;
	} table[] = {
		{ { 0 }, 0, 0, false, "nobody has taken any" },
		{ { 1 }, 1, 1, false, "once is chance" },
		{ { 1, 1 }, 2, 1, true, "twice is not" },
		{ { 1, 1 }, 2, 0, false, "of another node neither" },
		{ { 1, 0, 1 }, 3, 1, true, "two of three" },
		{ { 1, 0, 2 }, 3, 1, false, "one of three" },
		{ { 1, 1, 0, 2 }, 4, 1, false, "what is older is forgotten" },
		{ { 32767, 32767 }, 2, 32767, true, "the last node there is" },
	};
	uint64_t history;
	size_t i;
	int j;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		history = 0;
		for (j = 0; j < table[i].nr; j++)
			history = history_add(history, table[i].past[j]);
		is(history_is_taker(history, table[i].node), table[i].is_taker,
		   "%s", table[i].what);
	}
}

static void a_move_is_on_trial_for_two_tasks(void)
{
	uint64_t history = history_moved();

	ok(!history_is_trial(0), "what has not moved is not on trial");
	ok(history_is_trial(history), "what has just moved is");
	ok(!history_is_taker(history, 1), "and is nobody's yet");
	history = history_add(history, 32767);
	ok(history_is_trial(history), "after one task, too");
	history = history_add(history, 32767);
	ok(!history_is_trial(history), "after two no longer");
	ok(history_is_taker(history, 32767), "both of which count");
	history = history_add(history, 0);
	ok(!history_is_trial(history), "nor ever after");
}

/* ---- runs --------------------------------------------------------------- */

static const int two_workers[] = { 2, 2 };
static const int two_distances[] = { 10, 21, 21, 10 };
static const struct plan_machine two = { 2, two_workers, two_distances };

#define NR_BLOCKS 64

/* Each task changes its block; those of the first half are dear. */
static struct program *program_sweep(double dear, uint32_t nr_sweeps)
{
	struct program *p = program_build(0);
	uint32_t t;

	program_free(p);
	p = program_new("sweep");
	program_blocks(p, NR_BLOCKS, 1024 * PROGRAM_KIB);
	for (t = 0; t < NR_BLOCKS * nr_sweeps; t++) {
		program_task(p);
		program_update(p, t % NR_BLOCKS);
	}
	program_end(p);
	p->weight = sim_alloc(p->g.nr_tasks, sizeof(*p->weight));
	for (t = 0; t < p->g.nr_tasks; t++)
		p->weight[t] = t % NR_BLOCKS < NR_BLOCKS / 2 ? dear : 1;
	return p;
}

static struct sim_result run_sweeps(double dear, uint32_t nr_sweeps, int times,
				    enum sim_steals steals)
{
	const struct sim_rule rule = { .has_plan = true,
				       .steals = steals,
				       .trusts = true };
	struct program *p = program_sweep(dear, nr_sweeps);
	int16_t home[NR_BLOCKS];
	struct sim_result r;
	int i;

	for (i = 0; i < NR_BLOCKS; i++)
		home[i] = i >= NR_BLOCKS / 2;
	p->g.fixed = home;
	r = sim_run(&two, p, &rule, times);
	p->g.fixed = NULL;

	printf("# %g times, %u sweeps, %d runs%s: time %.3f, remote %.1f %%, "
	       "stolen %u, moves %u, undone %u\n",
	       dear, nr_sweeps, times, steals == SIM_REHOME ? ", rehome" : "",
	       r.makespan, 100 * r.remote, r.nr_stolen, r.nr_moves,
	       r.nr_undone);
	program_free(p);
	return r;
}

static void dear_blocks_move(const char *form, uint32_t nr_sweeps, int times)
{
	struct sim_result stay = run_sweeps(4, nr_sweeps, times, SIM_DEFICIT);
	struct sim_result moves = run_sweeps(4, nr_sweeps, times, SIM_REHOME);

	ok(moves.nr_moves > 0 && moves.nr_moves <= NR_BLOCKS / 2,
	   "%s: some dear blocks move", form);
	ok(stay.nr_stolen > 5 * moves.nr_stolen,
	   "and a fifth is stolen at most");
	ok(moves.makespan <= 1.02 * stay.makespan, "in no more time");
	ok(moves.nr_undone < HISTORY_FAILS, "none comes back too often");
}

static void even_blocks_stay(const char *form, uint32_t nr_sweeps, int times)
{
	struct sim_result r = run_sweeps(1, nr_sweeps, times, SIM_REHOME);

	is(r.nr_moves, 0, "%s: even tasks move none", form);
}

int main(void)
{
	tap_start(20);
	takers_take_two_of_three();
	a_move_is_on_trial_for_two_tasks();
	dear_blocks_move("one sweep a run", 1, 80);
	dear_blocks_move("80 sweeps a run", 80, 1);
	dear_blocks_move("four sweeps a run", 4, 20);
	even_blocks_stay("one sweep a run", 1, 80);
	even_blocks_stay("80 sweeps a run", 80, 1);
	return tap_end();
}
