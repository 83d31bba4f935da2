/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "graph/tell.h"

#include "core/runtime.h"
#include "trace/file.h"

#include <stdlib.h>
#include <string.h>

/* The chunk becomes a note; where there is no memory it is left out. */
static void give_chunk(struct lkdf_graph *g, struct trace_file *f,
		       enum lkdf_chunk_type type)
{
	const uint32_t head = sizeof(struct lkdf_file_chunk);
	uint32_t size = f->used - head;
	struct trace_note *n = malloc(sizeof(*n) + size);

	if (!n)
		return;
	n->recording = a_load(&g->told, relaxed);
	n->type = type;
	n->size = size;
	memcpy(n->payload, f->buf + head, size);
	trace_note_give(&g->rt->trace, n);
}

static uint64_t count_edges(const struct lkdf_graph *g)
{
	uint64_t sum = 0;
	uint32_t i, nr;

	for (i = 0; i < g->nr_tasks; i++) {
		graph_succ(g, &g->recs[graph_index(g, i)], &nr);
		sum += nr;
	}
	return sum;
}

static void tell_graph(struct lkdf_graph *g, struct trace_file *f,
		       uint32_t number,
		       uint32_t (*slot)(const struct lkdf_graph *g, uint32_t n))
{
	uint32_t i;

	chunk_begin(f, LKDF_CHUNK_GRAPH);
	chunk_number(f, number);
	chunk_text(f, g->name);
	chunk_number(f, g->nr_tasks);
	chunk_number(f, count_edges(g));
	chunk_number(f, g->nr_frames);
	for (i = 0; i < g->nr_frames; i++)
		chunk_number(f, slot(g, i));
	give_chunk(g, f, LKDF_CHUNK_GRAPH);
}

static void begin_tasks(struct trace_file *f, uint32_t number, uint32_t first)
{
	chunk_begin(f, LKDF_CHUNK_TASKS);
	chunk_number(f, number);
	chunk_number(f, first);
}

static uint32_t flags_of(const struct rec *r)
{
	return (r->flags & REC_TOKEN ? LKDF_TASK_IN_TURN : 0) |
	       (r->flags & REC_PLACED ? LKDF_TASK_PLACED : 0);
}

/* Successors from, as many as a chunk holds; where it stopped. */
static uint32_t tell_task(const struct lkdf_graph *g, struct trace_file *f,
			  uint32_t task, uint32_t from)
{
	const struct rec *r = &g->recs[graph_index(g, task)];
	uint32_t nr, i, end;
	const uint32_t *succ = graph_succ(g, r, &nr);

	end = nr - from > CHUNK_ROOM / 8 ? from + CHUNK_ROOM / 8 : nr;
	chunk_number(f, r->kind->trace_name);
	chunk_number(f, flags_of(r));
	chunk_text(f, graph_task_label(g, task));
	chunk_number(f, end - from);
	for (i = from; i < end; i++)
		chunk_signed(f,
			     (int64_t)graph_number(g, succ[i]) - (int64_t)task);
	return end == nr ? 0 : end;
}

static void tell_tasks(struct lkdf_graph *g, struct trace_file *f,
		       uint32_t number)
{
	uint32_t task = 0, from = 0;

	while (task < g->nr_tasks) {
		begin_tasks(f, number, task);
		do {
			from = tell_task(g, f, task, from);
			task += !from;
		} while (!from && task < g->nr_tasks && !chunk_is_full(f));
		give_chunk(g, f, LKDF_CHUNK_TASKS);
	}
}

static void tell_reasons(struct lkdf_graph *g, struct trace_file *f,
			 uint32_t number)
{
	uint32_t task = 0, at = 0;

	while ((g->accesses || g->ports) && task < g->nr_tasks) {
		tell_edges(g, f, number, &task, &at);
		if (f->records)
			give_chunk(g, f, LKDF_CHUNK_EDGES);
	}
}

void graph_tell(struct lkdf_graph *g,
		uint32_t (*slot)(const struct lkdf_graph *g, uint32_t n))
{
	uint32_t recording = trace_recording(&g->rt->trace), number;
	struct trace_file *f;

	if (!recording || a_xchg(&g->told, recording, relaxed) == recording)
		return;
	number = trace_graph_number(&g->rt->trace);
	f = number < LKDF_MAX_GRAPHS ? calloc(1, sizeof(*f)) : NULL;
	if (!f)
		return;
	tell_graph(g, f, number, slot);
	tell_tasks(g, f, number);
	tell_reasons(g, f, number);
	free(f);
}
