/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The chunks that came after END: spans, kinds, graphs, threads, bytes, what
 * the probe has seen. */
#include "trace/reader.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_TASK (1u << 30)

static int read_span(struct reader *r, struct trace_span *s)
{
	uint64_t at = r->offset + r->at, begin, size, value;
	int rc = reader_below(r, UINT32_MAX, "sort of span", &s->sort);

	if (!rc)
		rc = reader_signed(r, &begin);
	if (!rc)
		rc = reader_number(r, &size);
	if (!rc)
		rc = reader_name(r, &s->name);
	if (!rc)
		rc = reader_signed(r, &value);
	if (!rc)
		rc = links_next(r, s->lane, &s->links);
	if (rc)
		return rc;
	s->begin = s->end + begin;
	s->end = s->begin + size;
	s->value = (int64_t)value;
	if (s->end < s->begin)
		return reader_damaged(r, at, "a span ends before it begins");
	if (s->sort == LKDF_SPAN_LIMIT &&
	    (value >= LKDF_MAX_NAMES || !r->info->name[value]))
		return reader_damaged(r, at, "a kind that was not told waits");
	return 0;
}

static int read_spans(struct reader *r)
{
	struct trace_span s;
	int rc = reader_lane(r, &s.lane);

	if (!rc)
		rc = reader_number(r, &s.end);
	while (!rc && reader_has_more(r)) {
		rc = read_span(r, &s);
		if (!rc && r->sink->span)
			r->sink->span(r->sink->u, &s);
	}
	return rc ? rc : links_end(r);
}

static int read_kinds(struct reader *r)
{
	struct trace_kind k;
	int rc = 0;

	while (!rc && reader_has_more(r)) {
		rc = reader_name(r, &k.name);
		if (!rc)
			rc = reader_below(r, UINT32_MAX, "flags", &k.flags);
		if (!rc)
			rc = reader_below(r, 8, "prio", &k.prio);
		if (!rc)
			rc = reader_below(r, UINT32_MAX, "width", &k.width);
		if (!rc)
			rc = reader_below(r, UINT32_MAX, "limits", &k.limits);
		if (!rc && r->sink->kind)
			r->sink->kind(r->sink->u, &k);
	}
	return rc;
}

/* A count, and as many numbers as that; each takes a byte or more. */
static int read_count(struct reader *r, uint32_t *nr)
{
	if (!r->list)
		r->list = malloc(LKDF_MAX_CHUNK * sizeof(*r->list));
	if (!r->list)
		return -ENOMEM;
	return reader_below(r, LKDF_MAX_CHUNK, "a list of", nr);
}

static int note_graph(struct reader *r, uint32_t graph)
{
	uint8_t bit = (uint8_t)(1u << graph % 8);

	if (!r->graphs)
		r->graphs = calloc(1, LKDF_MAX_GRAPHS / 8);
	if (!r->graphs)
		return -ENOMEM;
	if (r->graphs[graph / 8] & bit)
		return reader_damaged(r, r->offset, "graph %u for the 2nd time",
				      graph);
	r->graphs[graph / 8] |= bit;
	return 0;
}

static int read_graph(struct reader *r)
{
	struct trace_graph g;
	char name[TRACE_TEXT];
	uint32_t i;
	int rc = reader_below(r, LKDF_MAX_GRAPHS, "graph", &g.graph);

	if (!rc)
		rc = note_graph(r, g.graph);
	if (!rc)
		rc = reader_text(r, name);
	if (!rc)
		rc = reader_below(r, MAX_TASK, "tasks", &g.nr_tasks);
	if (!rc)
		rc = reader_number(r, &g.nr_edges);
	if (!rc)
		rc = read_count(r, &g.nr_frames);
	for (i = 0; !rc && i < g.nr_frames; i++)
		rc = reader_below(r, LKDF_MAX_FRAMES, "frame", &r->list[i]);
	if (rc)
		return rc;
	g.name = name;
	g.frame = r->list;
	if (r->sink->graph)
		r->sink->graph(r->sink->u, &g);
	return 0;
}

/* Successors as differences from the task. */
static int read_successors(struct reader *r, struct trace_task *t)
{
	uint64_t at = r->offset + r->at, v = 0;
	uint32_t i;
	int rc = read_count(r, &t->nr_succ);

	for (i = 0; !rc && i < t->nr_succ; i++) {
		rc = reader_signed(r, &v);
		v += t->task;
		if (!rc && v >= MAX_TASK)
			return reader_damaged(r, at, "a successor of task %u",
					      t->task);
		r->list[i] = (uint32_t)v;
	}
	t->succ = r->list;
	return rc;
}

static int read_known_graph(struct reader *r, uint32_t *graph)
{
	int rc = reader_below(r, LKDF_MAX_GRAPHS, "graph", graph);

	if (!rc && !(r->graphs && r->graphs[*graph / 8] & 1u << *graph % 8))
		return reader_damaged(r, r->offset, "graph %u was not told",
				      *graph);
	return rc;
}

static int read_reason(struct reader *r, struct trace_edge *e)
{
	uint64_t at, succ = 0;
	int rc = reader_below(r, MAX_TASK, "task", &e->task);

	at = r->offset + r->at;
	if (!rc)
		rc = reader_signed(r, &succ);
	succ += e->task;
	if (!rc && succ >= MAX_TASK)
		return reader_damaged(r, at, "an edge to no task");
	e->succ = (uint32_t)succ;
	if (!rc)
		rc = reader_name(r, &e->name);
	return rc ? rc : reader_below(r, UINT16_MAX + 1ull, "mode", &e->mode);
}

