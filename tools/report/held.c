/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Which wait for tokens ended when a body became ready. */
#include "report/reasons.h"

#include <stdlib.h>

/* A body became ready when its wait for tokens ended, but for that. */
#define HELD_SLACK 5000

static int by_held(const void *a, const void *b)
{
	const struct held *x = *(const struct held *const *)a;
	const struct held *y = *(const struct held *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

const struct held **held_index(const struct report *r)
{
	const struct held **h = malloc((r->nr_held + 1ull) * sizeof(*h));
	uint32_t i;

	for (i = 0; h && i < r->nr_held; i++)
		h[i] = &r->held[i];
	if (h)
		qsort(h, r->nr_held, sizeof(*h), by_held);
	return h;
}

const struct held *held_of(const struct report *r, const struct held **index,
			   const struct slice *s)
{
	uint32_t low = 0, high = r->nr_held, mid;
	const struct held *h;

	while (low < high) {
		mid = low + (high - low) / 2;
		h = index[mid];
		if (h->kind < s->kind ||
		    (h->kind == s->kind && h->end + HELD_SLACK < s->ready))
			low = mid + 1;
		else
			high = mid;
	}
	h = low < r->nr_held ? index[low] : NULL;
	return h && h->kind == s->kind && h->end <= s->ready + HELD_SLACK
		       ? h
		       : NULL;
}
