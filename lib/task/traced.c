/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/traced.h"

#include "core/ops.h"
#include "core/runtime.h"
#include "data/claim.h"
#include "data/data.h"
#include "data/facts.h"

/* In pieces of 64 bytes, as much as fits. */
static uint32_t pieces(uint64_t bytes)
{
	return (uint32_t)min_u64((bytes + 63) / 64, UINT32_MAX);
}

/* Counts one use of a task; -1: nobody knows where it is. */
static int count_use(struct trace_ring *r, const struct use *u, uint64_t *bytes)
{
	const struct lkdf_data *d;
	int node;

	*bytes = 0;
	if (!u->domain)
		return -1;
	d = container_of(u->domain, struct lkdf_data, domain);
	*bytes = data_size(d, u->part);
	node = facts_node(d, u->part);
	if (node < 0)
		node = a_load(&d->node, relaxed);
	trace_count_bytes(r, node, *bytes);
	return node;
}

/* Of the data that a task was given: as in lkdf_stats_slice. */
static uint64_t value_of(struct lkdf_ctx *c, const struct task *t)
{
	uint64_t local = 0, remote = 0, bytes;
	uint32_t i;
	int node;

	if (!(t->link.flags & TASK_HAS_DATA) || !t->claim ||
	    t->link.flags & TASK_OWNED)
		return 0;
	for (i = 0; i < t->claim->nr; i++) {
		node = count_use(c->ex->ring, &t->claim->use[i], &bytes);
		if (node < 0 || node == c->ex->node)
			local += bytes;
		else
			remote += bytes;
	}
	return pieces(local) | (uint64_t)pieces(remote) << 32;
}

void traced_task(struct lkdf_ctx *c, const struct task *t, uint64_t number,
		 uint64_t begin, uint64_t end)
{
	struct lkdf_stats_slice s = {
		.begin = begin,
		.end = end,
		.task = NO_SLICE_TASK,
		.name = t->kind->trace_name,
		.ready = t->ready_ticks,
		.by = t->ready_by,
		.number = number,
		.value = value_of(c, t),
	};

	if (t->link.flags & TASK_OWNED)
		t->owner->describe(t->frame, t->index, &s);
	/* A body within it, in a join, was the last one to begin. */
	c->ex->now = LKDF_UID((uint32_t)c->ex->id, number);
	trace_slice(c->ex->ring, &s);
	usdt_3(body__end, &t->kind->name[0], c->ex->now, end - begin);
}

void traced_record(struct lkdf_ctx *c, const struct lkdf_kind *k,
		   uint64_t number, uint64_t begin, uint64_t end)
{
	struct lkdf_stats_slice s = {
		.begin = begin,
		.end = end,
		.name = k->trace_name,
		.number = number,
	};

	c->owner->describe(c->frame, c->index, &s);
	c->ex->now = LKDF_UID((uint32_t)c->ex->id, number);
	trace_slice(c->ex->ring, &s);
	usdt_3(body__end, &k->name[0], c->ex->now, end - begin);
}
