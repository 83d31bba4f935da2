/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/rows.h"

#include "base/clock.h"
#include "base/util.h"
#include "device/request.h"
#include "trace/counters.h"
#include "trace/file.h"
#include "trace/hooks.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the memfd says of the device ---------------------------------- */

void rows_open(struct device *d)
{
	struct lkdf_stats_device *t = d->attr.told;
	const struct lkdf_device_info *i = &d->info;

	t->node = i->node;
	t->flags = d->ops.flags;
	t->queues = d->nr_queues;
	t->units = i->units;
	t->warp = i->warp;
	t->max_block = i->max_block;
	t->block_shared = i->block_shared;
	t->max_value_bytes = i->max_value_bytes;
	t->memory = d->capacity ? i->memory : 0;
	t->capacity = d->capacity;
	snprintf(t->sort, sizeof(t->sort), "%s", d->name);
	snprintf(t->name, sizeof(t->name), "%s", i->name);
	/* [device.told] the row; a tool reads it; pairs with itself */
	a_store((_Atomic(uint32_t) *)(void *)&t->is_there, 1, release);
}

static void publish_word(uint32_t *word, uint32_t v)
{
	a_store((_Atomic(uint32_t) *)(void *)word, v, relaxed);
}

void rows_publish(struct device *d)
{
	struct lkdf_stats_device *t = d->attr.told;

	a_store(trace_word(&t->used), a_load(&d->used, relaxed), relaxed);
	a_store(trace_word(&t->held), a_load(&d->held, relaxed), relaxed);
	publish_word(&t->tasks, a_load(&d->load, relaxed));
	publish_word(&t->is_lost, a_load(&d->is_lost, relaxed));
	if (!d->attr.bell)
		publish_word(&t->executor, d->attr.executor + 1);
}

/* ---- what a recording says of the rows ---------------------------------- */

static void put_number(struct trace_note *n, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		n->payload[n->size++] = (uint8_t)(v | 0x80);
	n->payload[n->size++] = (uint8_t)v;
}

static void put_text(struct trace_note *n, const char *text)
{
	size_t size = strnlen(text, LKDF_MAX_TEXT);

	put_number(n, size);
	memcpy(n->payload + n->size, text, size);
	n->size += (uint32_t)size;
}

/* Room for two texts and three numbers; NULL: it is left out. */
static struct trace_note *new_note(struct trace *t, enum lkdf_chunk_type type)
{
	struct trace_note *n = malloc(sizeof(*n) + 2 * LKDF_MAX_TEXT + 64);

	if (!n)
		return NULL;
	n->recording = trace_recording(t);
	n->type = type;
	n->size = 0;
	return n;
}

static const char *const copy_names[] = {
	[ROWS_UPLOAD] = "upload",
	[ROWS_FETCH] = "fetch",
	[ROWS_WITHIN] = "copy",
};

static void tell_device(struct device *d)
{
	struct trace *t = d->attr.trace;
	struct trace_note *n = new_note(t, LKDF_CHUNK_FACTS);
	char text[LKDF_MAX_TEXT + 1];
	unsigned i;

	for (i = 0; i < NR_ROWS_COPIES; i++)
		d->rows.name[i] = trace_name(t, copy_names[i]);
	if (!n)
		return;
	snprintf(text, sizeof(text), "device.%u", d->attr.index);
	put_text(n, text);
	if (d->info.name[0])
		snprintf(text, sizeof(text), "%s, %s", d->name, d->info.name);
	else
		snprintf(text, sizeof(text), "%s", d->name);
	put_text(n, text);
	trace_note_give(t, n);
}

static uint32_t sort_of(unsigned row)
{
	if (row == DEVICE_WAIT_ROW)
		return LKDF_LANE_WAITS;
	return row < DEVICE_KERNEL_QUEUE ? LKDF_LANE_COPIES : LKDF_LANE_QUEUE;
}

