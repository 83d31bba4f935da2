/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "graph/include.h"

#include "base/err.h"
#include "graph/access.h"
#include "graph/control.h"
#include "graph/port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- asking ------------------------------------------------------------- */

/* How many begin at the task or before it. */
static size_t count_before(const struct lkdf_graph *g, uint32_t task)
{
	const struct graph_include *x = g->includes.items;
	size_t low = 0, high = g->includes.nr, mid;

	check(graph_has(g, task));
	while (low < high) {
		mid = (low + high) / 2;
		if (x[mid].begin <= task)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct graph_include *include_at(const struct lkdf_graph *g,
				       uint32_t task)
{
	const struct graph_include *x = g->includes.items;
	size_t i = count_before(g, task);

	check(graph_has(g, task));
	return i && x[i - 1].begin == task ? &x[i - 1] : NULL;
}

const struct graph_include *include_around(const struct lkdf_graph *g,
					   uint32_t task)
{
	const struct graph_include *x = g->includes.items;
	size_t i;

	for (i = count_before(g, task); i; i--)
		if (x[i - 1].begin < task && task < x[i - 1].end)
			return &x[i - 1];
	return NULL;
}

void include_free(struct lkdf_graph *g)
{
	struct graph_include *x = g->includes.items;
	size_t i;

	for (i = 0; i < g->includes.nr; i++)
		if (x[i].part)
			graph_put(x[i].part);
	array_fini(&g->includes);
}

/* ---- tasks -------------------------------------------------------------- */

struct copier {
	struct lkdf_graph *g, *part;
	uint32_t begin, first; /* number of the whole, of its first task */
	bool keeps; /* arguments stay the part's */
	uint8_t *edges; /* by task of the part: enum has_edge */
};

enum has_edge {
	HAS_IN = 1,
	HAS_OUT = 2,
};

static int no_memory(const struct copier *c)
{
	return err(-ENOMEM, "include: graph %s: no memory for graph %s",
		   c->g->name, c->part->name);
}

static int empty_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

/* The kind of begin and end. The graph has the reference. */
static int empty_kind(struct lkdf_graph *g)
{
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "include",
		.fn = empty_body,
		.flags = LKDF_SHARED,
	};
	struct lkdf_kind *k;
	int rc;

	if (g->empty_kind)
		return 0;
	rc = kind_create(g->rt, &a, &k);
	if (rc)
		return rc;
	k->is_ours = k->is_empty = true;
	rc = graph_keep_kind(g, k);
	kind_put(k);
	if (!rc)
		g->empty_kind = k;
	return rc;
}

/* A number, or -errno. */
static int add_empty(struct copier *c, const char *suffix)
{
	char label[NAME_SIZE];
	int rc = graph_add(c->g, c->g->empty_kind, NULL, LKDF_PRIO_DEFAULT);

	if (rc < 0)
		return rc;
	snprintf(label, sizeof(label), "%s%s", c->part->name, suffix);
	return graph_label(c->g, (uint32_t)rc, label) ? -ENOMEM : rc;
}

/* Their kinds may be made of those that the part keeps. */
static int keep_kinds(struct copier *c)
{
	struct lkdf_kind **kinds = c->part->kinds.items;
	int rc = 0;
	size_t i;

	for (i = 0; i < c->part->kinds.cap && !rc; i++) {
		if (!kinds[i])
			continue;
		c->keeps |= kinds[i]->drop != NULL;
		rc = graph_keep_kind(c->g, kinds[i]);
	}
	return rc;
}

static int copy_task(struct copier *c, uint32_t t)
{
	const struct rec *from = &c->part->recs[t];
	struct lkdf_graph *g = c->g;
	uint32_t to = g->nr_tasks;
	struct rec *r = &g->recs[to];

	r->kind = from->kind;
	r->flags = from->flags & REC_CLASS;
	r->arg = from->arg;
	if (r->kind->arg_size && !r->kind->drop)
		r->arg = graph_copy_arg(g, from->arg, r->kind->arg_size);
	if (r->kind->arg_size && !r->arg)
		return no_memory(c);
	g->nr_tasks++;
	return from->flags & REC_PLACED ? graph_place(g, to, c->part->homes[t])
					: 0;
}

static int copy_tasks(struct copier *c)
{
	uint32_t t;
	int rc = graph_reserve(c->g, c->part->nr_tasks + 2);

	if (!rc)
		rc = keep_kinds(c);
	if (!rc)
		rc = empty_kind(c->g);
	if (!rc)
		rc = add_empty(c, "");
	for (t = 0; t < c->part->nr_tasks && rc >= 0; t++)
		rc = copy_task(c, t);
	if (rc >= 0)
		rc = add_empty(c, "/end");
	c->g->has_profiles |= c->part->has_profiles;
	return rc < 0 ? rc : 0;
}

static int copy_labels(struct copier *c)
{
	const struct task_label *l = c->part->labels.items;
	char text[NAME_SIZE];
	size_t i;
	int rc = 0;

	for (i = 0; i < c->part->labels.nr && !rc; i++) {
		graph_join_names(text, c->part->name, l[i].text);
		rc = graph_label(c->g, c->first + l[i].task, text);
	}
	return rc;
}

/* ---- edges -------------------------------------------------------------- */

static int copy_order(struct copier *c, uint32_t from, uint32_t to)
{
	c->edges[from] |= HAS_OUT;
	c->edges[to] |= HAS_IN;
	return graph_order(c->g, c->first + from, c->first + to);
}

static int copy_orders(struct copier *c)
{
	const struct spilled_edge *e = c->part->edges.items;
	const struct rec *r;
	uint32_t t, i, nr;
	size_t j;
	int rc = 0;

	for (t = 0; t < c->part->nr_tasks && !rc; t++) {
		r = &c->part->recs[t];
		nr = r->nr_succ == REC_SPILLED ? 2 : r->nr_succ;
		for (i = 0; i < nr && !rc; i++)
			rc = copy_order(c, t, r->succ[i]);
	}
	for (j = 0; j < c->part->edges.nr && !rc; j++)
		rc = copy_order(c, e[j].from, e[j].to);
	return rc;
}

/* Round a loop leads nothing that has not begun. */
static void note_edge(struct copier *c, uint32_t from, uint32_t to,
		      uint8_t flags)
{
	if (flags & CONTROL_BACK)
		return;
	c->edges[from] |= HAS_OUT;
	c->edges[to] |= HAS_IN;
}

static int copy_choices(struct copier *c)
{
	const struct control *from = c->part->control;
	const struct control_edge *e;
	struct control_edge new;
	size_t i;
	int rc = 0;

	if (!from)
		return 0;
	if (!control_of(c->g))
		return no_memory(c);
	e = from->given.items;
	for (i = 0; i < from->given.nr && !rc; i++) {
		note_edge(c, e[i].from, e[i].to, e[i].flags);
		new = e[i];
		new.from += c->first;
		new.to += c->first;
		rc = control_add(c->g, &new);
	}
	return rc;
}

static int copy_ports(struct copier *c)
{
	const struct ports *from = c->part->ports;
	const struct port_given *e;
	struct port_given new;
	size_t i;
	int rc = 0;

	if (!from)
		return 0;
	if (!ports_of(c->g))
		return no_memory(c);
	e = from->given.items;
	for (i = 0; i < from->given.nr && !rc; i++) {
		if (!e[i].is_next)
			note_edge(c, e[i].from, e[i].to, e[i].flags);
		new = e[i];
		new.from += c->first;
		new.to += c->first;
		rc = port_add(
			c->g, &new, e[i].init,
			c->part->recs[e[i].to].kind->ports->in_size[e[i].in]);
	}
	return rc;
}

static int copy_uses(struct copier *c)
{
	const struct access_table *w = c->part->accesses;
	const struct access_use *u = w ? w->uses.items : NULL;
	struct lkdf_use use;
	size_t i;
	int rc = 0;

	for (i = 0; w && i < w->uses.nr && !rc; i++) {
		use = (struct lkdf_use){
			.data = access_var(w, u[i].var)->data,
			.part = access_var(w, u[i].var)->part,
			.mode = u[i].mode,
		};
		rc = access_add(c->g, c->first + u[i].task, &use, 1);
	}
	return rc;
}

/* ---- begin and end ------------------------------------------------------ */

/* Where it was the first it is of no account whether others are live. */
static int lead_from_begin(struct copier *c, uint32_t to)
{
	const struct control_edge e = {
		.from = c->begin,
		.to = to,
		.flags = CONTROL_ENTRY,
	};

	return c->g->recs[to].kind->flags & LKDF_ANY
		       ? control_add(c->g, &e)
		       : graph_order(c->g, c->begin, to);
}

static int lead_to_end(struct copier *c, uint32_t from, uint32_t end)
{
	const struct control_edge e = {
		.from = from,
		.to = end,
		.flags = CONTROL_DATA,
	};

	return c->part->control ? control_add(c->g, &e)
				: graph_order(c->g, from, end);
}

static int join_ends(struct copier *c)
{
	uint32_t nr = c->part->nr_tasks, t, end = c->first + nr;
	int rc = c->part->control || !nr ? graph_order(c->g, c->begin, end) : 0;

	for (t = 0; t < nr && !rc; t++) {
		if (!(c->edges[t] & HAS_IN))
			rc = lead_from_begin(c, c->first + t);
		if (!rc && !(c->edges[t] & HAS_OUT))
			rc = lead_to_end(c, c->first + t, end);
	}
	return rc;
}

static int note_include(struct copier *c)
{
	const struct graph_include *in = c->part->includes.items;
	struct graph_include *x = array_add(&c->g->includes);
	size_t i, nr = c->part->includes.nr;

	if (!x)
		return no_memory(c);
	*x = (struct graph_include){
		.begin = c->begin,
		.end = c->first + c->part->nr_tasks,
		.part = c->keeps ? c->part : NULL,
	};
	snprintf(x->name, sizeof(x->name), "%s", c->part->name);
	if (x->part)
		graph_get(x->part);
	for (i = 0; i < nr; i++) {
		x = array_add(&c->g->includes);
		if (!x)
			return no_memory(c);
		*x = (struct graph_include){
			.begin = c->first + in[i].begin,
			.end = c->first + in[i].end,
		};
		graph_join_names(x->name, c->part->name, in[i].name);
	}
	return 0;
}

/* ---- all of it ---------------------------------------------------------- */

static int copy_all(struct copier *c)
{
	int rc = copy_tasks(c);

	if (!rc)
		rc = note_include(c);
	if (!rc)
		rc = copy_labels(c);
	if (!rc)
		rc = copy_orders(c);
	if (!rc)
		rc = copy_choices(c);
	if (!rc)
		rc = copy_ports(c);
	if (!rc)
		rc = copy_uses(c);
	return rc ? rc : join_ends(c);
}

int graph_include(struct lkdf_graph *g, struct lkdf_graph *part)
{
	struct copier c = {
		.g = g,
		.part = part,
		.begin = g->nr_tasks,
		.first = g->nr_tasks + 1,
	};
	int rc;

	check(g != part);
	check(!g->is_sealed && !part->is_sealed);
	c.edges = calloc(part->nr_tasks + 1ul, sizeof(*c.edges));
	if (!c.edges)
		return no_memory(&c);
	rc = copy_all(&c);
	free(c.edges);
	return rc ? rc : (int)c.begin;
}
