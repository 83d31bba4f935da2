/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "graph/pairs.h"

#include <stdlib.h>

int pairs_compare(const void *a, const void *b)
{
	const struct access_pair *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

void pairs_index(const struct lkdf_graph *g, struct array *a,
		 int (*compare)(const void *a, const void *b))
{
	struct access_pair *p = a->items;
	size_t i;

	for (i = 0; i < a->nr; i++) {
		p[i].from = graph_index(g, p[i].from);
		p[i].to = graph_index(g, p[i].to);
	}
	if (a->nr)
		qsort(p, a->nr, sizeof(*p), compare);
}

const struct access_pair *pairs_find(const struct access_table *w,
				     uint32_t from, uint32_t to,
				     const struct access_pair **end)
{
	const struct access_pair key = { .from = from, .to = to },
				 *p = w->order_only.items;
	size_t low = 0, high = w->order_only.nr, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (pairs_compare(&p[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (high = low; high < w->order_only.nr; high++)
		if (pairs_compare(&p[high], &key))
			break;
	*end = p + high;
	return p + low;
}
