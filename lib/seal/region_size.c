/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "seal/region_size.h"

#include "graph/region.h"

#include <stdlib.h>
#include <string.h>

uint64_t region_edge_bytes(const struct region_size *s)
{
	uint64_t each = sizeof(struct region_edge) + 3 * sizeof(uint16_t) +
			sizeof(uint8_t);

	if (s->nr_ports)
		each += sizeof(uint32_t);
	return s->nr_edges * each + s->nr_ports * sizeof(uint32_t);
}

/* Takes bytes of the block, in steps that all types in it are aligned to. */
static void *take_bytes(char **at, size_t bytes)
{
	void *p = *at;

	*at += round_up(bytes, 8);
	return p;
}

struct region *region_create(const struct region_size *s)
{
	size_t bytes =
		round_up(sizeof(struct region) +
				 s->nr * (sizeof(struct region_task) +
					  5 * sizeof(uint32_t)) +
				 region_edge_bytes(s) +
				 s->nr_sparse * sizeof(struct region_sparse) +
				 s->nr_slots * sizeof(uint16_t) + 96,
			 CACHE_LINE);
	struct region *r = aligned_alloc(CACHE_LINE, bytes);
	char *at = (char *)(r + 1);

	if (!r)
		return NULL;
	memset((void *)r, 0, bytes);
	r->nr = s->nr;
	r->nr_words = (s->nr + 63) / 64;
	r->nr_edges = s->nr_edges;
	r->task = take_bytes(&at, s->nr * sizeof(struct region_task));
	r->edge = take_bytes(&at, s->nr_edges * sizeof(struct region_edge));
	/* A task has one place more, behind its branches. */
	r->at = take_bytes(&at, (s->nr + s->nr_edges) * sizeof(uint16_t));
	r->jump = take_bytes(&at, (s->nr + s->nr_edges) * sizeof(uint16_t));
	r->number = take_bytes(&at, (s->nr + s->nr_edges) * sizeof(uint16_t));
	r->sparse =
		take_bytes(&at, s->nr_sparse * sizeof(struct region_sparse));
	r->slot = take_bytes(&at, s->nr_slots * sizeof(uint16_t));
	r->waits = take_bytes(&at, s->nr * sizeof(uint16_t));
	r->begins.at = take_bytes(&at, s->nr_begins * sizeof(uint16_t));
	r->readers.at = take_bytes(&at, s->nr_readers * sizeof(uint16_t));
	if (s->nr_ports) {
		r->ports.live = take_bytes(&at, s->nr_ports * sizeof(uint32_t));
		r->ports.of = take_bytes(&at, s->nr_edges * sizeof(uint32_t));
	}
	check(at <= (char *)r + bytes);
	return r;
}
