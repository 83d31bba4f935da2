/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Why one task of a sealed graph waits for another: data that one of both
 * writes, or the port whose value the one makes. Edges of lkdf_graph_order()
 * have no more to tell.
 */
#include "graph/tell.h"

#include "core/runtime.h"
#include "data/data.h"
#include "graph/access.h"
#include "graph/port.h"
#include "task/traced.h"
#include "trace/file.h"

#include <stdio.h>

/* The mode of that use as the task has it: access_use.mode has more. */
#define MODES (LKDF_RW | LKDF_COMMUTE | LKDF_REDUCE | LKDF_WEAK | LKDF_MAYBE)

struct edge {
	uint32_t name, mode;
};

static bool is_in_way(const struct access_table *w, const struct access_use *a,
		      const struct access_use *b)
{
	return (access_is_same(w, a, b) || access_is_same(w, b, a)) &&
	       ((a->mode | b->mode) & ~(unsigned)LKDF_READ & MODES);
}

/* The first data for which the task at index to waits for the one at from. */
static bool edge_of_data(const struct lkdf_graph *g, uint32_t from, uint32_t to,
			 struct edge *e)
{
	const struct access_table *w = g->accesses;
	const struct access_use *a, *first, *a_end, *b, *b_end;

	if (!w || from >= w->nr_indices || to >= w->nr_indices)
		return false;
	first = access_uses(w, from, &a_end);
	for (b = access_uses(w, to, &b_end); b < b_end; b++)
		for (a = first; a < a_end; a++) {
			if (!is_in_way(w, a, b))
				continue;
			e->name = traced_data_name(access_var(w, b->var)->data);
			e->mode = b->mode & MODES;
			return e->name != 0;
		}
	return false;
}

static uint32_t port_name(const struct lkdf_graph *g, uint32_t from,
			  uint32_t out)
{
	char text[TRACE_NAME_SIZE];

	snprintf(text, sizeof(text), "port %u of %.40s", out,
		 g->recs[from].kind->name);
	return traced_name(&g->rt->trace, text);
}

/* The first out port of the one whose value the other reads. */
static bool edge_of_port(const struct lkdf_graph *g, uint32_t from, uint32_t to,
			 struct edge *e)
{
	const struct ports *p = g->ports;
	uint32_t in, out, i;

	if (!p || from >= p->nr_indices || to >= p->nr_indices)
		return false;
	for (in = p->first_in[to]; in < p->first_in[to + 1]; in++)
		for (i = p->in[in].first; i < p->in[in].first + p->in[in].nr;
		     i++)
			for (out = p->first_out[from];
			     out < p->first_out[from + 1]; out++) {
				if (p->source[i].slot != p->out[out].slot)
					continue;
				e->name = port_name(g, from,
						    out - p->first_out[from]);
				e->mode = LKDF_EDGE_IS_PORT;
				return e->name != 0;
			}
	return false;
}

static void tell_edge(const struct lkdf_graph *g, struct trace_file *f,
		      uint32_t from, uint32_t to)
{
	int64_t task = graph_number(g, from);
	struct edge e;

	if (!edge_of_port(g, from, to, &e) && !edge_of_data(g, from, to, &e))
		return;
	chunk_number(f, (uint64_t)task);
	chunk_signed(f, (int64_t)graph_number(g, to) - task);
	chunk_number(f, e.name);
	chunk_number(f, e.mode);
	f->records++;
}

void tell_edges(const struct lkdf_graph *g, struct trace_file *f,
		uint32_t number, uint32_t *task, uint32_t *at)
{
	const uint32_t *succ;
	uint32_t nr, from;

	chunk_begin(f, LKDF_CHUNK_EDGES);
	chunk_number(f, number);
	for (; *task < g->nr_tasks; ++*task, *at = 0) {
		from = graph_index(g, *task);
		succ = graph_succ(g, &g->recs[from], &nr);
		for (; *at < nr; ++*at) {
			if (chunk_is_full(f))
				return;
			tell_edge(g, f, from, succ[*at]);
		}
	}
}
