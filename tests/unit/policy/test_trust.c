/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A thief that trusts the plan: tables of who keeps its tasks, and runs of the
 * made-up machine with even tasks, skewed ones, a neighbour that takes a CPU, a
 * node with half the CPUs and one dear task. A thief that trusts takes no more
 * from other nodes, and no run takes longer. The same every time.
 */
#include "policy/deficit.h"

#include "tests/unit/plan_programs.h"
#include "tests/unit/steal_run.h"

static const int distances[] = { 10, 16, 22, 22, 16, 10, 22, 22,
				 22, 22, 10, 16, 22, 22, 16, 10 };

static bool same(double a, double b)
{
	return a > b - 1e-9 && a < b + 1e-9;
}

static void the_mean_is_of_workers(void)
{
	static const struct {
		struct deficit_node node[3];
		int nr;
		double mean;
		const char *what;
	} table[] = {
		{ { { 80, 1, 10, 0, 2 } }, 1, 40, "one node: its own time" },
		{ { { 80, 1, 10, 0, 2 }, { 40, 1, 10, 0, 2 } },
		  2,
		  30,
		  "two: all work by all workers" },
		{ { { 80, 1, 10, 0, 3 }, { 40, 1, 10, 0, 1 } },
		  2,
		  30,
		  "each counts by its workers" },
		{ { { 80, 3, 10, 0, 2 }, { 40, 1, 10, 0, 2 } },
		  2,
		  70,
		  "and work by its node's rate" },
		{ { { 80, 1, 10, 0, 2 }, { 40, 1, 10, 0, 0 } },
		  2,
		  60,
		  "work where no worker is has to be done, too" },
		{ { { 80, 1, 10, 0, 0 } }, 1, 0, "nobody: nothing is known" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		ok(same(deficit_mean(table[i].node, table[i].nr),
			table[i].mean),
		   "%s", table[i].what);
}

static void who_is_in_time_keeps_its_tasks(void)
{
	static const struct {
		double remaining, rate, mean_task, mean, idle;
		enum deficit_why why;
		const char *what;
	} table[] = {
		/* Two workers, four tasks ready: an idle node may wait. */
		{ 100, 1, 10, 50, 30, DEFICIT_NO, "at the mean: it keeps" },
		{ 119, 1, 10, 50, 30, DEFICIT_NO, "within one task's time" },
		{ 121, 1, 10, 50, 0, DEFICIT_BEHIND, "by more: behind" },
		{ 20, 1, 10, 0, 30, DEFICIT_NO, "the last task of each" },
		{ 30, 1, 10, 0, 30, DEFICIT_WAITED, "the last but one" },
		{ 30, 1, 10, 0, 19, DEFICIT_NO, "with patience only" },
		{ 119, 2, 10, 100, 60, DEFICIT_NO, "tasks of its own time" },
		{ 121, 2, 10, 100, 0, DEFICIT_BEHIND, "at its own rate" },
		{ 100, 1, 10, 50, 64 * 10, DEFICIT_WAITED,
		  "not for ever: its workers may never come" },
		{ 0, 1, 0, 0, 100, DEFICIT_NO, "nothing is left: nothing" },
	};
	struct deficit_node thief = { 0, 1, 10, 0, 2 }, victim;
	struct deficit_task t;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		victim = (struct deficit_node){ table[i].remaining,
						table[i].rate,
						table[i].mean_task, 4, 2 };
		t = (struct deficit_task){ 10 * table[i].rate, 0 };
		is(deficit_why(&thief, &victim, table[i].mean, table[i].idle,
			       &t),
		   table[i].why, "%s", table[i].what);
	}
}

/* ---- runs --------------------------------------------------------------- */

#define NR_SEEDS 4
#define JITTER 0.1

struct run {
	const char *name;
	int workers[4];
	double dear; /* a quarter of the blocks: times as long */
	double one; /* one task in the middle: times as long */
	double from, to; /* a neighbour on worker 0, in tasks' times */
	double remote; /* at most, per cent */
};

static const struct run runs[] = {
	{ "even", { 2, 2, 2, 2 }, 1, 1, 0, 0, 0.3 },
	{ "skewed", { 2, 2, 2, 2 }, 3, 1, 0, 0, 10 },
	{ "neighbour", { 2, 2, 2, 2 }, 1, 1, 40, 80, 2 },
	{ "half", { 2, 2, 2, 1 }, 1, 1, 0, 0, 0.5 },
	{ "one dear", { 2, 2, 2, 2 }, 1, 20, 0, 0, 2 },
};

static struct program *build_run(const struct run *r, uint64_t seed)
{
	struct program *p = program_build(0);
	double weight, random;
	uint32_t t;

	p->weight = sim_alloc(p->g.nr_tasks, sizeof(*p->weight));
	for (t = 0; t < p->g.nr_tasks; t++) {
		weight = t % 64 < 16 ? r->dear : 1;
		if (t == p->g.nr_tasks / 2)
			weight *= r->one;
		random = random_next(&seed) / 4294967296.0;
		p->weight[t] = weight * (1 - JITTER + 2 * JITTER * random);
	}
	return p;
}

/* Means of all seeds. */
static struct sim_result run_all(const struct run *r, bool trusts)
{
	const struct plan_machine m = { 4, r->workers, distances };
	const double task = 1024 * PROGRAM_KIB;
	const struct sim_rule rule = {
		.has_plan = true,
		.steals = SIM_DEFICIT,
		.trusts = trusts,
		.neighbour = { 0, r->from * task, r->to * task },
	};
	struct sim_result sum = { .nr_run = 0 }, one;
	struct program *p;
	uint64_t seed;

	for (seed = 1; seed <= NR_SEEDS; seed++) {
		p = build_run(r, seed);
		one = sim_run(&m, p, &rule, 1);
		ok(one.nr_run == p->g.nr_tasks, "%s: every task runs once",
		   r->name);
		sum.makespan += one.makespan / NR_SEEDS;
		sum.remote += 100 * one.remote / NR_SEEDS;
		sum.nr_stolen += one.nr_stolen;
		program_free(p);
	}
	return sum;
}

static void try_run(const struct run *r)
{
	struct sim_result eager = run_all(r, false), trust = run_all(r, true);

	printf("# %s: time %.3f -> %.3f, remote %.2f -> %.2f %%, stolen %u -> "
	       "%u\n",
	       r->name, eager.makespan, trust.makespan, eager.remote,
	       trust.remote, eager.nr_stolen, trust.nr_stolen);
	ok(trust.makespan <= 1.02 * eager.makespan,
	   "%s: who trusts the plan is no later", r->name);
	ok(trust.remote <= eager.remote + 0.1 && trust.remote <= r->remote,
	   "%s: and %.1f %% are remote at most", r->name, r->remote);
}

int main(void)
{
	size_t i;

	tap_start(20);
	the_mean_is_of_workers();
	who_is_in_time_keeps_its_tasks();
	for (i = 0; i < ARRAY_SIZE(runs); i++)
		try_run(&runs[i]);
	return tap_end();
}
