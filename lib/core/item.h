/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Items, the contents of deques and inboxes. With bit 0 clear it is a link
 * (link_item() of sched/inbox.h), with bit 0 set a task of a frame:
 *
 *	index : 32 | slot of the frame : 24 | unused : 5 | planned : 1 |
 *	skip : 1 | 1
 */
#ifndef CORE_ITEM_H
#define CORE_ITEM_H

#include "sched/inbox.h"

#include <stdbool.h>
#include <stdint.h>

struct executor;

/* The object around a link that comes out of an inbox. */
enum link_type {
	LINK_TASK,
	LINK_TASK_DONE, /* of a graph, completed outside a worker */
	LINK_FRAME_START,
	LINK_FRAME_READY,
	LINK_CALL, /* a link_call, which says what is to be done */
	LINK_FRAME_PLANNED = LINK_PLANNED, /* ready ones of one node */
};

/* Work of any room, done once by a worker. */
struct link_call {
	struct link link; /* type LINK_CALL, and a class */
	void (*run)(struct executor *ex, struct link_call *call);
};

#define ITEM_OF_FRAME 1u
#define ITEM_SKIP 2u
#define ITEM_SLOT_SHIFT 8

/* Bits that all items of a frame have in common. */
static inline uint32_t item_of_frame(uint32_t slot, bool is_planned)
{
	return slot << ITEM_SLOT_SHIFT | (is_planned ? ITEM_PLANNED : 0) |
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
