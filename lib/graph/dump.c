/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph as DOT (Graphviz) or JSON, written in pieces through one buffer.
 */
#include "graph/graph.h"

#include "base/err.h"
#include "base/quote.h"
#include "core/runtime.h"
#include "graph/control.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct out;
typedef void put_edge(struct out *o, uint32_t from, uint32_t to);

struct out {
	int fd, rc;
	size_t used;
	char buf[8192];
};

static void flush_text(struct out *o)
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
__attribute__((format(printf, 2, 3))) static void put_text(struct out *o,
							   const char *fmt, ...)
{
	va_list ap;
	int n;

	if (sizeof(o->buf) - o->used < 1024)
		flush_text(o);
	va_start(ap, fmt);
	n = vsnprintf(o->buf + o->used, sizeof(o->buf) - o->used, fmt, ap);
	va_end(ap);
	o->used += (size_t)n;
}

/* Quotes for DOT and JSON alike. */
static void put_quoted(struct out *o, const char *s)
{
	char c[QUOTE_SIZE];

	put_text(o, "\"");
	while ((s = quote_next(s, c)))
		put_text(o, "%s", c);
	put_text(o, "\"");
}

/* While building, the third and further successors are in the edge list. */
static void put_plain(struct out *o, const struct lkdf_graph *g,
		      const struct control_edge *e, uint32_t nr, put_edge *edge)
{
	const uint8_t others = CONTROL_BRANCH | CONTROL_BACK | CONTROL_EXIT;

	for (; nr; nr--, e++)
		if (!(e->flags & others))
			edge(o, graph_number(g, e->from),
			     graph_number(g, e->to));
}

/* Those that leave a loop; their branches are among the given ones. */
static void put_exits(struct out *o, const struct lkdf_graph *g, put_edge *edge)
{
	const struct control *c = g->control;
	const uint8_t others = CONTROL_BRANCH | CONTROL_BACK;
	uint32_t i;

	for (i = 0; c && i < c->nr_exits; i++)
		if (!(c->exits[i].flags & others))
			edge(o, graph_number(g, c->exits[i].from),
			     graph_number(g, c->exits[i].to));
}

static bool is_choice(const struct control_edge *e)
{
	return e->flags & (CONTROL_BRANCH | CONTROL_BACK);
}

/* Seal makes successors of them. */
static void put_given(struct out *o, const struct lkdf_graph *g, put_edge *edge)
{
	const struct control *c = g->control;
	const struct control_edge *e = c ? c->given.items : NULL;
	size_t i;

	for (i = 0; c && i < c->given.nr; i++)
		if (!is_choice(&e[i]))
			edge(o, e[i].from, e[i].to);
}

static void put_edges(struct out *o, const struct lkdf_graph *g, put_edge *edge)
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
		if (nr == REC_CONTROL) {
			put_plain(o, g, g->control->out + r->succ[0],
				  r->succ[1], edge);
			continue;
		}
		if (nr == REC_SPILLED && g->spill)
			succ = graph_succ(g, r, &nr);
		else if (nr == REC_SPILLED)
			nr = 2;
		for (i = 0; i < nr; i++)
			edge(o, t, graph_number(g, succ[i]));
	}
	for (j = 0; j < g->edges.nr; j++)
		edge(o, e[j].from, e[j].to);
	if (!g->is_sealed)
		put_given(o, g, edge);
	put_exits(o, g, edge);
}

/* ---- branches and loops ------------------------------------------------- */

static void dot_choices(struct out *o, const struct lkdf_graph *g)
{
	const struct control_edge *e = g->control->given.items;
	size_t i;

	for (i = 0; i < g->control->given.nr; i++) {
		if (!is_choice(&e[i]))
			continue;
		put_text(o, "\tt%u -> t%u [label=\"%u\", style=%s];\n",
			 e[i].from, e[i].to, e[i].branch,
			 e[i].flags & CONTROL_BACK ? "bold, constraint=false"
						   : "dashed");
	}
}

/* Members of the loop, those of loops in it left out, then these. */
static void dot_loops(struct out *o, const struct lkdf_graph *g,
		      uint32_t parent)
{
	const struct control *c = g->control;
	uint32_t l, t;

	/* A parent has a higher number: its children come before it. */
	for (l = 0; l < c->nr_loops; l++) {
		if (c->loops[l].parent != parent)
			continue;
		put_text(o,
			 "\tsubgraph cluster_%u {\n\tlabel=\"loop of t%u\";\n",
			 l, graph_number(g, c->loops[l].head));
		for (t = 0; t < g->nr_tasks; t++)
			if (c->loop_of[graph_index(g, t)] == l)
				put_text(o, "\tt%u;\n", t);
		dot_loops(o, g, l);
		put_text(o, "\t}\n");
	}
}

