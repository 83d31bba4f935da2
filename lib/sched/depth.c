/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/depth.h"

#include <pthread.h>

/* All threads whose stack nobody has asked for yet have more. */
#define UNASKED 16384

/* Where the kernel does not tell: what a thread has at least. */
#define UNKNOWN (128 << 10)

void depth_set(struct depth *d, const void *base, size_t size)
{
	d->size = size;
	d->join_from = (uintptr_t)base + size / 4;
	d->inline_from = (uintptr_t)base + size / 4 * 3;
	d->nr_inline = 0;
}

void depth_begin(struct depth *d)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	d->size = 0;
	d->join_from = d->inline_from = here - UNASKED;
	d->nr_inline = 0;
}

bool depth_look(struct depth *d)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t base = here > UNKNOWN ? here - UNKNOWN : 0;
	uint32_t nr_inline = d->nr_inline;
	size_t size = UNKNOWN;
	pthread_attr_t attr;
	void *lowest;

	if (d->size)
		return false;
	if (!pthread_getattr_np(pthread_self(), &attr)) {
		if (!pthread_attr_getstack(&attr, &lowest, &size))
			base = (uintptr_t)lowest;
		pthread_attr_destroy(&attr);
	}
	depth_set(d, (const void *)base, size);
	d->nr_inline = nr_inline;
	return here >= d->join_from;
}