static void label_row(const struct device *d, unsigned row, char *to,
		      size_t size)
{
	unsigned i = d->attr.index;

	if (row == DEVICE_WAIT_ROW)
		snprintf(to, size, "d%u %s memory", i, d->name);
	else if (row >= DEVICE_KERNEL_QUEUE)
		snprintf(to, size, "d%u %s queue %u", i, d->name,
			 row - DEVICE_KERNEL_QUEUE);
	else
		snprintf(to, size, "d%u %s %s", i, d->name,
			 row == DEVICE_UPLOAD_QUEUE ? "upload" : "fetch");
}

/* Among all that a file may have. */
static uint32_t lane_of(const struct device *d, unsigned row)
{
	return d->attr.index * DEVICE_ROWS + row;
}

static void tell_row(struct device *d, unsigned row)
{
	struct trace *t = d->attr.trace;
	struct trace_note *n = new_note(t, LKDF_CHUNK_LANE);
	char label[LKDF_MAX_TEXT + 1];

	if (!n)
		return;
	n->lane = (uint32_t)t->nr_executors + 1 + lane_of(d, row);
	put_number(n, n->lane);
	put_number(n, sort_of(row));
	put_number(n, d->attr.index);
	label_row(d, row, label, sizeof(label));
	put_text(n, label);
	trace_note_give(t, n);
}

/* Before the first of its row in this recording. */
static void tell_names(struct device *d, unsigned row)
{
	uint32_t recording = trace_recording(d->attr.trace);

	if (d->rows.told != recording)
		tell_device(d);
	d->rows.told = recording;
	if (d->rows.row[row].told != recording)
		tell_row(d, row);
	d->rows.row[row].told = recording;
}

uint64_t rows_ns(const struct device *d, uint64_t ticks)
{
	return ticks * 1024 / d->attr.trace->ticks_per_1024ns;
}

/* ---- what lasts --------------------------------------------------------- */

/* Not while the last copies are dropped. */
static bool is_recorded(const struct device *d)
{
	return d->executor && trace_is_recording(d->attr.trace);
}

bool rows_are_told(const struct device *d)
{
	return is_recorded(d) || d->attr.hooks->table;
}

/* It is the next of its row. */
static void tell_span(struct device *d, struct lkdf_stats_slice *s,
		      unsigned row, uint32_t sort)
{
	s->task = lane_of(d, row);
	s->number = (uint64_t)sort << 48 | ++d->rows.row[row].number;
	d->attr.tell(d->executor, s);
}

static uint64_t last_uid(const struct device *d, unsigned row)
{
	return LKDF_UID((uint32_t)d->attr.trace->nr_executors + 1 +
				lane_of(d, row),
			d->rows.row[row].number);
}

/* The bytes that come home are those of a kernel, which made them ready. */
static uint64_t fetched_from(const struct device_row_op *op,
			     const struct device_req *r)
{
	if (op->copy != ROWS_FETCH)
		return 0;
	return r ? r->uid : op->by;
}

static void tell_copy(struct device *d, const struct device_row_op *op,
		      const struct device_req *r, uint64_t begin, uint64_t end)
{
	uint64_t by = fetched_from(op, r);
	struct lkdf_stats_slice s = {
		.ready = by ? op->begin : 0,
		.by = by,
		.begin = begin,
		.end = end,
		.name = d->rows.name[op->copy],
		.value = op->value,
	};

	tell_span(d, &s, op->row, LKDF_SPAN_COPY);
}

static void tell_kernel(struct device *d, const struct device_req *r,
			const struct device_row_op *op, uint64_t begin,
			uint64_t end)
{
	struct device_row *row = &d->rows.row[op->row];
	struct lkdf_stats_slice s = r->told;

	/* Given ahead: what it waited for is before it in its queue. */
	if (!s.ready && s.frame && row->number) {
		s.ready = row->end;
		s.by = last_uid(d, op->row);
	}
	s.begin = begin;
	s.end = end;
	s.value = s.frame ? s.task : UINT64_MAX;
	tell_span(d, &s, op->row, LKDF_SPAN_KERNEL);
	d->rows.last_kernel = last_uid(d, op->row);
}

