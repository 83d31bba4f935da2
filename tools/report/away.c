/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks between two of their bodies: lkdf_then(), LKDF_AGAIN. Each is kept with
 * the body before and the one after it, so that a request goes on across them
 * whoever made its task ready again.
 */
#include "report/load.h"

#include <errno.h>
#include <stdlib.h>

void note_away(struct load *l, const struct trace_span *s,
	       const struct span *at)
{
	struct report *r = l->r;
	uint32_t cap = l->cap_aways * 2 + 64;
	struct away *more;

	if (r->nr_aways == l->cap_aways) {
		more = cap > l->cap_aways
			       ? realloc(r->away, cap * sizeof(*more))
			       : NULL;
		if (!more) {
			l->rc = -ENOMEM;
			return;
		}
		r->away = more;
		l->cap_aways = cap;
	}
	r->away[r->nr_aways++] = (struct away){
		.begin = at->begin,
		.end = at->end,
		.slice = load_uid(s->links.number),
		.lane = (uint16_t)s->lane,
		.before = load_by(&s->links),
		.before_lane = load_by_lane(&s->links),
		.name = s->name,
	};
}

static int by_slice(const void *a, const void *b)
{
	const struct away *x = a, *y = b;

	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Those whose body is not there come last, and go. */
void aways_sort(struct report *r)
{
	if (r->nr_aways)
		qsort(r->away, r->nr_aways, sizeof(*r->away), by_slice);
	while (r->nr_aways && r->away[r->nr_aways - 1].slice == NO_SLICE)
		r->nr_aways--;
}

const struct away *report_away(const struct report *r, uint32_t slice)
{
	uint32_t low = 0, high = r->nr_aways, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (r->away[mid].slice < slice)
			low = mid + 1;
		else
			high = mid;
	}
	return low < r->nr_aways && r->away[low].slice == slice ? &r->away[low]
								: NULL;
}
