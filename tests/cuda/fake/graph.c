/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Graphs: lists of ops that are given to a stream again. A graph that is
 * destroyed stays in memory for events that were recorded in its capture; its
 * ops go.
 */
#include "tests/cuda/fake/fake.h"

#include <stdlib.h>

static struct CUgraph_st *graphs;

struct CUgraph_st *graph_make(void)
{
	struct CUgraph_st *g = calloc(1, sizeof(*g));

	if (!g)
		abort();
	g->end = &g->first;
	g->all = graphs;
	graphs = g;
	return g;
}

void graph_append(struct CUgraph_st *g, struct op *o)
{
	*g->end = o;
	g->end = &o->next;
	g->nr++;
}

static void clear_graph(struct CUgraph_st *g)
{
	struct op *o;

	while ((o = g->first)) {
		g->first = o->next;
		op_free(o);
	}
	g->end = &g->first;
	g->nr = 0;
}

static void copy_graph(struct CUgraph_st *to, const struct CUgraph_st *from)
{
	const struct op *o;

	clear_graph(to);
	for (o = from->first; o; o = o->next)
		graph_append(to, op_copy(o));
}

cu_result cuGraphCreate(cu_graph *g, unsigned flags)
{
	cu_result r = enter(E_cuGraphCreate, NEEDS_DRIVER);

	if (!r && flags)
		r = 1;
	if (!r)
		*g = graph_make();
	return leave(r);
}

/* A node's handle is its place, from 1 on. */
cu_result cuGraphGetNodes(cu_graph g, cu_node *nodes, size_t *nr)
{
	cu_result r = enter(E_cuGraphGetNodes, NEEDS_DRIVER);
	size_t i;

	if (!r && !g)
		r = 400;
	if (r)
		return leave(r);
	for (i = 0; nodes && i < *nr && i < g->nr; i++)
		nodes[i] = (cu_node)(uintptr_t)(i + 1);
	*nr = g->nr;
	return leave(0);
}

cu_result cuGraphAddKernelNode(cu_node *node, cu_graph g, const cu_node *deps,
			       size_t nr, const struct cu_kernel_node *k)
{
	cu_result r = enter(E_cuGraphAddKernelNode, NEEDS_DRIVER);
	struct op *o;

	/* A list is in order, whatever it depends on. */
	if (!r && (!g || !k || (nr && !deps)))
		r = 400;
	if (!r)
		r = launch_op(k->func, k, &o);
	if (!r) {
		graph_append(g, o);
		*node = (cu_node)(uintptr_t)g->nr;
	}
	return leave(r);
}

static struct op *find_node(struct CUgraph_st *g, cu_node node)
{
	uintptr_t i = (uintptr_t)node;
	struct op *o = g->first;

	while (o && i-- > 1)
		o = o->next;
	return o;
}

cu_result cuGraphExecKernelNodeSetParams(cu_exec x, cu_node node,
					 const struct cu_kernel_node *k)
{
	cu_result r = enter(E_cuGraphExecKernelNodeSetParams, NEEDS_DRIVER);
	struct op *o = NULL, *made, *next;

	if (!r && (!x || !node || !k))
		r = 400;
	if (!r) {
		o = find_node(&x->graph, node);
		r = o && o->kind == OP_KERNEL ? 0 : 400;
	}
	if (!r)
		r = launch_op(k->func, k, &made);
	if (r)
		return leave(r);
	next = o->next;
	free(o->bytes);
	*o = *made;
	o->next = next;
	free(made);
	return leave(0);
}

cu_result cuGraphInstantiateWithFlags(cu_exec *out, cu_graph g,
				      unsigned long long flags)
{
	cu_result r = enter(E_cuGraphInstantiateWithFlags, NEEDS_DRIVER);
	struct CUgraphExec_st *x;

	if (!r && (!g || flags & ~0xfull))
		r = g ? 1 : 400;
	if (r)
		return leave(r);
	x = calloc(1, sizeof(*x));
	if (!x)
		return leave(2);
	x->graph.end = &x->graph.first;
	copy_graph(&x->graph, g);
	*out = x;
	return leave(0);
}

static bool has_shape(const struct CUgraph_st *a, const struct CUgraph_st *b)
{
	const struct op *x = a->first, *y = b->first;

	while (x && y && x->kind == y->kind) {
		x = x->next;
		y = y->next;
	}
	return !x && !y;
}

cu_result cuGraphExecUpdate(cu_exec x, cu_graph g, struct cu_update *told)
{
	cu_result r = enter(E_cuGraphExecUpdate, NEEDS_DRIVER);

	if (!r && (!x || !g))
		r = 400;
	if (!r) {
		*told = (struct cu_update){ 0, NULL, NULL };
		if (!has_shape(&x->graph, g)) {
			told->result = 2; /* its topology has changed */
			r = 910;
		}
	}
	if (!r)
		copy_graph(&x->graph, g);
	return leave(r);
}

cu_result cuGraphUpload(cu_exec x, cu_stream handle)
{
	cu_result r = enter(E_cuGraphUpload, NEEDS_DRIVER);
	struct CUstream_st *s = NULL;

	if (!r && !x)
		r = 400;
	return leave(r ? r : stream_find(E_cuGraphUpload, handle, &s));
}

static void append_event(struct CUstream_st *s, enum op_kind kind,
			 struct CUevent_st *e)
{
	struct op *o = op_make(kind);

	if (kind == OP_RECORD)
		e->recorded = event_number();
	o->event = e;
	o->record = e->recorded;
	stream_append(s, o);
}

/* Behind the last run of the same exec; a run does not change with the exec. */
static void append_run(struct CUgraphExec_st *x, struct CUstream_st *s)
{
	struct CUgraph_st run = { .end = &run.first };
	struct CUevent_st *last = x->last ? x->last : event_make(s->ctx, 0);
	struct op *o;

	x->last = last;
	copy_graph(&run, &x->graph);
	append_event(s, OP_WAIT, last);
	while ((o = run.first)) {
		run.first = o->next;
		o->next = NULL;
		stream_append(s, o);
	}
	append_event(s, OP_RECORD, last);
}

cu_result cuGraphLaunch(cu_exec x, cu_stream handle)
{
	cu_result r = enter(E_cuGraphLaunch, NEEDS_DRIVER);
	struct CUstream_st *s = NULL;

	if (!r && !x)
		r = 400;
	if (!r)
		r = stream_find(E_cuGraphLaunch, handle, &s);
	if (!r && stream_is_null(s))
		r = capture_null();
	if (!r)
		append_run(x, s);
	return leave(r);
}

/* Behind a fault it is gone as well, for those who look for leaks. */
cu_result cuGraphExecDestroy(cu_exec x)
{
	cu_result r = enter(E_cuGraphExecDestroy, NEEDS_DRIVER);

	if (!r && !x)
		r = 400;
	if (x && (!r || fault_told())) {
		clear_graph(&x->graph);
		free(x);
	}
	return leave(r);
}

cu_result cuGraphDestroy(cu_graph g)
{
	cu_result r = enter(E_cuGraphDestroy, NEEDS_DRIVER);

	if (!r && !g)
		r = 400;
	if (!r)
		clear_graph(g);
	return leave(r);
}
