/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/try.h"

#include <string.h>

double try_mean(const struct kind *k)
{
	return k && k->nr ? (double)k->total / (double)k->nr : 0;
}

const struct run *try_base(const struct tried *t)
{
	const struct run *run;

	for (run = t->run; run < t->run + t->nr; run++)
		if (run->report.nr_slices)
			return run;
	return t->run;
}

const struct kind *try_kind(const struct run *run, const char *name)
{
	const struct report *r = &run->report;
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++)
		if (!strcmp(kind_name(r, i), name))
			return &r->kind[i];
	return NULL;
}

bool try_is_judged(const struct run *run)
{
	const struct report *r = &run->report;

	return !(r->cpus > 0 && !r->is_made_up &&
		 run->workers > r->cpus + 0.25) &&
	       share_of(r->time[TIME_TAKEN], worker_time(r)) < MOST_TAKEN;
}

double try_shown(const struct kind *k)
{
	return k->is_loop ? (double)k->total : try_mean(k);
}

/* It has a share of the run that is worth a word. */
static bool is_large(const struct run *run, const struct kind *k)
{
	return k && k->nr &&
	       share_of(k->total, worker_time(&run->report)) >= LEAST_SHARE;
}

bool try_is_other_work(const struct tried *t, const struct run *run,
		       const char *name)
{
	const struct kind *k = try_kind(run, name);
	const struct kind *base = try_kind(try_base(t), name);
	double share;

	if (run == try_base(t) || !is_large(run, k) || !base || !base->nr ||
	    k->is_loop || !try_is_judged(run))
		return false;
	share = (double)k->nr / (double)base->nr;
	return share < 1 - OTHER_WORK || share > 1 + OTHER_WORK;
}

/*
 * A loop is the same work in other pieces: the time of all of them counts.
 * Those of the thread that called it are in no lane; with the first number of
 * workers they took as long as that run at most.
 */
static double compare_loops(const struct tried *t, const struct kind *k,
			    const struct kind *base)
{
	return (double)k->total /
	       (double)(base->total + try_base(t)->report.wall);
}

double try_times(const struct tried *t, const struct run *run, const char *name)
{
	const struct kind *k = try_kind(run, name);
	const struct kind *base = try_kind(try_base(t), name);
	double times;

	if (run == try_base(t) || !base || !base->total || !is_large(run, k) ||
	    !try_is_judged(run) || try_is_other_work(t, run, name))
		return 0;
	times = k->is_loop ? compare_loops(t, k, base)
			   : try_mean(k) / try_mean(base);
	return times >= SLOWER ? times : 0;
}

const char *try_meaning(const struct run *run, const struct kind *k)
{
	if ((double)(k->asleep + k->futex) > 0.25 * (double)k->total)
		return "its bodies sleep, as in a lock: lkdf report names it "
		       "where lkdf probe runs";
	if (!run->report.has.cpu)
		return "its bodies meet: in memory (false sharing, a spin "
		       "lock, bandwidth), or asleep, which was not recorded";
	return "its bodies meet in memory: false sharing, a spin lock, or "
	       "bandwidth";
}

const struct pmu_counts *try_counts(const struct run *run, const char *name)
{
	const struct kind *k = run->counts ? try_kind(run, name) : NULL;

	return k ? &run->counts[k - run->report.kind] : NULL;
}

double try_ipc(const struct pmu_counts *c)
{
	return share_of(c->n[PMU_INSTRUCTIONS], c->n[PMU_CYCLES]);
}

double try_misses(const struct pmu_counts *c)
{
	return 1000 * share_of(c->n[PMU_MISSES], c->n[PMU_INSTRUCTIONS]);
}
