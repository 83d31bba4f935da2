/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Control flow while a graph is built: edges with branches wait in a list.
 */
#include "graph/control.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>

struct control *control_of(struct lkdf_graph *g)
{
	struct control *c = g->control;

	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->given.item_size = sizeof(struct control_edge);
	c->data.item_size = sizeof(struct control_data);
	g->control = c;
	return c;
}

void control_free(struct lkdf_graph *g)
{
	struct control *c = g->control;
	uint32_t l;

	if (!c)
		return;
	array_fini(&c->given);
	array_fini(&c->data);
	free(c->out);
	free(c->exits);
	free(c->back_ports);
	free(c->folds);
	for (l = 0; c->regions && l < c->nr_loops; l++)
		free(c->regions[l]);
	free(c->regions);
	free(c->position);
	free(c->branches);
	free(c->branch);
	free(c->choices.choice);
	free(c->choices.arm);
	free(c->choices.join);
	free(c->choices.other);
	free(c->loops);
	free(c->loop_of);
	free(c);
	g->control = NULL;
}

static int no_memory(const struct lkdf_graph *g)
{
	return err(-ENOMEM, "graph %s: no memory for branches", g->name);
}

int control_add(struct lkdf_graph *g, const struct control_edge *e)
{
	struct control *c = control_of(g);
	struct control_edge *new = c ? array_add(&c->given) : NULL;

	check(!g->is_sealed);
	if (!new)
		return no_memory(g);
	*new = *e;
	return 0;
}

int control_note_data(struct lkdf_graph *g, uint32_t from, bool is_hard)
{
	struct control_data *d = array_add(&g->control->data);

	check(!g->is_sealed);
	if (!d)
		return no_memory(g);
	*d = (struct control_data){ from, is_hard };
	return 0;
}

void control_harden(struct lkdf_graph *g, uint32_t from)
{
	struct control_data *d = g->control->data.items;
	size_t i = g->control->data.nr;

	check(!g->is_sealed);
	while (i && d[i - 1].from != from)
		i--;
	if (i)
		d[i - 1].is_hard = true;
}

int control_order(struct lkdf_graph *g)
{
	const struct control_edge *e = g->control->given.items;
	size_t i, nr = g->control->given.nr;
	int rc = 0;

	check(!g->is_sealed);
	for (i = 0; i < nr && !rc; i++)
		if (!(e[i].flags & CONTROL_BACK))
			rc = graph_order(g, e[i].from, e[i].to);
	return rc;
}

static void index_edges(const struct lkdf_graph *g, struct control_edge *e,
			uint32_t nr, bool has_exits)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		e[i].from = graph_index(g, e[i].from);
		e[i].task = graph_index(g, e[i].task);
		if (!has_exits || !(e[i].flags & CONTROL_EXIT))
			e[i].to = graph_index(g, e[i].to);
	}
}

int control_index(struct lkdf_graph *g)
{
	struct control *c = g->control;
	uint32_t *loop_of, t;

	check(!g->is_sealed);
	if (!g->is_renumbered)
		return 0;
	loop_of = calloc(g->nr_recs + 1ul, sizeof(*loop_of));
	if (!loop_of)
		return no_memory(g);
	for (t = 0; t < g->nr_recs; t++)
		loop_of[t] = NO_LOOP;
	for (t = 0; t < g->nr_tasks; t++)
		loop_of[graph_index(g, t)] = c->loop_of[t];
	free(c->loop_of);
	c->loop_of = loop_of;
	index_edges(g, c->out, c->nr_out, true);
	index_edges(g, c->exits, c->nr_exits, false);
	for (t = 0; t < c->nr_loops; t++)
		c->loops[t].head = graph_index(g, c->loops[t].head);
	for (t = 0; t < c->nr_folds; t++)
		c->folds[t].task = graph_index(g, c->folds[t].task);
	return 0;
}

bool control_judge(struct control *c)
{
	struct graph_loop *outer = NULL;
	uint32_t l;

	for (l = 0; l < c->nr_loops; l++) {
		if (c->loops[l].parent != NO_LOOP)
			continue;
		if (outer)
			return false;
		outer = &c->loops[l];
	}
	if (outer)
		outer->is_judged = true;
	return true;
}
