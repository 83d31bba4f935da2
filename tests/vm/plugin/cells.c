/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/vm/plugin/cells.h"

#include <inttypes.h>
#include <string.h>

int ranges_add(struct ranges *r, const char *name, uint64_t from, uint64_t to)
{
	unsigned i = 0;

	while (i < r->nr && r->range[i].from < from)
		i++;
	if (r->nr == RANGES_MAX || from >= to ||
	    (i && r->range[i - 1].to > from) ||
	    (i < r->nr && r->range[i].from < to))
		return -1;
	memmove(&r->range[i + 1], &r->range[i],
		(r->nr - i) * sizeof(r->range[0]));
	snprintf(r->range[i].name, sizeof(r->range[i].name), "%s", name);
	r->range[i].from = from;
	r->range[i].to = to;
	r->nr++;
	return 0;
}

int ranges_find(const struct ranges *r, uint64_t at, unsigned *last)
{
	unsigned low = 0, high = r->nr, mid;

	if (*last < r->nr && at >= r->range[*last].from &&
	    at < r->range[*last].to)
		return (int)*last;
	while (low < high) {
		mid = (low + high) / 2;
		if (at < r->range[mid].from)
			high = mid;
		else if (at >= r->range[mid].to)
			low = mid + 1;
		else
			return (int)(*last = mid);
	}
	return -1;
}

static void add(struct cell *sum, const struct cell *a, const struct cell *b)
{
	sum->bytes += a->bytes - b->bytes;
	sum->accesses += a->accesses - b->accesses;
}

void cells_add_difference(struct cells *sum, const struct cells *a,
			  const struct cells *b)
{
	unsigned i, n;

	for (n = 0; n <= CONTROL_MAX_NODES; n++) {
		for (i = 0; i < CELLS_NR_CLASSES; i++)
			add(&sum->class[i][n], &a -> class[i][n],
			    &b -> class[i][n]);
		for (i = 0; i < RANGES_MAX; i++)
			add(&sum->range[i][n], &a->range[i][n],
			    &b->range[i][n]);
	}
}

static void print_cell(const struct cell *c, int from, int to, FILE *out)
{
	fprintf(out, " %d %d %" PRIu64 " %" PRIu64 "\n",
		from == CELLS_NO_NODE ? -1 : from,
		to == CELLS_NO_NODE ? -1 : to, c->bytes, c->accesses);
}

void cells_print(const struct cells *c, const struct ranges *r, int node,
		 FILE *out)
{
	static const char *const names[] = { "data", "runtime", "body" };
	unsigned i;
	int n;

	for (i = 0; i < CELLS_NR_CLASSES; i++) {
		for (n = 0; n <= CONTROL_MAX_NODES; n++) {
			if (!c->class[i][n].accesses)
				continue;
			fprintf(out, "cell %s", names[i]);
			print_cell(&c->class[i][n], node, n, out);
		}
	}
	for (i = 0; i < r->nr; i++) {
		for (n = 0; n <= CONTROL_MAX_NODES; n++) {
			if (!c->range[i][n].accesses)
				continue;
			fprintf(out, "range %s", r->range[i].name);
			print_cell(&c->range[i][n], node, n, out);
		}
	}
}