static void tell_op(struct device *d, struct device_slot *s, uint64_t begin,
		    uint64_t end)
{
	tell_names(d, s->row.row);
	if (s->row.sort == LKDF_SPAN_COPY)
		tell_copy(d, &s->row, s->req, begin, end);
	else
		tell_kernel(d, s->req, &s->row, begin, end);
	if (s->req)
		s->req->uid = last_uid(d, s->row.row);
}

void rows_waited(struct device *d, const struct device_req *r)
{
	struct lkdf_stats_slice s = r->told;
	uint32_t i;

	if (!is_recorded(d))
		return;
	tell_names(d, DEVICE_WAIT_ROW);
	s.begin = r->waits_since;
	s.end = clock_ticks();
	s.value = 0;
	for (i = 0; i < r->nr_operand; i++)
		s.value += r->operand[i].bytes;
	tell_span(d, &s, DEVICE_WAIT_ROW, LKDF_SPAN_ROOM);
}

/* ---- how long it is at them --------------------------------------------- */

static struct device_busy *busy_of(struct device *d, uint32_t sort)
{
	return sort == LKDF_SPAN_COPY ? &d->rows.copies : &d->rows.kernels;
}

static void count_busy(struct device *d, uint32_t sort, uint64_t end)
{
	struct device_busy *b = busy_of(d, sort);

	if (--b->nr || !d->executor || end < b->since)
		return;
	d->attr.count(d->executor,
		      sort == LKDF_SPAN_COPY ? COUNTER_COPIES_NS
					     : COUNTER_KERNELS_NS,
		      rows_ns(d, end - b->since));
}

/* ---- what a tool is told ------------------------------------------------ */

static void end_hook(struct device *d, const struct device_slot *s)
{
	if (s->row.sort == LKDF_SPAN_KERNEL)
		hooks_kernel_end(d->attr.hooks, s->row.hook);
	else
		hooks_copy_end(d->attr.hooks, s->row.hook);
}

/* ---- what all of them are told ------------------------------------------ */

static void begin_row(struct device *d, struct device_slot *s)
{
	struct device_busy *b = busy_of(d, s->row.sort);

	s->row.begin = clock_ticks();
	if (!b->nr++)
		b->since = s->row.begin;
}

void rows_begin_copy(struct device *d, struct device_slot *s,
		     enum rows_copy what, uint64_t bytes)
{
	s->row = (struct device_row_op){
		.value = bytes,
		.hook = hooks_copy_begin(d->attr.hooks, copy_names[what], -1,
					 bytes),
		.sort = LKDF_SPAN_COPY,
		.row = what == ROWS_FETCH ? DEVICE_FETCH_QUEUE
					  : DEVICE_UPLOAD_QUEUE,
		.copy = what,
	};
	begin_row(d, s);
}

void rows_begin_kernel(struct device *d, struct device_slot *s, unsigned queue)
{
	s->row = (struct device_row_op){
		.hook = hooks_kernel_begin(d->attr.hooks, s->req->launch.name,
					   d->attr.index),
		.sort = LKDF_SPAN_KERNEL,
		.row = queue < DEVICE_WAIT_ROW ? queue : DEVICE_WAIT_ROW - 1,
	};
	begin_row(d, s);
}

void rows_cancel(struct device *d, struct device_slot *s)
{
	if (!s->row.sort)
		return;
	count_busy(d, s->row.sort, clock_ticks());
	end_hook(d, s);
	s->row.sort = 0;
}

void rows_end(struct device *d, struct device_slot *s)
{
	struct device_row *row = &d->rows.row[s->row.row];
	uint64_t begin, end = s->end_ticks;

	/* Nobody wants to know any more: the device was lost. */
	if (!s->row.sort)
		return;
	count_busy(d, s->row.sort, end);
	end_hook(d, s);
	begin = max_u64(s->row.begin, row->end);
	if (s->req)
		begin = max_u64(begin, s->req->op_end);
	end = max_u64(begin, end);
	if (s->row.sort == LKDF_SPAN_KERNEL)
		d->rows.last_kernel = 0;
	if (is_recorded(d) && (s->req || s->row.sort == LKDF_SPAN_COPY))
		tell_op(d, s, begin, end);
	row->end = end;
	s->row.sort = 0;
}
