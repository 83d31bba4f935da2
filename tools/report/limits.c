/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Which tasks have waited for tokens of which limit, and for how long. */
#include "report/find.h"
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int by_limit(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->limit != y->limit)
		return x->limit < y->limit ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int longest_first(const void *a, const void *b)
{
	const struct limit *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return by_limit(&(struct held){ .limit = x->name, .kind = x->kind },
			&(struct held){ .limit = y->name, .kind = y->kind });
}

static void add_wait(struct limit *l, const struct held *h)
{
	uint64_t size = h->end - h->begin;

	l->name = h->limit;
	l->kind = h->kind;
	l->nr++;
	l->total += size;
	if (size < l->max)
		return;
	l->max = size;
	l->at = (struct place){ h->begin, h->end, -1 };
}

int report_limits(struct report *r)
{
	const struct held *h;
	uint32_t i;

	r->limit = calloc(r->nr_held + 1ull, sizeof(*r->limit));
	if (!r->limit)
		return -ENOMEM;
	qsort(r->held, r->nr_held, sizeof(*r->held), by_limit);
	for (i = 0; i < r->nr_held; i++) {
		h = &r->held[i];
		r->nr_limits += !i || by_limit(h - 1, h);
		add_wait(&r->limit[r->nr_limits - 1], h);
	}
	qsort(r->limit, r->nr_limits, sizeof(*r->limit), longest_first);
	return 0;
}

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

bool find_held(struct report *r)
{
	const struct limit *l = &r->limit[0];
	const char *name = r->info.name[l->name];
	struct finding *f;

	if (find_is_refuted(r, "tokens", name))
		return false;
	f = find_add(r, "limit", FINDING_COST, find_part(r, STARVE_TOKENS));
	find_predict(r, f, "tokens", name);
	PUT(f->title, "Workers starve while tasks wait for %.96s", name);
	PUT(f->why,
	    "Nothing was ready for %s of worker time, and in %s of it tasks "
	    "waited for tokens. %s waited longest: %s times, %s in all, at "
	    "most %s.",
	    words_time(r->time[TIME_STARVED]).text,
	    words_share(
		    share_of(r->starved[STARVE_TOKENS], r->time[TIME_STARVED]))
		    .text,
	    kind_name(r, l->kind), words_count(l->nr).text,
	    words_time(l->total).text, words_time(l->max).text);
	PUT(f->fix,
	    "more tokens, or a kind with the limit for that part of "
	    "%.96s alone that needs it",
	    kind_name(r, l->kind));
	f->at = l->at;
	return true;
}
