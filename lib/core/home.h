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

/* The home is a part, whose number replaces the node's; see
 * mechanism/part/part.h. */
#define HOME_PART 0x8000u

/* For a kernel: that device, whose number takes the place of the node's. */
#define HOME_DEVICE 0x4000u

/* For a kernel: the node or part was asked for, and not made a guess at. */
#define HOME_HOST 0x2000u

#define HOME_NUMBER 0x1ffeu

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
	return (home & HOME_NUMBER) >> 1;
}

static inline uint16_t home_make_device(unsigned device)
{
	return (uint16_t)(HOME_DEVICE | device << 1);
}

static inline bool home_is_device(uint16_t home)
{
	return home & HOME_DEVICE;
}

static inline unsigned home_device(uint16_t home)
{
	return (home & HOME_NUMBER) >> 1;
}

/* For a home that is neither part nor device. */
static inline int home_node(uint16_t home)
{
	return ((home & HOME_NUMBER) >> 1) - 1;
}

static inline bool home_is_bound(uint16_t home)
{
	return home & 1;
}

#endif
