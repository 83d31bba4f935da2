/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* For mc_channel.c: memory that the checker knows, and what again.c calls. */
#ifndef MC_CHANNEL_BELOW_H
#define MC_CHANNEL_BELOW_H

#include "check_below.h"
#include "core/ops.h"
#include "mc.h"
#include "scope/event_tap.h"
#include "scope/scope.h"
#include "task/parallel_for.h"
#include "task/task.h"
#include "task/traced.h"

#include <errno.h>
#include <string.h>

/* No body here is the block of a loop. */
const struct owner_ops loop_block_ops = { .scope = NULL };

void *mc_calloc(size_t nr, size_t size);

/* calloc() of queue.c, by a flag in mc.mk. */
void *mc_calloc(size_t nr, size_t size)
{
	return memset(mc_alloc(nr * size), 0, nr * size);
}

/* memcpy() of queue.c: one side is a slot's value. */
void *mc_memcpy(void *to, const void *from, size_t size);

void *mc_memcpy(void *to, const void *from, size_t size)
{
	mc_assert(size == sizeof(uint32_t));
	plain_store((uint32_t *)to, plain_load((const uint32_t *)from));
	return to;
}

/* aligned_alloc() of channel.c. */
void *mc_aligned_alloc(size_t align, size_t size);

void *mc_aligned_alloc(size_t align, size_t size)
{
	mc_assert(align == CACHE_LINE);
	return mc_alloc(size);
}

void traced_waits(struct task *t, const char *text)
{
	(void)t;
	(void)text;
	mc_fail("nobody records");
}

struct task *task_of_ctx(struct lkdf_ctx *c)
{
	return c->task;
}

/* As scope_cancel(). */
static inline void cancel_scope(struct lkdf_scope *s, struct lkdf *r)
{
	a_store(&s->cancel_err, -EINTR, seq_cst);
	event_tap_cancel(r);
}

#endif
