/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/traced.h"

#include "core/ops.h"
#include "core/runtime.h"
#include "data/claim.h"
#include "data/data.h"
#include "data/facts.h"
#include "task/after.h"

/* Uses of fewer bytes of other nodes have no event of their own. */
#define REMOTE_LEAST 65536

/* In pieces of 64 bytes, as much as fits. */
static uint32_t pieces_of(uint64_t bytes)
{
	return (uint32_t)min_u64((bytes + 63) / 64, UINT32_MAX);
}

uint64_t traced_value(const struct traced_bytes *b)
{
	return pieces_of(b->local) | (uint64_t)pieces_of(b->remote) << 32;
}

uint32_t traced_name(struct trace *trace, const char *text)
{
	if (a_load(&trace->nr_names, relaxed) >= MAX_NAMES / 2)
		return 0;
	return trace_name(trace, text);
}

uint32_t traced_data_name(const struct lkdf_data *d)
{
	char text[DATA_TEXT];

	return traced_name(&d->rt->trace, data_text(d, 0, text));
}

/* Whose they are, where that is worth an event. */
static void tell_remote(struct executor *ex, const struct lkdf_data *d,
			uint64_t bytes)
{
	uint32_t name = 0;

	if (bytes >= REMOTE_LEAST)
		name = traced_data_name(d);
	if (name)
		trace_event(ex->ring, EVENT_REMOTE, name, bytes);
}

/* Bytes of which nobody knows where they are count as near. */
void traced_count(struct traced_bytes *b, struct executor *ex,
		  const struct lkdf_data *d, uint32_t part)
{
	uint64_t bytes = data_size(d, part);
	int node = facts_node(d, part);

	if (node < 0)
		node = a_load(&d->node, relaxed);
	trace_count_bytes(ex->ring, node, bytes);
	if (node < 0 || node == ex->node) {
		b->local += bytes;
		return;
	}
	b->remote += bytes;
	tell_remote(ex, d, bytes);
}

/* Bytes of the data that a task was given: as in lkdf_stats_slice. */
static uint64_t value_of(struct lkdf_ctx *c, const struct task *t)
{
	struct traced_bytes b = { .local = 0 };
	const struct use *u;
	uint32_t i;

	if (t->link.flags & TASK_OWNED)
		return t->owner->bytes(c->ex, t->frame, t->index);
	if (!(t->link.flags & TASK_HAS_DATA) || !t->claim)
		return 0;
	for (i = 0; i < t->claim->nr; i++) {
		u = &t->claim->use[i];
		if (u->domain)
			traced_count(&b, c->ex, u->domain->data, u->part);
	}
	return traced_value(&b);
}

/* As the user asked for it: the whole of a part is a use of ours. */
static uint8_t mode_of(const struct claim *c, const struct use *last)
{
	uint32_t i;

	for (i = 0; i < c->nr; i++) {
		if (&c->use[i] == last || c->use[i].whole == last - c->use)
			return c->use[i].mode;
	}
	return 0;
}

/* The data, or the events, for which the task waited last: LKDF_EDGE(). */
static __attribute__((noinline)) uint32_t edge_of(const struct task *t)
{
	const struct use *u;

	if (t->link.flags & TASK_EXTRA && t->after && t->after->came_last)
		return LKDF_EDGE(traced_name(&t->kind->rt->trace, "events"),
				 LKDF_EDGE_IS_AFTER);
	if (t->link.flags & TASK_OWNED || !(t->link.flags & TASK_HAS_DATA) ||
	    !t->claim || !t->claim->last)
		return 0;
	u = &t->claim->use[t->claim->last - 1];
	return LKDF_EDGE(traced_data_name(u->domain->data),
			 mode_of(t->claim, u));
}

/* Labels get half of all names at most: kinds of later have theirs, too. */
static uint32_t name_of(const struct task *t)
{
	struct trace *trace = &t->kind->rt->trace;
	char text[TRACE_NAME_SIZE];
	uint32_t name = 0;

	if (unlikely(t->link.flags & TASK_EXTRA && t->label)) {
		task_text(t, text, sizeof(text));
		name = traced_name(trace, text);
	}
	return name ? name : t->kind->trace_name;
}

/*
 * The task may go on as another body: who leaves, before whoever makes it ready
 * again can have it.
 */
static void note_left(struct task *t, uint64_t uid, uint64_t end)
{
	t->left_by = uid;
	t->left_ticks = end;
	t->left_name = 0;
}

/* The task went on as the body of that number. The reader of a recording leaves
 * out a body before that began in an earlier recording. */
static __attribute__((noinline)) void tell_away(struct executor *ex,
						const struct task *t,
						uint64_t number, uint64_t begin)
{
	const struct lkdf_stats_slice s = {
		.begin = t->left_ticks,
		.end = max_u64(t->left_ticks, begin),
		.task = NO_SLICE_TASK,
		.name = t->left_name,
		.by = t->left_by,
		.number = (uint64_t)LKDF_SPAN_AWAY << 48 | number,
	};

	trace_slice(ex->ring, &s);
}

void traced_waits(struct task *t, const char *text)
{
	t->left_name = traced_name(&t->kind->rt->trace, text);
}

void traced_task(struct lkdf_ctx *c, struct task *t, uint64_t number,
		 uint64_t begin, uint64_t end)
{
	struct lkdf_stats_slice s = {
		.begin = begin,
		.end = end,
		.task = NO_SLICE_TASK,
		.run = unlikely(t->link.flags & (TASK_HAS_DATA | TASK_EXTRA))
			       ? edge_of(t)
			       : 0,
		.name = name_of(t),
		.ready = t->ready_ticks,
		.by = t->ready_by,
		.number = number,
		.value = value_of(c, t),
	};

	if (t->link.flags & TASK_OWNED)
		t->owner->describe(t->frame, t->index, &s);
	if (t->link.flags & TASK_CONTINUES)
		tell_away(c->ex, t, number, begin);
	note_left(t, LKDF_UID((uint32_t)c->ex->id, number), end);
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
	if (unlikely(c->task != NULL))
		note_left(c->task, LKDF_UID((uint32_t)c->ex->id, number), end);
	s.value = c->owner->bytes(c->ex, c->frame, c->index);
	c->ex->now = LKDF_UID((uint32_t)c->ex->id, number);
	trace_slice(c->ex->ring, &s);
	usdt_3(body__end, &k->name[0], c->ex->now, end - begin);
}
