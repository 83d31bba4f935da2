/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/slots.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>

/* A free slot holds the number of the next one, plus 1, where the frame was. */
static int take_slot(struct lkdf *rt)
{
	uint32_t slot = rt->free_frame;
	struct frame **chunk;

	if (slot) {
		slot--;
		rt->free_frame = (uint32_t)(uintptr_t)slots_frame(rt, slot);
		return (int)slot;
	}
	slot = rt->nr_frames;
	if (slot == MAX_FRAMES)
		return err(-ENOSPC, "runtime: more than %d frames", MAX_FRAMES);
	if (slot % FRAME_CHUNK == 0) {
		chunk = calloc(FRAME_CHUNK, sizeof(*chunk));
		if (!chunk)
			return err(-ENOMEM, "runtime: no memory for frames");
		rt->frames[slot / FRAME_CHUNK] = chunk;
	}
	rt->nr_frames++;
	return (int)slot;
}

int slots_add(struct lkdf *rt, struct frame *f)
{
	int slot;

	pthread_mutex_lock(&rt->lock);
	slot = take_slot(rt);
	if (slot >= 0)
		rt->frames[slot / FRAME_CHUNK][slot % FRAME_CHUNK] = f;
	pthread_mutex_unlock(&rt->lock);
	return slot;
}

void slots_del(struct lkdf *rt, uint32_t slot)
{
	pthread_mutex_lock(&rt->lock);
	rt->frames[slot / FRAME_CHUNK][slot % FRAME_CHUNK] =
		(struct frame *)(uintptr_t)rt->free_frame;
	rt->free_frame = slot + 1;
	pthread_mutex_unlock(&rt->lock);
}

void slots_fini(struct lkdf *rt)
{
	int i;

	for (i = 0; i < FRAME_CHUNK; i++)
		free(rt->frames[i]);
}
