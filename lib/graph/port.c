/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "graph/port.h"

#include "base/err.h"
#include "graph/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const struct lkdf_graph *g)
{
	return err(-ENOMEM, "graph %s: no memory for ports", g->name);
}

struct ports *ports_of(struct lkdf_graph *g)
{
	struct ports *p = g->ports;

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->given.item_size = sizeof(struct port_given);
	g->ports = p;
	return p;
}

void ports_free(struct lkdf_graph *g)
{
	struct ports *p = g->ports;
	struct port_given *e;
	size_t i;

	if (!p)
		return;
	e = p->given.items;
	for (i = 0; i < p->given.nr; i++)
		free(e[i].init);
	array_fini(&p->given);
	free(p->first_in);
	free(p->first_out);
	free(p->in);
	free(p->out);
	free(p->source);
	free(p->next);
	free(p);
	g->ports = NULL;
}

int port_add(struct lkdf_graph *g, const struct port_given *given,
	     const void *init, uint32_t size)
{
	struct ports *p = ports_of(g);
	struct port_given *new = p ? array_add(&p->given) : NULL;

	check(!g->is_sealed);
	if (!new)
		return no_memory(g);
	*new = *given;
	new->live = NO_PORT;
	new->init = init ? malloc(size) : NULL;
	if (init && !new->init)
		return no_memory(g);
	if (init)
		memcpy(new->init, init, size);
	return 0;
}

/* ---- at seal: edges ----------------------------------------------------- */

static const struct kind_ports *ports_at(const struct lkdf_graph *g,
					 uint32_t task)
{
	static const struct kind_ports none;
	const struct kind_ports *k = g->recs[task].kind->ports;

	check(graph_has(g, task));
	return k ? k : &none;
}

/* Where the in ports of each task begin, by number; one more at the end. */
static uint32_t *count_in(const struct lkdf_graph *g)
{
	uint32_t *first = calloc(g->nr_tasks + 1ul, sizeof(*first)), t;

	for (t = 0; first && t < g->nr_tasks; t++)
		first[t + 1] = first[t] + ports_at(g, t)->nr_in;
	return first;
}

static int refuse_port(struct lkdf_graph *g, struct lkdf_diag *why, uint32_t t,
		       uint32_t in, const char *what)
{
	char name[NAME_SIZE];

	why->path[0] = (int32_t)t;
	why->nr = 1;
	return err(-EINVAL, "graph %s: in port %u of %s %s", g->name, in,
		   graph_task_name(g, t, name, sizeof(name)), what);
}

/* nr: edges to each port; a value for the next call counts NEXT. */
#define NEXT (1u << 20)

static int check_ports(struct lkdf_graph *g, const uint32_t *first,
		       const uint32_t *nr, struct lkdf_diag *why)
{
	uint32_t t, i;

	for (t = 0; t < g->nr_tasks; t++)
		for (i = first[t]; i < first[t + 1]; i++) {
			if (!nr[i])
				return refuse_port(g, why, t, i - first[t],
						   "has no edge");
			if (nr[i] > NEXT)
				return refuse_port(
					g, why, t, i - first[t],
					"has a NEXT edge, and others");
		}
	return 0;
}

static bool has_back(const struct lkdf_graph *g)
{
	const struct control_edge *c =
		g->control ? g->control->given.items : NULL;
	const struct port_given *e = g->ports->given.items;
	size_t i, nr = g->control ? g->control->given.nr : 0;

	for (i = 0; i < nr; i++)
		if (c[i].flags & CONTROL_BACK)
			return true;
	for (i = 0; i < g->ports->given.nr; i++)
		if (e[i].flags & CONTROL_BACK)
			return true;
	return false;
}

static bool runs_without(const struct lkdf_graph *g, uint32_t task)
{
	check(graph_has(g, task));
	return g->recs[task].kind->flags & (LKDF_ANY | LKDF_ALWAYS);
}

/* Loops whose heads run though an edge is dead that enters at a member. */
static bool has_lenient_heads(const struct lkdf_graph *g)
{
	uint32_t t;

	for (t = 0; t < g->nr_tasks; t++)
		if (runs_without(g, t))
			return has_back(g);
	return false;
}

