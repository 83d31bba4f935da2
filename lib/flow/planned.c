/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "flow/planned.h"

#include "base/clock.h"
#include "flow/ctx.h"
#include "flow/runtime.h"

#include <stdlib.h>

struct planned *planned_create(const struct lkdf_graph *g)
{
	size_t nr_nodes = (size_t)g->rt->sched.nr_nodes;
	struct planned *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->bytes = calloc(nr_nodes, sizeof(*p->bytes));
	p->nr_tasks = calloc(nr_nodes, sizeof(*p->nr_tasks));
	p->kib = calloc(g->nr_tasks, sizeof(*p->kib));
	if (p->bytes && p->nr_tasks && p->kib)
		return p;
	planned_free(p);
	return NULL;
}

void planned_free(struct planned *p)
{
	if (!p)
		return;
	free(p->bytes);
	free(p->nr_tasks);
	free(p->kib);
	free(p);
}

void planned_add(struct planned *p, uint32_t task, int node, uint64_t bytes)
{
	uint64_t kib = max_u64(1, min_u64(bytes / 1024, UINT32_MAX));

	p->kib[task] = (uint32_t)kib;
	p->bytes[node] += (int64_t)kib * 1024;
	p->nr_tasks[node]++;
}

void planned_begin(const struct frame *f)
{
	const struct planned *p = f->graph->planned;
	struct sched *s = &f->graph->rt->sched;
	int i;

	for (i = 0; i < s->nr_nodes; i++)
		if (p->nr_tasks[i])
			load_begin(&s->nodes[i].load, p->bytes[i],
				   p->nr_tasks[i]);
}

/* NULL: the task was not planned. */
static struct load *load_of(const struct frame *f, uint32_t index,
			    int64_t *bytes)
{
	const struct lkdf_graph *g = f->graph;
	uint32_t kib = g->planned->kib[graph_number(g, index)];

	*bytes = (int64_t)kib * 1024;
	return kib ? &g->rt->sched.nodes[home_node(settle_home(g, index))].load
		   : NULL;
}

void planned_skip(const struct frame *f, uint32_t index)
{
	int64_t bytes;
	struct load *l = load_of(f, index, &bytes);

	if (l)
		load_add(l, -bytes, -1);
}

int planned_call(struct lkdf_ctx *c, lkdf_fn body, void *arg)
{
	const struct sched *s = &c->frame->graph->rt->sched;
	int64_t bytes;
	struct load *l = load_of(c->frame, c->index, &bytes);
	uint64_t start;
	int rc;

	if (!l)
		return body(c, arg);
	load_add(l, -bytes, -1);
	start = clock_ticks();
	rc = body(c, arg);
	if (l == &s->nodes[c->ex->node].load)
		load_learn(l, clock_ticks() - start, (uint64_t)bytes);
	return rc;
}
