/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What lies in a deque. With bit 0 clear it is a link (link_item() of
 * sched/inbox.h), with bit 0 set a task of a frame:
 *
 *	index : 32 | slot of the frame : 24 | unused : 6 | skip : 1 | 1
 */
#ifndef FLOW_ITEM_H
#define FLOW_ITEM_H

#include "flow/frame.h"

#define ITEM_OF_FRAME 1u
#define ITEM_SKIP 2u
#define ITEM_SLOT_SHIFT 8

static inline uint64_t item_make(const struct frame *f, uint32_t index,
				 uint32_t skip)
{
	return (uint64_t)index << 32 | f->slot << ITEM_SLOT_SHIFT | skip |
	       ITEM_OF_FRAME;
}

static inline uint32_t item_slot(uint64_t item)
{
	return (uint32_t)item >> ITEM_SLOT_SHIFT;
}

static inline uint32_t item_index(uint64_t item)
{
	return (uint32_t)(item >> 32);
}

#endif
