/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of a region: itself and all that it points to are one block.
 */
#ifndef SEAL_REGION_SIZE_H
#define SEAL_REGION_SIZE_H

#include <stdint.h>

struct region;

/* How large a region is to be. */
struct region_size {
	uint32_t nr, nr_edges;
	uint32_t nr_ports; /* edges with a byte */
	uint32_t nr_begins, nr_readers;
	uint32_t nr_sparse, nr_slots; /* tasks with slots, and all slots */
};

/* Bytes of edges and of their tables. */
uint64_t region_edge_bytes(const struct region_size *s);

/* All lists are empty. NULL: no memory. */
struct region *region_create(const struct region_size *s);

#endif
