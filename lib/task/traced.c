/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/traced.h"

#include "core/runtime.h"
#include "data/claim.h"
#include "data/data.h"
#include "data/facts.h"
#include "run/frame.h"

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
	    t->link.flags & TASK_OF_FRAME)
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
	const bool of_frame = t->link.flags & TASK_OF_FRAME;
	const struct frame *f = t->frame;
	const struct lkdf_stats_slice s = {
		.begin = begin,
		.end = end,
		.task = of_frame ? graph_number(f->graph, t->index)
				 : NO_SLICE_TASK,
		.run = of_frame ? (uint32_t)f->seq : 0,
		.name = t->kind->trace_name,
		.frame = of_frame ? f->slot + 1 : 0,
		.ready = t->ready_ticks,
		.by = t->ready_by,
		.number = number,
		.value = value_of(c, t),
	};

	/* A body within it, in a join, was the last one to begin. */
	c->ex->now = LKDF_UID((uint32_t)c->ex->id, number);
	trace_slice(c->ex->ring, &s);
}

void traced_record(struct lkdf_ctx *c, const struct lkdf_kind *k,
		   uint64_t number, uint64_t begin, uint64_t end)
{
	const struct frame *f = c->frame;
	const struct lkdf_stats_slice s = {
		.begin = begin,
		.end = end,
		.task = graph_number(f->graph, c->index),
		.run = (uint32_t)f->seq,
		.name = k->trace_name,
		.frame = f->slot + 1,
		.number = number,
	};

	c->ex->now = LKDF_UID((uint32_t)c->ex->id, number);
	trace_slice(c->ex->ring, &s);
}
