/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Frames by number: an item of a deque has no room for an address.
 */
#ifndef RUN_SLOTS_H
#define RUN_SLOTS_H

#include "core/runtime.h"

#define MAX_FRAMES (FRAME_CHUNK * FRAME_CHUNK)

/* A slot number for the frame, or -ENOSPC, -ENOMEM. */
int slots_add(struct lkdf *rt, struct frame *f);
void slots_del(struct lkdf *rt, uint32_t slot);

/* The runtime closes: no frame is left. */
void slots_fini(struct lkdf *rt);

static inline struct frame *slots_frame(struct lkdf *rt, uint32_t slot)
{
	return rt->frames[slot / FRAME_CHUNK][slot % FRAME_CHUNK];
}

#endif