static void json_choices(struct out *o, const struct lkdf_graph *g,
			 const char *name, uint8_t flag)
{
	const struct control_edge *e = g->control->given.items;
	bool is_first = true;
	size_t i;

	put_text(o, ",\"%s\":[", name);
	for (i = 0; i < g->control->given.nr; i++) {
		if (!(e[i].flags & flag))
			continue;
		put_text(o, "%s[%u,%u,%u]", is_first ? "" : ",", e[i].from,
			 e[i].to, e[i].branch);
		is_first = false;
	}
	put_text(o, "]");
}

/* Found by seal, inner ones first. */
static void json_loops(struct out *o, const struct lkdf_graph *g)
{
	const struct control *c = g->control;
	uint32_t l;

	put_text(o, ",\"loops\":[");
	for (l = 0; l < c->nr_loops; l++)
		put_text(o, "%s{\"head\":%u,\"members\":%u,\"region\":%s}",
			 l ? "," : "", graph_number(g, c->loops[l].head),
			 c->loops[l].nr_members,
			 c->regions && c->regions[l] ? "true" : "false");
	put_text(o, "]");
}

static void dot_edge(struct out *o, uint32_t from, uint32_t to)
{
	put_text(o, "\tt%u -> t%u;\n", from, to);
}

static void dump_dot(struct out *o, const struct lkdf_graph *g)
{
	char name[NAME_SIZE];
	uint32_t t;

	put_text(o, "digraph ");
	put_quoted(o, g->name);
	put_text(o, " {\n\tnode [shape=box];\n");
	for (t = 0; t < g->nr_tasks; t++) {
		put_text(o, "\tt%u [label=", t);
		put_quoted(o, graph_task_name(g, t, name, sizeof(name)));
		put_text(o, "];\n");
	}
	put_edges(o, g, dot_edge);
	if (g->control) {
		dot_choices(o, g);
		if (g->is_sealed)
			dot_loops(o, g, NO_LOOP);
	}
	put_text(o, "}\n");
}

static void json_edge(struct out *o, uint32_t from, uint32_t to)
{
	put_text(o, "[%u,%u],", from, to);
}

static uint64_t ns_of(const struct lkdf_graph *g, uint64_t ticks)
{
	return (uint64_t)((double)ticks * 1024 / g->rt->sched.ticks_per_1024ns);
}

/* For a task with LKDF_PROFILE. */
static void json_times(struct out *o, const struct lkdf_graph *g, uint32_t t)
{
	const struct rec *r = &g->recs[graph_index(g, t)];
	struct task_time *time;

	if (!g->times || !(a_load(&r->kind->slow, relaxed) & SLOW_PROFILED))
		return;
	time = &g->times[t];
	put_text(o,
		 ",\"runs\":%" PRIu64 ",\"total_ns\":%" PRIu64
		 ",\"longest_ns\":%" PRIu64,
		 a_load(&time->runs, relaxed),
		 ns_of(g, a_load(&time->total, relaxed)),
		 ns_of(g, a_load(&time->longest, relaxed)));
}

static void dump_json(struct out *o, const struct lkdf_graph *g)
{
	char name[NAME_SIZE];
	uint32_t t;

	put_text(o, "{\"schema\":\"lkdf/graph/1\",\"name\":");
	put_quoted(o, g->name);
	put_text(o, ",\"inflight\":%u,\"tasks\":[", g->nr_frames);
	for (t = 0; t < g->nr_tasks; t++) {
		put_text(o, "%s{\"id\":%u,\"kind\":", t ? "," : "", t);
		put_quoted(o, g->recs[graph_index(g, t)].kind->name);
		put_text(o, ",\"label\":");
		put_quoted(o, graph_task_name(g, t, name, sizeof(name)));
		json_times(o, g, t);
		put_text(o, "}");
	}
	put_text(o, "],\"edges\":[");
	put_edges(o, g, json_edge);
	/* The comma after the last edge is still in the buffer. */
	if (o->used && o->buf[o->used - 1] == ',')
		o->used--;
	put_text(o, "]");
	if (g->control) {
		json_choices(o, g, "branches", CONTROL_BRANCH);
		json_choices(o, g, "backs", CONTROL_BACK);
		if (g->is_sealed)
			json_loops(o, g);
	}
	put_text(o, "}\n");
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
	flush_text(&o);
	return o.rc;
}
