/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The table of a tool, see lkdf/hooks.h. Off: one test of a pointer. */
#ifndef TRACE_HOOKS_H
#define TRACE_HOOKS_H

#include "base/atomic.h"
#include "base/util.h"

#include <lkdf/hooks.h>
#include <stdbool.h>

struct hooks {
	/* Set at open, constant afterwards. */
	struct lkdf_hooks *table; /* a copy; NULL: no tool */
	void *u, *library;

	/* Any thread. */
	_Atomic(uint64_t) next_id;
};

/* 0: nobody is told. */
static inline uint64_t hooks_copy_begin(struct hooks *h, const char *label,
					int node, uint64_t bytes)
{
	uint64_t id;

	if (likely(!h->table))
		return 0;
	id = a_add(&h->next_id, 1, relaxed) + 1;
	if (h->table->copy_begin)
		h->table->copy_begin(h->u, label, id, node, bytes);
	return id;
}

static inline void hooks_copy_end(struct hooks *h, uint64_t id)
{
	if (unlikely(id) && h->table->copy_end)
		h->table->copy_end(h->u, id);
}

static inline uint64_t hooks_kernel_begin(struct hooks *h, const char *label,
					  uint32_t device)
{
	uint64_t id;

	if (likely(!h->table))
		return 0;
	id = a_add(&h->next_id, 1, relaxed) + 1;
	if (h->table->kernel_begin)
		h->table->kernel_begin(h->u, label, id, device);
	return id;
}

static inline void hooks_kernel_end(struct hooks *h, uint64_t id)
{
	if (unlikely(id) && h->table->kernel_end)
		h->table->kernel_end(h->u, id);
}

static inline uint64_t hooks_loop_begin(struct hooks *h, const char *label,
					uint64_t begin, uint64_t end)
{
	uint64_t id;

	if (likely(!h->table))
		return 0;
	id = a_add(&h->next_id, 1, relaxed) + 1;
	if (h->table->loop_begin)
		h->table->loop_begin(h->u, label, id, begin, end);
	return id;
}

static inline void hooks_loop_end(struct hooks *h, uint64_t id)
{
	if (unlikely(id) && h->table->loop_end)
		h->table->loop_end(h->u, id);
}

static inline bool hooks_want_tasks(const struct hooks *h)
{
	return h->table && (h->table->task_begin || h->table->task_end);
}

/* Kinds with SLOW_WATCHED only; 0: nobody is told. */
static inline uint64_t hooks_task_begin(struct hooks *h, const char *label,
					uint32_t executor)
{
	uint64_t id;

	if (!hooks_want_tasks(h))
		return 0;
	id = a_add(&h->next_id, 1, relaxed) + 1;
	if (h->table->task_begin)
		h->table->task_begin(h->u, label, id, executor);
	return id;
}

static inline void hooks_task_end(struct hooks *h, uint64_t id,
				  uint32_t executor)
{
	if (id && h->table->task_end)
		h->table->task_end(h->u, id, executor);
}

#endif