static int read_edges(struct reader *r)
{
	struct trace_edge e;
	int rc = read_known_graph(r, &e.graph);

	while (!rc && reader_has_more(r)) {
		rc = read_reason(r, &e);
		if (!rc && r->sink->edge)
			r->sink->edge(r->sink->u, &e);
	}
	return rc;
}

static int read_tasks(struct reader *r)
{
	char label[TRACE_TEXT];
	struct trace_task t = { .label = label };
	int rc = read_known_graph(r, &t.graph);

	if (!rc)
		rc = reader_below(r, MAX_TASK, "task", &t.task);
	for (; !rc && reader_has_more(r); t.task++) {
		rc = reader_name(r, &t.name);
		if (!rc)
			rc = reader_below(r, UINT32_MAX, "flags", &t.flags);
		if (!rc)
			rc = reader_text(r, label);
		if (!rc)
			rc = read_successors(r, &t);
		if (!rc && r->sink->task)
			r->sink->task(r->sink->u, &t);
	}
	return rc;
}

static int read_thread(struct reader *r)
{
	char name[TRACE_TEXT];
	struct trace_thread t = { .name = name };
	int rc = reader_executor(r, &t.executor);

	if (!rc)
		rc = reader_below(r, UINT32_MAX, "thread", &t.tid);
	if (!rc)
		rc = reader_number(r, &t.ticks);
	if (!rc)
		rc = reader_number(r, &t.cpu_ns);
	if (!rc)
		rc = reader_number(r, &t.queue_ns);
	if (!rc)
		rc = reader_number(r, &t.times);
	if (!rc)
		rc = reader_text(r, name);
	t.has_kernel = !rc && reader_has_more(r);
	if (t.has_kernel)
		rc = reader_number(r, &t.system_ns);
	if (t.has_kernel && !rc)
		rc = reader_number(r, &t.faults);
	if (!rc && r->sink->thread)
		r->sink->thread(r->sink->u, &t);
	return rc;
}

static int read_node_bytes(struct reader *r)
{
	struct trace_bytes b = { .nr_nodes = 0 };
	int rc = reader_executor(r, &b.executor);

	if (!r->nodes)
		r->nodes = malloc(LKDF_MAX_NODES * sizeof(*r->nodes));
	if (!r->nodes)
		return -ENOMEM;
	if (!rc)
		rc = reader_number(r, &b.ticks);
	if (!rc)
		rc = reader_number(r, &b.unknown);
	for (; !rc && reader_has_more(r); b.nr_nodes++) {
		if (b.nr_nodes == LKDF_MAX_NODES)
			return reader_damaged(r, r->offset + r->at,
					      "more than %u nodes", b.nr_nodes);
		rc = reader_number(r, &r->nodes[b.nr_nodes]);
	}
	b.bytes = r->nodes;
	if (!rc && r->sink->bytes)
		r->sink->bytes(r->sink->u, &b);
	return rc;
}

static int read_facts(struct reader *r)
{
	char key[TRACE_TEXT], value[TRACE_TEXT];
	int rc = 0;

	while (!rc && reader_has_more(r)) {
		rc = reader_text(r, key);
		if (!rc)
			rc = reader_text(r, value);
		if (!rc && r->sink->fact)
			r->sink->fact(r->sink->u, key, value);
	}
	return rc;
}

static int read_new_lane(struct reader *r)
{
	const uint32_t first = r->info->header.nr_executors + 1;
	char label[TRACE_TEXT];
	struct trace_lane l = { .label = label };
	uint64_t at = r->offset;
	int rc = reader_below(r, first + LKDF_MAX_LANES, "lane", &l.lane);

	if (!rc && l.lane < first)
		return reader_damaged(r, at, "lane %u is an executor", l.lane);
	if (!rc)
		rc = reader_below(r, UINT32_MAX, "sort of lane", &l.sort);
	if (!rc)
		rc = reader_below(r, UINT32_MAX, "device", &l.device);
	if (!rc)
		rc = reader_text(r, label);
	if (rc)
		return rc;
	r->lanes[(l.lane - first) / 8] |= (uint8_t)(1u << (l.lane - first) % 8);
	if (r->sink->lane)
		r->sink->lane(r->sink->u, &l);
	return 0;
}

static int read_lost(struct reader *r)
{
	struct trace_lost l;
	int rc = reader_executor(r, &l.executor);

	if (!rc)
		rc = reader_number(r, &l.ticks);
	if (!rc)
		rc = reader_number(r, &l.slices);
	if (!rc)
		rc = reader_number(r, &l.events);
	if (!rc && r->sink->lost)
		r->sink->lost(r->sink->u, &l);
	return rc;
}

int facts_read(struct reader *r, uint32_t type)
{
	switch (type) {
	case LKDF_CHUNK_SPANS:
		return read_spans(r);
	case LKDF_CHUNK_KINDS:
		return read_kinds(r);
	case LKDF_CHUNK_GRAPH:
		return read_graph(r);
	case LKDF_CHUNK_TASKS:
		return read_tasks(r);
	case LKDF_CHUNK_EDGES:
		return read_edges(r);
	case LKDF_CHUNK_THREADS:
		return read_thread(r);
	case LKDF_CHUNK_BYTES:
		return read_node_bytes(r);
	case LKDF_CHUNK_FACTS:
		return read_facts(r);
	case LKDF_CHUNK_LANE:
		return read_new_lane(r);
	case LKDF_CHUNK_KERNEL:
		return kernel_read(r);
	case LKDF_CHUNK_LOST:
		return read_lost(r);
	default:
		return 0;
	}
}

void facts_fini(struct reader *r)
{
	free(r->list);
	free(r->nodes);
	free(r->graphs);
}
