/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where a task runs: a node or a part of its workers, and whether nowhere else.
 */
#ifndef CORE_HOME_H
#define CORE_HOME_H

#include <stdbool.h>
#include <stdint.h>

/* Anywhere. */
#define HOME_NONE 0

/* Of a part, whose number takes the place of the node's; see sched/part.h. */
#define HOME_PART 0x8000u

/*
 * A task's way to another node costs some microseconds: as much as so many
 * bytes from there.
 */
#define HOME_MIN_BYTES 16384

static inline uint16_t home_make(int node, bool is_bound)
{
	return (uint16_t)(((unsigned)node + 1) << 1 | is_bound);
}

static inline uint16_t home_make_part(unsigned part, bool is_bound)
{
	return (uint16_t)(HOME_PART | part << 1 | is_bound);
}

static inline bool home_is_part(uint16_t home)
{
	return home & HOME_PART;
}

static inline unsigned home_part(uint16_t home)
{
	return (home & ~HOME_PART) >> 1;
}

/* Of a home that is no part. */
static inline int home_node(uint16_t home)
{
	return (home >> 1) - 1;
}

static inline bool home_is_bound(uint16_t home)
{
	return home & 1;
}

#endif
