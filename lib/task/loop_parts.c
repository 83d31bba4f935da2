/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which node begins with which part of a loop's range: by the workers of the
 * nodes, or by where the bytes of a data are.
 */
#include "task/parallel_for.h"

#include "base/err.h"
#include "data/data.h"
#include "topo/topo.h"

#include <errno.h>
#include <stdlib.h>

/* The data is looked at in so many places. */
#define MAX_LOOKS 1024

/* nr * part / all without overflow; part <= all < 2^32. */
static uint64_t share_of(uint64_t nr, uint64_t part, uint64_t all)
{
	return nr / all * part + nr % all * part / all;
}

uint64_t loop_share(const struct loop *l, uint64_t below, uint64_t all)
{
	uint64_t nr = l->range.end - l->range.begin;
	uint64_t units = (nr - 1) / l->grain + 1;

	if (below == all)
		return l->range.end;
	/* In whole grains below the end: it does not overflow. */
	return l->range.begin +
	       min_u64(share_of(units, below, all) * l->grain, nr);
}

static int by_workers(const struct loop *l, struct part *part)
{
	const struct sched *s = &l->rt->sched;
	uint64_t below = 0, begin = l->range.begin, end;
	int i, nr = 0;

	for (i = 0; i < s->nr_nodes; i++) {
		if (!s->nodes[i].nr_workers)
			continue;
		below += (uint64_t)s->nodes[i].nr_workers;
		end = loop_share(l, below, (uint64_t)s->nr_regular);
		if (begin < end)
			part[nr++] = (struct part){ begin, end, i };
		begin = end;
	}
	return nr;
}

static int node_at(struct lkdf_data *d, uint32_t nr_parts, uint64_t offset)
{
	uint32_t part;

	if (!d->is_mapped || !nr_parts)
		return a_load(&d->node, relaxed);
	part = (uint32_t)min_u64(offset / d->stride + 1, nr_parts);
	return a_load(&domain_var(&d->domain, part)->node, relaxed);
}

/* Looks at the middle of each of nr equal pieces; those of one node are one. */
static int by_data(const struct loop *l, struct part *part, uint32_t nr)
{
	const struct sched *s = &l->rt->sched;
	uint64_t begin = l->range.begin, end, offset;
	uint32_t i, parts = l->data->domain.nr_parts;
	int node, nr_out = 0;

	for (i = 0; i < nr; i++) {
		offset = share_of(l->data->bytes, 2 * i + 1, 2 * nr);
		node = node_at(l->data, parts, offset);
		if (node < 0 || node >= s->nr_nodes ||
		    !sched_has_worker(s, node))
			node = -1;
		end = loop_share(l, i + 1, nr);
		if (begin == end)
			continue;
		if (nr_out && part[nr_out - 1].node == node)
			part[nr_out - 1].end = end;
		else
			part[nr_out++] = (struct part){ begin, end, node };
		begin = end;
	}
	return nr_out;
}

int loop_parts(const struct loop *l, struct part **out)
{
	uint32_t looks = 1;
	struct part *part;
	int nr;

	if (l->data && l->data->domain.nr_parts)
		looks = (uint32_t)min_u64(l->data->domain.nr_parts, MAX_LOOKS);
	part = malloc(((size_t)l->rt->sched.nr_nodes + looks) * sizeof(*part));
	if (!part)
		return err(-ENOMEM, "for: no memory for the parts of nodes");
	nr = l->data ? by_data(l, part, looks) : 0;
	/* Nobody knows where the bytes are. */
	if (!nr || (nr == 1 && part[0].node < 0))
		nr = by_workers(l, part);
	*out = part;
	return nr;
}
