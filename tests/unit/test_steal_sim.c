/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Plan and steal rule together, on a made-up machine, against stealing as soon
 * as there is nothing to do: programs that wait for memory take no longer, and
 * much less of it is remote. The same every time.
 */
#include "sched/deficit.h"

#include "tests/unit/plan_programs.h"
#include "tests/unit/steal_run.h"

#include <math.h>

enum {
	EAGER,
	STAY,
	PLAN_EAGER,
	DEFICIT,
	REHOME,
	NR_RULES
};

static const struct sim_rule rules[] = {
	[EAGER] = { "eager, no plan", false, SIM_EAGER },
	[STAY] = { "plan, no steals", true, SIM_STAY },
	[PLAN_EAGER] = { "plan, eager", true, SIM_EAGER },
	[DEFICIT] = { "plan, deficit", true, SIM_DEFICIT },
	[REHOME] = { "plan, deficit, rehome", true, SIM_REHOME },
};

static const int four_workers[] = { 2, 2, 2, 2 };
static const int four_distances[] = { 10, 16, 22, 22, 16, 10, 22, 22,
				      22, 22, 10, 16, 22, 22, 16, 10 };
static const struct plan_machine four = { 4, four_workers, four_distances };

/* Body times differ by so much up and down, with so many seeds. */
#define JITTER 0.3
#define NR_SEEDS 4

/* Means over programs: geometric of times, arithmetic of shares. */
struct mean {
	double log_time, remote;
	int nr;
};

static void mean_add(struct mean *mean, const struct sim_result *r)
{
	mean->log_time += log(r->makespan);
	mean->remote += r->remote;
	mean->nr++;
}

static double mean_time(const struct mean *mean)
{
	return exp(mean->log_time / mean->nr);
}

/* A quarter of the stencil's blocks takes three times as long. */
#define IMBALANCED NR_PROGRAMS

static struct program *build(int which, uint64_t seed)
{
	struct program *p = program_build(which == IMBALANCED ? 0 : which);
	double weight, random;
	uint32_t t;

	p->weight = sim_alloc(p->g.nr_tasks, sizeof(*p->weight));
	if (which == IMBALANCED)
		snprintf(p->name, sizeof(p->name), "imbalanced");
	for (t = 0; t < p->g.nr_tasks; t++) {
		weight = which == IMBALANCED && t % 64 < 16 ? 3 : 1;
		random = random_next(&seed) / 4294967296.0;
		p->weight[t] = weight * (1 - JITTER + 2 * JITTER * random);
	}
	return p;
}

/* The worst of all seeds; a result's time is their mean. */
static struct sim_result run_all(int which, const struct sim_rule *rule,
				 uint32_t *nr_lost)
{
	static const int times[] = { 1, 1, 1, 5, 3, 3, 3, 1, 3, 2, 1 };
	struct sim_result worst = { .nr_run = 0 }, r;
	double log_time = 0;
	struct program *p;
	uint64_t seed;

	for (seed = 1; seed <= NR_SEEDS; seed++) {
		p = build(which, seed);
		r = sim_run(&four, p, rule, times[which]);
		*nr_lost += r.nr_run != p->g.nr_tasks * (unsigned)times[which];
		log_time += log(r.makespan);
		worst.remote = fmax(worst.remote, r.remote);
		worst.moved = fmax(worst.moved, r.moved);
		worst.busiest = fmax(worst.busiest, r.busiest);
		program_free(p);
	}
	worst.makespan = exp(log_time / NR_SEEDS);
	return worst;
}

/* The bars of the policy, for the worst run; in percent. */
static void judge(int which, const struct sim_result *r, const char *rule)
{
	static const double remote[] = { 3, 5, 17, 30, 5 };

	if (which < NR_MEASURED) {
		ok(100 * r->remote <= remote[which],
		   "program %d, %s: at most %.0f %% remote", which, rule,
		   remote[which]);
		ok(100 * r->busiest <= 34, "and at most 34 %% on one node");
	}
	if (which == IMBALANCED) {
		ok(r->makespan <= 1.2, "imbalance, %s: within 1.2 of balance",
		   rule);
		ok(100 * (r->remote + r->moved) <= 13,
		   "with at most 13 %% remote or moved");
	}
}

static void try_all(struct mean *all, struct mean *tuned)
{
	struct sim_result r;
	uint32_t nr_lost = 0;
	struct program *p;
	int which, i;

	for (which = 0; which <= IMBALANCED; which++) {
		p = build(which, 1);
		printf("# %-10s", p->name);
		program_free(p);
		for (i = 0; i < NR_RULES; i++) {
			r = run_all(which, &rules[i], &nr_lost);
			printf(" | %.3f %4.1f %2.0f", r.makespan,
			       100 * r.remote, 100 * r.busiest);
			mean_add(&all[i], &r);
			if (which < NR_MEASURED || which == IMBALANCED)
				mean_add(&tuned[i], &r);
			if (i < DEFICIT)
				continue;
			printf(" +%.1f", 100 * r.moved);
		}
		printf("\n");
		judge(which, &r, rules[REHOME].name);
	}
	is(nr_lost, 0, "every task runs once, whatever the rule");
}

int main(void)
{
	struct mean all[NR_RULES] = { { 0 } }, tuned[NR_RULES] = { { 0 } };
	int i;

	tap_start(120);
	printf("# time over ideal, remote %%, busiest node %%, moved %%\n");
	try_all(all, tuned);
	for (i = 0; i < NR_RULES; i++)
		printf("# %-22s all: %.3f %4.1f %%, measured: %.3f %4.1f %%\n",
		       rules[i].name, mean_time(&all[i]),
		       100 * all[i].remote / all[i].nr, mean_time(&tuned[i]),
		       100 * tuned[i].remote / tuned[i].nr);
	return tap_end();
}