/* May it be dead though its target runs? */
static bool needs_live(const struct lkdf_graph *g, const struct port_given *e,
		       uint32_t nr)
{
	return nr > 1 || e->flags || runs_without(g, e->to);
}

struct pair {
	uint32_t from, to;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Several values from one task to another need one edge. */
static int order_pairs(struct lkdf_graph *g, struct pair *pair, size_t nr)
{
	size_t i;
	int rc = 0;

	if (nr)
		qsort(pair, nr, sizeof(*pair), compare_pairs);
	for (i = 0; i < nr && !rc; i++)
		if (!i || compare_pairs(&pair[i - 1], &pair[i]))
			rc = graph_order(g, pair[i].from, pair[i].to);
	return rc;
}

static int add_live(struct lkdf_graph *g, struct port_given *e)
{
	const struct control_edge c = {
		.from = e->from,
		.to = e->to,
		.branch = e->branch,
		.flags = e->flags | CONTROL_PORT,
		.live = g->ports->nr_live,
	};

	e->live = g->ports->nr_live++;
	return control_add(g, &c);
}

static int order_edges(struct lkdf_graph *g, const uint32_t *first,
		       const uint32_t *nr, struct pair *pair)
{
	struct port_given *e = g->ports->given.items;
	bool all_live = has_lenient_heads(g);
	size_t i, nr_pairs = 0;
	int rc = 0;

	for (i = 0; i < g->ports->given.nr && !rc; i++) {
		if (e[i].is_next)
			g->ports->has_hooks = true;
		else if (all_live ||
			 needs_live(g, &e[i], nr[first[e[i].to] + e[i].in]))
			rc = add_live(g, &e[i]);
		else
			pair[nr_pairs++] = (struct pair){ e[i].from, e[i].to };
	}
	return rc ? rc : order_pairs(g, pair, nr_pairs);
}

static bool has_drop(const struct lkdf_graph *g)
{
	const struct kind_ports *k;
	uint32_t t, i;

	for (t = 0; t < g->nr_tasks; t++) {
		k = ports_at(g, t);
		for (i = 0; i < k->nr_out; i++)
			if (k->out_drop[i])
				return true;
	}
	return false;
}

int ports_order(struct lkdf_graph *g, struct lkdf_diag *why)
{
	const struct port_given *e = g->ports->given.items;
	uint32_t *first = count_in(g), *nr;
	struct pair *pair = calloc(g->ports->given.nr + 1, sizeof(*pair));
	size_t i;
	int rc;

	check(!g->is_sealed);
	nr = first ? calloc(first[g->nr_tasks] + 1ul, sizeof(*nr)) : NULL;
	if (nr && pair) {
		for (i = 0; i < g->ports->given.nr; i++)
			nr[first[e[i].to] + e[i].in] += e[i].is_next ? NEXT : 1;
		rc = check_ports(g, first, nr, why);
		if (!rc)
			rc = order_edges(g, first, nr, pair);
		g->ports->has_hooks |= has_drop(g);
		if (!rc && g->ports->has_hooks && !control_of(g))
			rc = no_memory(g);
	} else {
		rc = no_memory(g);
	}
	free(first);
	free(nr);
	free(pair);
	return rc;
}

/* ---- at seal: where values lie ------------------------------------------ */

/* A type's size is a multiple of its alignment, so the size tells enough. */
static uint32_t align_of(uint32_t size)
{
	uint32_t align = size & -size;

	if (align < PORT_ALIGN)
		return PORT_ALIGN;
	return align < CACHE_LINE ? align : CACHE_LINE;
}

static uint32_t take_port(uint32_t *used, uint32_t size)
{
	uint32_t at = (uint32_t)round_up(*used, align_of(size));

	*used = at + size;
	return at;
}

static void count_ports(struct lkdf_graph *g)
{
	struct ports *p = g->ports;
	const struct kind_ports *k;
	uint32_t t, i;

	for (t = 0; t < g->nr_tasks; t++) {
		i = graph_index(g, t);
		k = g->recs[i].kind->ports;
		p->first_in[i + 1] = k ? k->nr_in : 0;
		p->first_out[i + 1] = k ? k->nr_out : 0;
	}
	for (i = 0; i < g->nr_recs; i++) {
		p->first_in[i + 1] += p->first_in[i];
		p->first_out[i + 1] += p->first_out[i];
	}
	p->nr_in = p->first_in[i];
	p->nr_out = p->first_out[i];
}

static void place_outs(struct lkdf_graph *g)
{
	struct ports *p = g->ports;
	const struct kind_ports *k;
	struct port_out *out;
	uint32_t i, n;

	for (i = 0; i < g->nr_recs; i++) {
		k = p->first_out[i + 1] > p->first_out[i] ||
				    p->first_in[i + 1] > p->first_in[i]
			    ? g->recs[i].kind->ports
			    : NULL;
		for (n = 0; k && n < k->nr_out; n++) {
			out = &p->out[p->first_out[i] + n];
			out->size = k->out_size[n];
			out->slot = take_port(&p->nr_bytes, out->size);
			out->next = NO_PORT;
			out->drop = k->out_drop[n];
			out->state = out->drop ? p->nr_states++ : NO_PORT;
		}
		for (n = 0; k && n < k->nr_in; n++) {
			p->in[p->first_in[i] + n].size = k->in_size[n];
			p->in[p->first_in[i] + n].next = NO_PORT;
		}
	}
}

static struct port_in *in_of(const struct lkdf_graph *g,
			     const struct port_given *e)
{
	return &g->ports->in[g->ports->first_in[graph_index(g, e->to)] + e->in];
}

static struct port_out *out_of(const struct lkdf_graph *g,
			       const struct port_given *e)
{
	return &g->ports->out[g->ports->first_out[graph_index(g, e->from)] +
			      e->out];
}

/* Offsets of the values for next calls; how many bytes all have. */
static uint32_t place_nexts(const struct lkdf_graph *g)
{
	const struct port_given *e = g->ports->given.items;
	uint32_t used = 0;
	size_t i;

	for (i = 0; i < g->ports->given.nr; i++)
		if (e[i].is_next) {
			in_of(g, &e[i])->next =
				take_port(&used, in_of(g, &e[i])->size);
			out_of(g, &e[i])->next = in_of(g, &e[i])->next;
		}
	return used;
}

static void place_sources(const struct lkdf_graph *g)
{
	const struct port_given *e = g->ports->given.items;
	struct port_in *in;
	uint32_t at = 0, i;
	size_t k;

	for (k = 0; k < g->ports->given.nr; k++)
		in_of(g, &e[k])->nr += !e[k].is_next;
	for (i = 0; i < g->ports->nr_in; i++) {
		g->ports->in[i].first = at;
		at += g->ports->in[i].nr;
		g->ports->in[i].nr = 0;
	}
	for (k = 0; k < g->ports->given.nr; k++) {
		in = in_of(g, &e[k]);
		if (e[k].is_next) {
			if (e[k].init)
				memcpy(g->ports->next + in->next, e[k].init,
				       in->size);
			continue;
		}
		g->ports->source[in->first + in->nr++] = (struct port_source){
			.slot = out_of(g, &e[k])->slot,
			.live = e[k].live,
		};
	}
}

int ports_index(struct lkdf_graph *g)
{
	struct ports *p = g->ports;
	uint32_t nr_next;
	size_t size;

	check(!g->is_sealed);
	p->nr_indices = g->nr_recs;
	p->first_in = calloc(g->nr_recs + 1ul, sizeof(*p->first_in));
	p->first_out = calloc(g->nr_recs + 1ul, sizeof(*p->first_out));
	if (!p->first_in || !p->first_out)
		return no_memory(g);
	count_ports(g);
	p->in = calloc(p->nr_in + 1ul, sizeof(*p->in));
	p->out = calloc(p->nr_out + 1ul, sizeof(*p->out));
	p->source = calloc(p->given.nr + 1, sizeof(*p->source));
	if (!p->in || !p->out || !p->source)
		return no_memory(g);
	place_outs(g);
	nr_next = place_nexts(g);
	size = round_up(nr_next + 1ul, CACHE_LINE);
	p->next = aligned_alloc(CACHE_LINE, size);
	if (!p->next)
		return no_memory(g);
	memset(p->next, 0, size);
	place_sources(g);
	return 0;
}
