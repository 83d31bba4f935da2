/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where a task runs: a node, and whether nowhere else.
 */
#ifndef CORE_HOME_H
#define CORE_HOME_H

#include <stdbool.h>
#include <stdint.h>

/* Anywhere. */
#define HOME_NONE 0

/*
 * A task's way to another node costs some microseconds: as much as so many
 * bytes from there.
 */
#define HOME_MIN_BYTES 16384

static inline uint16_t home_make(int node, bool is_bound)
{
	return (uint16_t)(((unsigned)node + 1) << 1 | is_bound);
}

static inline int home_node(uint16_t home)
{
	return (home >> 1) - 1;
}

static inline bool home_is_bound(uint16_t home)
{
	return home & 1;
}

#endif
