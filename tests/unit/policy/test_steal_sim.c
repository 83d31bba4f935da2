/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Plan and steal rule together, on a made-up machine, against stealing as soon
 * as there is nothing to do: programs that wait for memory take no longer, and
 * much less of it is remote. The same every time.
 */
#include "policy/deficit.h"

#include "tests/unit/plan_programs.h"
#include "tests/unit/steal_run.h"

enum {
	EAGER,
	STAY,
	PLAN_EAGER,
	DEFICIT,
	REHOME,
	NR_RULES
};

static const struct sim_rule rules[] = {
	[EAGER] = { "eager, no plan", false, SIM_EAGER, false, { 0, 0, 0 } },
	[STAY] = { "plan, no steals", true, SIM_STAY, false, { 0, 0, 0 } },
	[PLAN_EAGER] = { "plan, eager", true, SIM_EAGER, false, { 0, 0, 0 } },
	[DEFICIT] = { "plan, deficit", true, SIM_DEFICIT, true, { 0, 0, 0 } },
	[REHOME] = { "plan, deficit, rehome",
		     true,
		     SIM_REHOME,
		     true,
		     { 0, 0, 0 } },
};

static const int four_workers[] = { 2, 2, 2, 2 };
static const int four_distances[] = { 10, 16, 22, 22, 16, 10, 22, 22,
				      22, 22, 10, 16, 22, 22, 16, 10 };
static const struct plan_machine four = { 4, four_workers, four_distances };

/* Body times differ by so much up and down, with so many seeds. */
#define JITTER 0.1
#define NR_SEEDS 4

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Geometric mean of nr numbers around 1, from their product. */
static double mean_of(double product, int nr)
{
	double low = 0, high = larger(product, 1), middle = 0, power;
	int i, j;

	for (i = 0; i < 100; i++) {
		middle = (low + high) / 2;
		for (j = 0, power = 1; j < nr; j++)
			power *= middle;
		if (power < product)
			low = middle;
		else
			high = middle;
	}
	return middle;
}

/* Over programs: geometric of times, arithmetic of shares. */
struct mean {
	double times, remote;
	int nr;
};

static void mean_add(struct mean *mean, const struct sim_result *r)
{
	mean->times *= r->makespan;
	mean->remote += r->remote;
	mean->nr++;
}

static double mean_time(const struct mean *mean)
{
	return mean_of(mean->times, mean->nr);
}

static double mean_remote(const struct mean *mean)
{
	return mean->remote / mean->nr;
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
	double product = 1;
	struct program *p;
	uint64_t seed;

	for (seed = 1; seed <= NR_SEEDS; seed++) {
		p = build(which, seed);
		r = sim_run(&four, p, rule, times[which]);
		*nr_lost += r.nr_run != p->g.nr_tasks * (unsigned)times[which];
		product *= r.makespan;
		worst.remote = larger(worst.remote, r.remote);
		worst.moved = larger(worst.moved, r.moved);
		worst.busiest = larger(worst.busiest, r.busiest);
		program_free(p);
	}
	worst.makespan = mean_of(product, NR_SEEDS);
	return worst;
}

/* The bars of the policy for the worst run, in percent. */
static void judge(int which, const struct sim_result *r, const char *name)
{
	static const double remote[] = { 3, 5, 17, 30, 5 };
	static const double busiest[] = { 30, 30, 30, 34, 30 };

	if (which < NR_MEASURED) {
		ok(100 * r->remote <= remote[which],
		   "%s: at most %.0f %% remote", name, remote[which]);
		ok(100 * r->busiest <= busiest[which],
		   "and at most %.0f %% on one node", busiest[which]);
	}
	if (which == IMBALANCED) {
		ok(r->makespan <= 1.2, "%s: within 1.2 of balance", name);
		ok(100 * (r->remote + r->moved) <= 13,
		   "with at most 13 %% remote or moved");
	}
}

static void try_all(struct mean *all, struct mean *measured)
{
	struct sim_result r, last[NR_RULES];
	uint32_t nr_lost = 0;
	struct program *p;
	int which, i;

	for (which = 0; which <= IMBALANCED; which++) {
		p = build(which, 1);
		printf("# %-10s", p->name);
		for (i = 0; i < NR_RULES; i++) {
			r = run_all(which, &rules[i], &nr_lost);
			printf(" | %.3f %4.1f %2.0f", r.makespan,
			       100 * r.remote, 100 * r.busiest);
			mean_add(&all[i], &r);
			if (which < NR_MEASURED || which == IMBALANCED)
				mean_add(&measured[i], &r);
			if (i >= DEFICIT) {
				printf(" +%.1f", 100 * r.moved);
				last[i] = r;
			}
		}
		printf("\n");
		judge(which, &last[DEFICIT], p->name);
		judge(which, &last[REHOME], p->name);
		program_free(p);
	}
	is(nr_lost, 0, "every task runs once, whatever the rule");
}

static void compare(const struct mean *all, const struct mean *measured)
{
	int i;

	for (i = 0; i < NR_RULES; i++)
		printf("# %-22s all: %.3f %4.1f %%, measured: %.3f %4.1f %%\n",
		       rules[i].name, mean_time(&all[i]),
		       100 * mean_remote(&all[i]), mean_time(&measured[i]),
		       100 * mean_remote(&measured[i]));
	ok(mean_time(&measured[DEFICIT]) <= mean_time(&measured[EAGER]) &&
		   mean_time(&measured[DEFICIT]) <=
			   mean_time(&measured[PLAN_EAGER]),
	   "measured programs take no longer than with eager steals");
	ok(mean_time(&measured[REHOME]) <= mean_time(&measured[DEFICIT]),
	   "nor longer when blocks may move");
	ok(mean_time(&all[DEFICIT]) <= 1.02 * mean_time(&all[EAGER]),
	   "all programs at most a fiftieth longer");
	ok(mean_time(&all[REHOME]) <= 1.01 * mean_time(&all[EAGER]),
	   "and when blocks may move a hundredth");
	ok(mean_remote(&all[DEFICIT]) <= 0.7 * mean_remote(&all[EAGER]) &&
		   mean_remote(&all[DEFICIT]) <=
			   0.7 * mean_remote(&all[PLAN_EAGER]),
	   "with 0.7 of the remote bytes");
	ok(mean_time(&all[DEFICIT]) < mean_time(&all[STAY]),
	   "the plan alone is slower");
}

int main(void)
{
	struct mean all[NR_RULES], measured[NR_RULES];
	int i;

	tap_start(120);
	for (i = 0; i < NR_RULES; i++)
		all[i] = measured[i] = (struct mean){ 1, 0, 0 };
	printf("# time over ideal, remote %%, busiest node %%, moved %%\n");
	try_all(all, measured);
	compare(all, measured);
	return tap_end();
}
