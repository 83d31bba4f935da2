/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The few facts about nodes that can be had without hwloc and without
 * allocating: for the allocator, which may be the process's own malloc.
 */
#ifndef TOPO_RAW_H
#define TOPO_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fill is_node[0 .. nr-1] from /sys: nodes, and those that have memory. False:
 * the kernel does not say.
 */
bool topo_raw_nodes(bool *is_node, int nr);
bool topo_raw_memory_nodes(bool *is_node, int nr);

/* From a node to the first nr nodes there are. False: not told. */
bool topo_raw_distances(int os_node, int *distance, int nr);

/* Bytes free on the system's node; -1: the kernel does not say. */
int64_t topo_raw_node_free(int os_node);

#endif
