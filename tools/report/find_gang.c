/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Regions of OpenMP, and other runs of gangs. A run has one body on worker 0
 * and one on each further worker that takes part; those begin when their
 * workers have seen it.
 */
#include "report/find.h"
#include "words.h"

#include <stdio.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

/* In fewer runs a thread may begin late because its CPU was taken. */
#define LEAST_RUNS 16

/* To begin takes half as long as the work of a thread, or more. */
static bool is_small(const struct kind *k)
{
	return k->is_member && k->nr_first >= LEAST_RUNS &&
	       k->nr > k->nr_first && k->waited50 * 2 >= k->p50;
}

static const struct kind *find_small(const struct report *r, uint64_t *waited)
{
	const struct kind *found = NULL;
	uint32_t i;

	*waited = 0;
	for (i = 0; i < r->nr_kinds; i++) {
		if (!is_small(&r->kind[i]))
			continue;
		*waited += r->kind[i].waited;
		if (!found || r->kind[i].waited > found->waited)
			found = &r->kind[i];
	}
	return found;
}

static unsigned threads_of(const struct kind *k)
{
	return (unsigned)((k->nr + k->nr_first / 2) / k->nr_first);
}

bool find_region(struct report *r)
{
	uint64_t waited;
	const struct kind *k = find_small(r, &waited);
	double cost = share_of(waited, worker_time(r));
	struct finding *f;
	const char *name;

	if (!k || find_is_small(r, cost, WORTH_TELLING))
		return false;
	name = r->info.name[k->name];
	f = find_add(r, "region", FINDING_COST, cost < 1 ? cost : 1);
	PUT(f->title, "%.64s is too small: %s for %u threads", name,
	    words_time(k->total / k->nr_first).text, threads_of(k));
	PUT(f->why,
	    "It ran %s times. A thread works %s of it in the middle, and the "
	    "others begin %s after the first one has asked for them (1 %% of "
	    "them %s and more): %s of worker time in all such regions.",
	    words_count(k->nr_first).text, words_time(k->p50).text,
	    words_time(k->waited50).text, words_time(k->waited99).text,
	    words_time(waited).text);
	PUT(f->fix, "num_threads() or an if clause, so that so little work has "
		    "one thread; or one region around several loops");
	return true;
}
