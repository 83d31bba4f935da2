/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph as DOT (Graphviz) or JSON, written in pieces through one buffer.
 */
#include "graph/graph.h"

#include "base/err.h"
#include "base/quote.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct out {
	int fd, rc;
	size_t used;
	char buf[8192];
};

static void flush(struct out *o)
{
	size_t done = 0;
	ssize_t n;

	while (!o->rc && done < o->used) {
		n = write(o->fd, o->buf + done, o->used - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			o->rc = err(-errno, "dump: write: %s", strerror(errno));
	}
	o->used = 0;
}

/* At most 1 KiB at a time. */
__attribute__((format(printf, 2, 3))) static void put(struct out *o,
						      const char *fmt, ...)
{
	va_list ap;
	int n;

	if (sizeof(o->buf) - o->used < 1024)
		flush(o);
	va_start(ap, fmt);
	n = vsnprintf(o->buf + o->used, sizeof(o->buf) - o->used, fmt, ap);
	va_end(ap);
	o->used += (size_t)n;
}

/* Quotes for DOT and JSON alike. */
static void put_quoted(struct out *o, const char *s)
{
	char c[QUOTE_SIZE];

	put(o, "\"");
	while ((s = quote_next(s, c)))
		put(o, "%s", c);
	put(o, "\"");
}

/* While building, the third and further successors are in the edge list. */
static void put_edges(struct out *o, const struct lkdf_graph *g,
		      void (*edge)(struct out *o, uint32_t from, uint32_t to))
{
	const struct spilled_edge *e = g->edges.items;
	const uint32_t *succ;
	const struct rec *r;
	uint32_t t, i, nr;
	size_t j;

	for (t = 0; t < g->nr_tasks; t++) {
		r = &g->recs[graph_index(g, t)];
		succ = r->succ;
		nr = r->nr_succ;
		if (nr == REC_SPILLED && g->spill)
			succ = graph_succ(g, r, &nr);
		else if (nr == REC_SPILLED)
			nr = 2;
		for (i = 0; i < nr; i++)
			edge(o, t, graph_number(g, succ[i]));
	}
	for (j = 0; j < g->edges.nr; j++)
		edge(o, e[j].from, e[j].to);
}

static void dot_edge(struct out *o, uint32_t from, uint32_t to)
{
	put(o, "\tt%u -> t%u;\n", from, to);
}

static void dump_dot(struct out *o, const struct lkdf_graph *g)
{
	char name[NAME_SIZE];
	uint32_t t;

	put(o, "digraph ");
	put_quoted(o, g->name);
	put(o, " {\n\tnode [shape=box];\n");
	for (t = 0; t < g->nr_tasks; t++) {
		put(o, "\tt%u [label=", t);
		put_quoted(o, graph_task_name(g, t, name, sizeof(name)));
		put(o, "];\n");
	}
	put_edges(o, g, dot_edge);
	put(o, "}\n");
}

static void json_edge(struct out *o, uint32_t from, uint32_t to)
{
	put(o, "[%u,%u],", from, to);
}

static void dump_json(struct out *o, const struct lkdf_graph *g)
{
	char name[NAME_SIZE];
	uint32_t t;

	put(o, "{\"schema\":\"lkdf/graph/1\",\"name\":");
	put_quoted(o, g->name);
	put(o, ",\"inflight\":%u,\"tasks\":[", g->nr_frames);
	for (t = 0; t < g->nr_tasks; t++) {
		put(o, "%s{\"id\":%u,\"kind\":", t ? "," : "", t);
		put_quoted(o, g->recs[graph_index(g, t)].kind->name);
		put(o, ",\"label\":");
		put_quoted(o, graph_task_name(g, t, name, sizeof(name)));
		put(o, "}");
	}
	put(o, "],\"edges\":[");
	put_edges(o, g, json_edge);
	/* The comma after the last edge is still in the buffer. */
	if (o->used && o->buf[o->used - 1] == ',')
		o->used--;
	put(o, "]}\n");
}

int graph_dump(const struct lkdf_graph *g, int fd, const char *format)
{
	struct out o = { .fd = fd };

	if (!strcmp(format, "dot"))
		dump_dot(&o, g);
	else if (!strcmp(format, "json"))
		dump_json(&o, g);
	else
		return err(-EINVAL, "dump: format \"%s\": expected dot or json",
			   format);
	flush(&o);
	return o.rc;
}
