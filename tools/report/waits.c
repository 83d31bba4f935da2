/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Waits of the program's threads, and windows that are full. */
#include "report/find.h"
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

static int by_name(const void *a, const void *b)
{
	const struct wait *x = *(const struct wait *const *)a;
	const struct wait *y = *(const struct wait *const *)b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->fits < y->fits ? -1 : x->fits > y->fits;
}

static int longest_first(const void *a, const void *b)
{
	const struct wait_sum *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->fits < y->fits ? -1 : x->fits > y->fits;
}

static void add_wait(struct wait_sum *sum, const struct wait *w)
{
	uint64_t size = w->end - w->begin;

	sum->name = w->name;
	sum->fits = w->fits;
	sum->nr++;
	sum->total += size;
	if (size < sum->max)
		return;
	sum->max = size;
	sum->at = (struct place){ w->begin, w->end, -1 };
}

int report_waits(struct report *r)
{
	const struct wait **w = malloc((r->nr_waits + 1ull) * sizeof(*w));
	uint32_t i;

	r->wait_sum = calloc(r->nr_waits + 1ull, sizeof(*r->wait_sum));
	if (!w || !r->wait_sum) {
		free(w);
		return -ENOMEM;
	}
	for (i = 0; i < r->nr_waits; i++)
		w[i] = &r->wait[i];
	qsort(w, r->nr_waits, sizeof(*w), by_name);
	for (i = 0; i < r->nr_waits; i++) {
		r->nr_wait_sums += !i || by_name(&w[i - 1], &w[i]);
		add_wait(&r->wait_sum[r->nr_wait_sums - 1], w[i]);
	}
	free(w);
	qsort(r->wait_sum, r->nr_wait_sums, sizeof(*r->wait_sum),
	      longest_first);
	return 0;
}

/* The longest total of those for room. */
static const struct wait_sum *most_full(const struct report *r)
{
	const struct wait_sum *w = r->wait_sum;

	while (!w->fits)
		w++;
	return w;
}

/* Each worker has a task, and the next one is there when its body ends. */
static uint64_t fits_all(const struct report *r)
{
	return 2ull * r->nr_workers;
}

bool find_full(struct report *r)
{
	const struct wait_sum *w = most_full(r);
	const char *name = r->info.name[w->name];
	struct finding *f;

	if (find_is_refuted(r, "room", name))
		return false;
	f = find_add(r, "window", FINDING_COST, find_part(r, STARVE_ROOM));
	find_predict(r, f, "room", name);
	PUT(f->title, "Workers starve while the program waits for %.110s",
	    name);
	PUT(f->why,
	    "Nothing was ready for %s of worker time, and in %s of it a thread "
	    "of the program waited for room, %s times, %s in all, at most %s. "
	    "There are %u workers.",
	    words_time(r->time[TIME_STARVED]).text,
	    words_share(
		    share_of(r->starved[STARVE_ROOM], r->time[TIME_STARVED]))
		    .text,
	    words_count(w->nr).text, words_time(w->total).text,
	    words_time(w->max).text, r->nr_workers);
	if (w->fits < fits_all(r))
		PUT(f->fix,
		    "%s of %llu or more: one under way and one that is next "
		    "for each worker of this run; record again",
		    strncmp(name, "room in channel", 15) ? ".max_tasks"
							 : ".depth",
		    (unsigned long long)fits_all(r));
	else
		PUT(f->fix, "%s",
		    "a larger window, or larger tasks: this one is empty "
		    "before the thread is back");
	f->at = w->at;
	return true;
}
