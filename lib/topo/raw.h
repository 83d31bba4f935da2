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
 * Fills is_node[0 .. nr-1] from /sys: nodes that have memory. False: the
 * kernel does not say.
 */
bool topo_raw_memory_nodes(bool *is_node, int nr);

/* Bytes free on the system's node; -1: the kernel does not say. */
int64_t topo_raw_node_free(int os_node);

#endif
