/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tasks that wait for threads of the blocking pool, not for workers. */
#include "report/find.h"
#include "words.h"

#include <stdio.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

/* All bodies of the kind ran there, and a wait is longer than a body. */
static bool waits_long(const struct kind *k)
{
	return k->nr && k->nr_pooled == k->nr && k->nr_waited &&
	       k->waited50 > k->p50;
}

static const struct kind *longest_wait(const struct report *r)
{
	const struct kind *found = NULL, *k;

	for (k = r->kind; k < r->kind + r->nr_kinds; k++)
		if (waits_long(k) && (!found || k->waited50 > found->waited50))
			found = k;
	return found;
}

static const struct kind *most_pooled(const struct report *r)
{
	const struct kind *found = &r->kind[0], *k;

	for (k = r->kind; k < r->kind + r->nr_kinds; k++)
		if (k->nr_pooled > found->nr_pooled)
			found = k;
	return found;
}

bool find_pool_busy(struct report *r)
{
	const struct kind *k = most_pooled(r);
	struct finding *f;

	/* find_pool() has more to say. */
	if (longest_wait(r))
		return true;
	f = find_add(r, "pool", FINDING_BOUND, 0);
	PUT(f->title, "Bodies run in the blocking pool, most of them %.60s",
	    r->info.name[k->name]);
	PUT(f->why,
	    "For %s of worker time no task was ready for a worker, and for %s "
	    "of that threads of the pool ran bodies: kinds with LKDF_BLOCKING. "
	    "Workers that sleep meanwhile cost no CPU.",
	    words_time(r->time[TIME_STARVED]).text,
	    words_share(
		    share_of(r->starved[STARVE_POOL], r->time[TIME_STARVED]))
		    .text);
	PUT(f->fix,
	    "nothing, where these bodies sleep; more threads (option blocking) "
	    "have more of them sleep at a time, and kinds that compute belong "
	    "to workers, without LKDF_BLOCKING");
	return true;
}

void find_pool(struct report *r)
{
	const struct kind *k = longest_wait(r);
	struct finding *f;
	const char *name;

	if (!k)
		return;
	name = r->info.name[k->name];
	f = find_add(r, "pool", FINDING_BOUND, 0);
	PUT(f->title, "%.60s waits for threads of the blocking pool", name);
	PUT(f->why,
	    "Its tasks wait %s in the middle, 1 %% of them %s and more, for "
	    "bodies of %s; %u threads of the pool ran bodies. Workers are "
	    "neither the cause nor the remedy.",
	    words_time(k->waited50).text, words_time(k->waited99).text,
	    words_time(k->p50).text, r->nr_blocking);
	PUT(f->fix,
	    "more threads (option blocking), if more than %u of its bodies "
	    "gain by running at a time; else fewer of them",
	    r->nr_blocking);
}
