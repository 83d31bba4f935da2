/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/vm/plugin/nodemap.h"

#include <inttypes.h>
#include <stdbool.h>

int nodemap_add(struct nodemap *m, int node, uint64_t from, uint64_t to)
{
	if (m->nr == NODEMAP_MAX || from >= to)
		return -1;
	m->range[m->nr++] =
		(struct nodemap_range){ .node = node, .from = from, .to = to };
	return 0;
}

void nodemap_learn(struct nodemap *m, uint64_t at, uint64_t number)
{
	struct nodemap_range *r;

	for (r = m->range; r < m->range + m->nr; r++) {
		if (at < r->from || at >= r->to)
			continue;
		if (!r->nr_pages)
			r->shift = number - at;
		if (r->shift == number - at)
			r->nr_pages++;
		else
			m->nr_conflicts++;
		return;
	}
	m->nr_conflicts++;
}

static bool contains(const struct nodemap_range *r, uint64_t number)
{
	uint64_t at = number - r->shift;

	return r->nr_pages && at >= r->from && at < r->to;
}

int nodemap_node(const struct nodemap *m, uint64_t number, unsigned *last)
{
	unsigned i;

	if (*last < m->nr && contains(&m->range[*last], number))
		return m->range[*last].node;
	for (i = 0; i < m->nr; i++) {
		if (contains(&m->range[i], number)) {
			*last = i;
			return m->range[i].node;
		}
	}
	return -1;
}

void nodemap_print(const struct nodemap *m, FILE *out)
{
	const struct nodemap_range *r;

	for (r = m->range; r < m->range + m->nr; r++)
		fprintf(out,
			"memory %d %#" PRIx64 " %#" PRIx64 " shift %#" PRIx64
			" pages %u\n",
			r->node, r->from, r->to, r->shift, r->nr_pages);
	fprintf(out, "conflicts %u\n", m->nr_conflicts);
}
