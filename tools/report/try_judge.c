/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/try.h"

#include <string.h>

double try_mean(const struct kind *k)
{
	return k && k->nr ? (double)k->total / (double)k->nr : 0;
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

double try_times(const struct tried *t, const struct run *run, const char *name)
{
	const struct kind *k = try_kind(run, name);
	double base = try_mean(try_kind(&t->run[0], name)), times;

	if (run == t->run || base <= 0 || !k || !try_is_judged(run) ||
	    share_of(k->total, worker_time(&run->report)) < LEAST_SHARE)
		return 0;
	times = try_mean(k) / base;
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
