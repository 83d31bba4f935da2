/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Programs that are recorded, and what the file says of them: slices, spans
 * and threads in arrays, in the order of the file.
 */
#ifndef TESTS_UNIT_TRACE_FILE_H
#define TESTS_UNIT_TRACE_FILE_H

#include "tests/tap.h"
#include "tools/trace/bytes.c"
#include "tools/trace/facts.c"
#include "tools/trace/get.c"
#include "tools/trace/kernel_facts.c"
#include "tools/trace/links.c"
#include "tools/trace/read.c"
#include "tools/utf8.c"

#include <lkdf/lkdf.h>
#include <unistd.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })
#define MAX_RECORDS 40000

struct recorded {
	struct trace_info info;
	struct trace_slice *slice;
	struct trace_span *span;
	size_t nr_slices, nr_spans;
	uint64_t nr_threads, nr_faults, nr_facts, nr_bytes, nr_lost;
	struct trace_kind kind[64];
	uint32_t nr_kinds;
	struct trace_graph graph[8];
	uint32_t nr_graphs;
	uint64_t nr_tasks, nr_edges;
	struct trace_edge edge[8];
	uint32_t nr_told; /* edges that say why */
	char labels[256];
	uint64_t bytes[4]; /* of node 0 .. 3, last told */
};

static void keep_slice(void *u, const struct trace_slice *s)
{
	struct recorded *r = u;

	if (r->nr_slices < MAX_RECORDS)
		r->slice[r->nr_slices++] = *s;
}

static void keep_span(void *u, const struct trace_span *s)
{
	struct recorded *r = u;

	if (r->nr_spans < MAX_RECORDS)
		r->span[r->nr_spans++] = *s;
}

static void keep_kind(void *u, const struct trace_kind *k)
{
	struct recorded *r = u;

	if (r->nr_kinds < 64)
		r->kind[r->nr_kinds++] = *k;
}

static void keep_graph(void *u, const struct trace_graph *g)
{
	struct recorded *r = u;

	if (r->nr_graphs < 8)
		r->graph[r->nr_graphs++] = *g;
}

static void count_task(void *u, const struct trace_task *t)
{
	struct recorded *r = u;
	size_t used = strlen(r->labels);

	r->nr_tasks++;
	r->nr_edges += t->nr_succ;
	if (t->label[0])
		snprintf(r->labels + used, sizeof(r->labels) - used, "%s ",
			 t->label);
}

static void keep_edge(void *u, const struct trace_edge *e)
{
	struct recorded *r = u;

	if (r->nr_told < 8)
		r->edge[r->nr_told++] = *e;
}

static void count_thread(void *u, const struct trace_thread *t)
{
	struct recorded *r = u;

	r->nr_threads += t->cpu_ns > 0;
	r->nr_faults += t->has_kernel ? t->faults : 0;
}

static void keep_bytes(void *u, const struct trace_bytes *b)
{
	struct recorded *r = u;
	uint32_t i;

	r->nr_bytes++;
	for (i = 0; i < b->nr_nodes && i < 4; i++)
		r->bytes[i] = b->bytes[i];
}

static void count_fact(void *u, const char *key, const char *value)
{
	struct recorded *r = u;

	r->nr_facts += key[0] && value[0];
}

static void count_lost(void *u, const struct trace_lost *l)
{
	struct recorded *r = u;

	r->nr_lost += l->slices;
}

/* What a file holds. 0 or as trace_read(). */
static int recorded_read(struct recorded *r, const char *path)
{
	const struct trace_sink sink = {
		.slice = keep_slice,
		.span = keep_span,
		.kind = keep_kind,
		.graph = keep_graph,
		.task = count_task,
		.edge = keep_edge,
		.thread = count_thread,
		.bytes = keep_bytes,
		.fact = count_fact,
		.lost = count_lost,
		.u = r,
	};
	struct trace_fault fault;
	FILE *f = fopen(path, "re");
	int rc;

	memset(r, 0, sizeof(*r));
	r->slice = calloc(MAX_RECORDS, sizeof(*r->slice));
	r->span = calloc(MAX_RECORDS, sizeof(*r->span));
	if (!f || !r->slice || !r->span)
		return -ENOENT;
	rc = trace_read(f, &sink, &r->info, &fault);
	if (rc)
		printf("# %s: offset %llu: %s\n", path,
		       (unsigned long long)fault.offset, fault.why);
	fclose(f);
	return rc;
}

static void recorded_free(struct recorded *r)
{
	trace_info_fini(&r->info);
	free(r->slice);
	free(r->span);
}

/* The n-th slice of a kind, from 0; NULL. */
__attribute__((unused)) static const struct trace_slice *
recorded_slice(const struct recorded *r, const char *kind, size_t n)
{
	size_t i;

	for (i = 0; i < r->nr_slices; i++)
		if (!strcmp(r->info.name[r->slice[i].name], kind) && !n--)
			return &r->slice[i];
	return NULL;
}

/* The kind of that name, as told last; NULL. */
__attribute__((unused)) static const struct trace_kind *
recorded_kind(const struct recorded *r, const char *name)
{
	uint32_t i;

	for (i = r->nr_kinds; i; i--)
		if (!strcmp(r->info.name[r->kind[i - 1].name], name))
			return &r->kind[i - 1];
	return NULL;
}

#endif
