/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Workers that wait for a CPU: how many there are for them, and who has them.
 */
#include "report/find.h"

#include "words.h"

#include <stdio.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

/* Mean number of workers that had a CPU while they had work. */
static double cpus_had(const struct report *r)
{
	uint64_t on = r->time[TIME_BODY] + r->time[TIME_KERNEL] +
		      r->time[TIME_ENTER] + r->time[TIME_RUNTIME];

	return r->wall ? (double)on / (double)r->wall : 0;
}

/* Those who had one, and those who waited for one: asleep is neither. */
static double cpus_wanted(const struct report *r)
{
	return cpus_had(r) +
	       (r->wall ? (double)r->time[TIME_TAKEN] / (double)r->wall : 0);
}

static bool knows_cpus(const struct report *r)
{
	return r->cpus > 0 && !r->is_made_up;
}

/* So many workers could have had one, as the machine says or as it went. */
static uint32_t cpus_for_workers(const struct report *r)
{
	double cpus = r->cpus + 0.25;

	if (!knows_cpus(r))
		cpus = r->nr_workers * cpus_had(r) / cpus_wanted(r) + 0.5;
	return cpus >= 1 ? (uint32_t)cpus : 1;
}

static uint32_t most_taken(const struct report *r)
{
	uint32_t i, found = 0;

	for (i = 0; i < r->nr_lanes; i++) {
		if (r->lane[i].time[TIME_TAKEN] >
		    r->lane[found].time[TIME_TAKEN])
			found = i;
	}
	return found;
}

static void place_of_taken(const struct lane *l, struct place *at)
{
	uint32_t i, best = 0;

	for (i = 1; i < l->nr_taken; i++) {
		if (l->taken_share[i] > l->taken_share[best])
			best = i;
	}
	if (l->nr_taken)
		*at = (struct place){ l->taken[best].begin, l->taken[best].end,
				      (int32_t)l->executor };
}

/* The recording has looked at one preemption of each sample. */
static void put_preemptor(const struct report *r, struct finding *f)
{
	const struct preemptor *x = r->preemptor, *most = x;
	size_t used = strlen(f->why);

	for (; x < r->preemptor + PREEMPTORS && x->nr; x++)
		if (x->nr > most->nr)
			most = x;
	if (most->nr)
		snprintf(f->why + used, sizeof(f->why) - used,
			 " Who got the CPU was looked at %s times: a thread "
			 "named %s in %s of them.",
			 words_count(r->nr_preemptors).text, most->name,
			 words_count(most->nr).text);
}

/* As many as there are CPUs, which is known, or how it looked. */
static void put_fix(const struct report *r, struct finding *f)
{
	uint32_t cpus = cpus_for_workers(r);

	if (cpus >= r->nr_workers)
		PUT(f->fix, "other threads run on the CPUs of workers: stop "
			    "them, or give workers their own with LKDF_CPUS= "
			    "or a cpuset");
	else if (knows_cpus(r))
		PUT(f->fix,
		    "LKDF_WORKERS=%u: as many as there are CPUs for them; or "
		    "raise the quota (cpu.max)",
		    cpus);
	else
		PUT(f->fix,
		    "LKDF_WORKERS=%u if there are no more CPUs for them; else "
		    "stop the other threads that run there, or raise the quota "
		    "(cpu.max)",
		    cpus);
}

void find_put_cpus(const struct report *r, struct finding *f)
{
	uint32_t lane = most_taken(r);
	size_t used = strlen(f->why);

	snprintf(f->why + used, sizeof(f->why) - used,
		 ", most on worker %u: %.1f of %u workers wanted a CPU on "
		 "average, and %.1f had one.",
		 lane, cpus_wanted(r), r->nr_workers, cpus_had(r));
	put_preemptor(r, f);
	put_fix(r, f);
	place_of_taken(&r->lane[lane], &f->at);
}
