/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph in which tasks have places: its records are sorted by node, so that
 * each node's records lie together, on pages of that node. From then on a
 * task has two numbers: the user's, and the index of its record. Between the
 * nodes' parts lie records that nobody uses.
 */
#include "graph/renumber.h"

#include "base/err.h"
#include "core/runtime.h"
#include "graph/graph.h"
#include "mem/region.h"
#include "topo/topo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECS_PER_PAGE (REGION_PAGE / sizeof(struct rec))

static unsigned nr_homes(const struct lkdf_graph *g)
{
	return 2 * (unsigned)g->rt->sched.nr_nodes + 2;
}

static uint16_t home_of_task(const struct lkdf_graph *g, uint32_t task)
{
	check(graph_has(g, task));
	return g->recs[task].flags & REC_PLACED ? g->homes[task] : HOME_NONE;
}

/* Where each home's records begin; a node's on a page of its own. */
static int count_homes(struct lkdf_graph *g)
{
	unsigned nr = nr_homes(g), h;
	uint32_t t, at = 0, count;

	g->starts = region_alloc((nr + 1) * sizeof(*g->starts));
	if (!g->starts)
		return -ENOMEM;
	for (t = 0; t < g->nr_tasks; t++)
		g->starts[home_of_task(g, t)]++;
	for (h = 0; h < nr; h++) {
		if (h % 2 == 0)
			at = (uint32_t)round_up(at, RECS_PER_PAGE);
		count = g->starts[h];
		g->starts[h] = at;
		at += count;
	}
	g->starts[nr] = at;
	g->nr_recs = at;
	return 0;
}

static int number_records(struct lkdf_graph *g)
{
	size_t size = (nr_homes(g) + 1) * sizeof(uint32_t);
	uint32_t *next = region_alloc(size), t, i;

	g->numbers = region_alloc(g->nr_recs * sizeof(*g->numbers));
	g->indices = region_alloc(g->nr_tasks * sizeof(*g->indices));
	if (!next || !g->numbers || !g->indices) {
		region_free(next, size);
		return -ENOMEM;
	}
	memcpy(next, g->starts, size);
	for (t = 0; t < g->nr_tasks; t++) {
		i = next[home_of_task(g, t)]++;
		g->indices[t] = i;
		g->numbers[i] = t;
	}
	region_free(next, size);
	return 0;
}

static void rename_tasks(struct lkdf_graph *g, uint32_t *task, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		task[i] = g->indices[task[i]];
}

static int compare_wide(const void *a, const void *b)
{
	const struct wide_task *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

static void rename_all(struct lkdf_graph *g, struct rec *recs)
{
	struct wide_task *wide = g->wide.items;
	uint32_t i;

	for (i = 0; i < g->nr_recs; i++)
		if (recs[i].nr_succ < REC_SPILLED)
			rename_tasks(g, recs[i].succ, recs[i].nr_succ);
	rename_tasks(g, g->spill, g->nr_spill);
	rename_tasks(g, g->sources, g->nr_sources);
	for (i = 0; i < g->wide.nr; i++)
		rename_tasks(g, &wide[i].task, 1);
	if (g->wide.nr)
		qsort(wide, g->wide.nr, sizeof(*wide), compare_wide);
}

/* Each node's records have the node's own copy of the kind. */
static int move_records(struct lkdf_graph *g, struct rec *recs)
{
	struct lkdf_kind *k;
	uint32_t t, i;
	uint16_t home;

	for (t = 0; t < g->nr_tasks; t++) {
		i = g->indices[t];
		home = home_of_task(g, t);
		memcpy((void *)&recs[i], (void *)&g->recs[t], sizeof(*recs));
		if (home == HOME_NONE)
			continue;
		k = kind_on(recs[i].kind, home_node(home));
		if (!k)
			return -ENOMEM;
		recs[i].kind = k;
	}
	return 0;
}

struct rec *renumber_map(const struct lkdf_graph *g)
{
	struct rec *recs = region_map(g->nr_recs * sizeof(*recs));
	const struct topo *topo = g->rt->topo;
	uint32_t first, end;
	int node;

	for (node = 0; recs && node < topo->nr_nodes; node++) {
		first = g->starts[home_make(node, false)];
		end = g->starts[home_make(node, true) + 1];
		if (end > first && topo->nr_nodes > 1 && !topo->is_synthetic)
			region_prefer(&recs[first],
				      (end - first) * sizeof(*recs),
				      topo->node[node].os_node);
	}
	return recs;
}

int renumber(struct lkdf_graph *g)
{
	struct rec *recs = NULL;
	int rc;

	check(!g->is_sealed);
	rc = count_homes(g);
	if (!rc)
		rc = number_records(g);
	if (!rc) {
		recs = renumber_map(g);
		rc = recs ? move_records(g, recs) : -ENOMEM;
	}
	if (rc) {
		region_unmap(recs, g->nr_recs * sizeof(*recs));
		return err(rc, "graph %s: no memory to place %u tasks", g->name,
			   g->nr_tasks);
	}
	rename_all(g, recs);
	region_free(g->recs, g->cap_tasks * sizeof(*g->recs));
	g->recs = recs;
	g->cap_tasks = g->nr_recs;
	g->is_renumbered = true;
	return 0;
}

uint16_t renumber_home(const struct lkdf_graph *g, uint32_t index)
{
	unsigned low = 0, high = nr_homes(g), mid;

	check(index < g->nr_recs);
	/* The last home that begins at or before it. */
	while (low + 1 < high) {
		mid = (low + high) / 2;
		if (g->starts[mid] <= index)
			low = mid;
		else
			high = mid;
	}
	return (uint16_t)low;
}
