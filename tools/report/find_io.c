/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Workers that wait for operations, or take long to give them to the kernel. */
#include "report/find.h"
#include "words.h"

#include <stdio.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
/* Below these shares of worker time there is nothing to tell. */
#define LEAST_IO 0.03
#define LEAST_ENTER 0.05

static double op_total(const struct kind *k)
{
	return (double)k->op_total;
}

void find_io(struct report *r)
{
	const struct kind *k = find_most(r, op_total);
	struct finding *f;

	if (find_is_small(r, find_share(r, TIME_IO), LEAST_IO))
		return;
	f = find_add(r, "io", FINDING_COST, find_share(r, TIME_IO));
	PUT(f->title, "Workers wait for operations, most of them %s",
	    find_kind_name(r, k));
	PUT(f->why,
	    "For %s of worker time nothing was ready while operations were "
	    "under way: %.1f on average, %u at most. %s takes %s in the "
	    "middle, 1 %% of them %s and more.",
	    words_time(r->time[TIME_IO]).text, r->mean_ops, r->most_ops,
	    find_kind_name(r, k), words_time(k ? k->op50 : 0).text,
	    words_time(k ? k->op99 : 0).text);
	PUT(f->fix,
	    "keep more operations under way at a time (a larger window, "
	    "max_tasks of the scope), or use a faster device");
}

void find_enter(struct report *r)
{
	struct finding *f;

	if (find_is_small(r, find_share(r, TIME_ENTER), LEAST_ENTER))
		return;
	f = find_add(r, "enter", FINDING_COST, find_share(r, TIME_ENTER));
	PUT(f->title, "Workers give operations to the kernel for long");
	PUT(f->why,
	    "%s of worker time in %s calls of io_uring_enter(2), %s each: "
	    "operations that the kernel does at once, in the caller.",
	    words_time(r->time[TIME_ENTER]).text,
	    words_count(r->nr_enters).text,
	    words_time(r->time[TIME_ENTER] / (r->nr_enters ? r->nr_enters : 1))
		    .text);
	PUT(f->fix, "fewer, larger operations, or more of them under way at a "
		    "time: one call gives several");
}
