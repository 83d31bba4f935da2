/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Regions: loops whose tasks run at once where they are ready: a task of its
 * own, a home, a priority, or work that goes ahead of its task leave a loop
 * without one. A loop in the loop, which has a region, is one of its tasks: its
 * head's edges lead to it, and its exits from it.
 */
#include "seal/regions.h"

#include "base/err.h"
#include "base/options.h"
#include "core/runtime.h"
#include "graph/access.h"
#include "graph/control.h"
#include "graph/port.h"
#include "graph/region.h"
#include "seal/region_places.h"
#include "seal/region_size.h"
#include "task/kind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* By index, for all loops; by loop, one more at the end. */
struct maker {
	struct lkdf_graph *g;
	uint32_t l; /* the loop that is looked at */
	uint32_t *first, *members; /* of a loop in it: the head */
	uint32_t *nr_in; /* edges to come while the order is made */
	uint16_t *plain; /* edges to a task that do not count */
	uint8_t *counts; /* enum counting */
	bool *is_reader; /* of bytes that come and go with each iteration */
	struct choosable
		*chosen; /* one task's edges with branches, by branch */
};

/* Edge i of a task has this branch. */
struct choosable {
	uint32_t i;
	uint16_t branch;
};

static int no_memory(const struct lkdf_graph *g)
{
	return err(-ENOMEM, "graph %s: no memory for regions", g->name);
}

/* ---- edges --------------------------------------------------------------- */

/* The loop in our loop that the member stands for; NULL: for itself. */
static const struct graph_loop *loop_at(const struct maker *m, uint32_t index)
{
	uint32_t l = m->g->control->loop_of[index];

	return l == m->l ? NULL : &m->g->control->loops[l];
}

static uint32_t nr_edges_of(const struct maker *m, uint32_t index)
{
	const struct graph_loop *inner = loop_at(m, index);
	const struct rec *r = &m->g->recs[index];
	uint32_t nr = r->succ[1];

	if (inner)
		return inner->nr_exits;
	if (r->nr_succ != REC_CONTROL)
		graph_succ(m->g, r, &nr);
	return nr;
}

static struct control_edge edge_of(const struct maker *m, uint32_t index,
				   uint32_t i)
{
	const struct graph_loop *inner = loop_at(m, index);
	const struct rec *r = &m->g->recs[index];
	struct control_edge exit;
	uint32_t nr;

	if (inner) {
		exit = m->g->control->exits[inner->first_exit + i];
		exit.flags &= (uint8_t)~CONTROL_EXIT;
		exit.branch = (uint16_t)i;
		return exit;
	}
	if (r->nr_succ == REC_CONTROL)
		return m->g->control->out[r->succ[0] + i];
	return (struct control_edge){
		.from = index,
		.to = graph_succ(m->g, r, &nr)[i],
	};
}

static bool stays_inside(const struct control_edge *e)
{
	return !(e->flags & (CONTROL_BACK | CONTROL_EXIT));
}

static bool has_branch(const struct control_edge *e)
{
	return e->flags & (CONTROL_BRANCH | CONTROL_BACK);
}

/* ---- which loops --------------------------------------------------------- */

/* The hot loop runs such a task at once, whatever the run is like. */
static bool runs_at_once(const struct rec *r)
{
	const uint8_t flags = REC_CLASS | REC_PLACED | REC_LEADS | REC_FOLLOWS;
	const struct lkdf_kind *k = r->kind;

	return (r->flags & flags) == CLASS_NORMAL && !k->is_away &&
	       !k->kernel && !(a_load(&k->slow, relaxed) & SLOW_GENERAL);
}

static void find_readers(struct maker *m)
{
	const struct access_table *w = m->g->accesses;
	const struct access_use *u = w ? w->uses.items : NULL;
	size_t i;

	for (i = 0; w && i < w->uses.nr; i++)
		if (u[i].flags & ACCESS_TRANSIENT)
			m->is_reader[graph_index(m->g, u[i].task)] = true;
}

/* A worker goes through the loop, too, as one of the tasks of another one. */
static bool goes_inside(const struct maker *m, const struct graph_loop *inner)
{
	const struct control *c = m->g->control;
	const struct region *r = c->regions[inner - c->loops];

	return r && r->depth < REGION_DEPTH && !r->begins.nr &&
	       !inner->nr_folds;
}

static bool may_have_region(const struct maker *m)
{
	const struct graph_loop *inner;
	uint32_t i, index;

	if (m->first[m->l + 1] - m->first[m->l] > REGION_TASKS)
		return false;
	for (i = m->first[m->l]; i < m->first[m->l + 1]; i++) {
		index = m->members[i];
		inner = loop_at(m, index);
		if (inner ? !goes_inside(m, inner)
			  : !runs_at_once(&m->g->recs[index]))
			return false;
	}
	return true;
}

/* Members by loop: tasks, and heads of the loops in it. */
static void list_members(struct maker *m)
{
	const struct control *c = m->g->control;
	uint32_t i, l, *first = m->first;

	for (i = 0; i < m->g->nr_recs; i++)
		if (c->loop_of[i] != NO_LOOP)
			first[c->loop_of[i] + 1]++;
	for (l = 0; l < c->nr_loops; l++)
		if (c->loops[l].parent != NO_LOOP)
			first[c->loops[l].parent + 1]++;
	for (l = 0; l < c->nr_loops; l++)
		first[l + 1] += first[l];
	for (i = 0; i < m->g->nr_recs; i++)
		if (c->loop_of[i] != NO_LOOP)
			m->members[first[c->loop_of[i]]++] = i;
	for (l = 0; l < c->nr_loops; l++)
		if (c->loops[l].parent != NO_LOOP)
			m->members[first[c->loops[l].parent]++] =
				c->loops[l].head;
	for (l = c->nr_loops; l; l--)
		first[l] = first[l - 1];
	first[0] = 0;
}

/* ---- an order ------------------------------------------------------------ */

/* The edges to a task that count. */
enum counting {
	HAS_CHOICE = 1, /* one of these is to be taken */
	ALWAYS_CHOSEN = 2, /* one keeps an order and passes what was not */
};

static void count_in(struct maker *m, uint32_t index)
{
	uint32_t i, nr = nr_edges_of(m, index);
	struct control_edge e;

	for (i = 0; i < nr; i++) {
		e = edge_of(m, index, i);
		if (!stays_inside(&e))
			continue;
		m->nr_in[e.to]++;
		if (e.flags & CONTROL_COUNTS && e.flags & CONTROL_DATA)
			m->counts[e.to] |= ALWAYS_CHOSEN;
		else if (e.flags & CONTROL_COUNTS)
			m->counts[e.to] |= HAS_CHOICE;
		else if (!(e.flags & CONTROL_DATA))
			m->plain[e.to]++;
	}
}

/* Kahn 1962, from the head. members of the loop are in their order then. */
static bool order_members(struct maker *m)
{
	uint32_t nr_members = m->first[m->l + 1] - m->first[m->l], i, nr_edges;
	uint32_t *list = m->members + m->first[m->l], at = 0, nr = 1;
	struct control_edge e;

	for (i = 0; i < nr_members; i++)
		count_in(m, list[i]);
	list[0] = m->g->control->loops[m->l].head;
	for (; at < nr; at++) {
		m->g->control->position[list[at]] = at;
		nr_edges = nr_edges_of(m, list[at]);
		for (i = 0; i < nr_edges; i++) {
			e = edge_of(m, list[at], i);
			if (stays_inside(&e) && !--m->nr_in[e.to])
				list[nr++] = e.to;
		}
	}
	return nr == nr_members;
}

/* ---- one region ---------------------------------------------------------- */

/*
 * How many edges the task waits for: those that count are one. 0: its edges
 * keep an order, no more, and it runs in each iteration.
 */
static uint16_t nr_waits(const struct maker *m, uint32_t index)
{
	return (uint16_t)(m->plain[index] + (m->counts[index] == HAS_CHOICE));
}

static unsigned arrival_of(const struct maker *m, const struct control_edge *e)
{
	if (e->flags & CONTROL_BACK && !(e->flags & CONTROL_EXIT))
		return REGION_BACK;
	if (e->flags & CONTROL_EXIT)
		return REGION_EXIT;
	if (e->flags & CONTROL_COUNTS && m->counts[e->to] & ALWAYS_CHOSEN)
		return REGION_ORDER;
	if (nr_waits(m, e->to) == 1)
		return REGION_LIVE;
	return e->flags & CONTROL_COUNTS ? REGION_ONE : REGION_ALL;
}

/* The byte of an edge that leaves the loop is the business of its end. */
static bool tells_port(const struct control_edge *e)
{
	return e->flags & CONTROL_PORT && !(e->flags & CONTROL_EXIT);
}

static void add_edge(const struct maker *m, struct region *r, uint32_t index,
		     uint32_t i, uint32_t at)
{
	struct control_edge e = edge_of(m, index, i);

	if (tells_port(&e))
		r->ports.live[r->ports.nr++] = r->ports.of[at] = e.live;
	r->edge[at] = (struct region_edge){
		.how = (uint16_t)(arrival_of(m, &e) |
				  (tells_port(&e) ? REGION_PORT : 0)),
		.to = (uint16_t)(stays_inside(&e)
					 ? m->g->control->position[e.to]
					 : i),
		.branch = e.branch,
	};
}

static int compare_branches(const void *a, const void *b)
{
	const struct choosable *x = a, *y = b;

	return x->branch != y->branch ? x->branch - y->branch
				      : (x->i < y->i ? -1 : 1);
}

/* Edges without a branch, then those with branches, by branch. */
static void add_edges(const struct maker *m, struct region *r,
		      struct region_task *t, uint32_t at)
{
	uint32_t i, nr = nr_edges_of(m, t->index), nr_chosen = 0;
	struct control_edge e;

	t->first = (uint16_t)at;
	for (i = 0; i < nr; i++) {
		e = edge_of(m, t->index, i);
		if (e.flags & CONTROL_DATA)
			continue;
		if (has_branch(&e))
			m->chosen[nr_chosen++] =
				(struct choosable){ i, e.branch };
		else
			add_edge(m, r, t->index, i, at++);
	}
	t->first_branch = (uint16_t)at;
	qsort(m->chosen, nr_chosen, sizeof(*m->chosen), compare_branches);
	for (i = 0; i < nr_chosen; i++)
		add_edge(m, r, t->index, m->chosen[i].i, at++);
	t->end = (uint16_t)at;
}

/* The task is noted where an iteration has to do with it though it may not run.
 */
static void list_task(const struct maker *m, struct region *r, uint32_t p)
{
	uint32_t index = r->task[p].index;

	r->waits[p] = p ? nr_waits(m, index) : 1;
	r->counts |= r->waits[p] > 1;
	r->nr_counted += r->task[p].nr_counted;
	if (!r->waits[p])
		r->begins.at[r->begins.nr++] = (uint16_t)p;
	if (m->is_reader[index] && !r->task[p].is_loop)
		r->readers.at[r->readers.nr++] = (uint16_t)p;
}

static void fill_loop(const struct maker *m, struct region *r,
		      struct region_task *t, uint32_t l)
{
	const struct region *inner = m->g->control->regions[l];

	t->is_loop = true;
	t->first_at = l;
	t->nr_counted = inner->nr_counted;
	r->has_loops = true;
	if (r->depth <= inner->depth)
		r->depth = inner->depth + 1;
}

/* Returns the first place behind those of the task. */
static uint32_t fill_task(const struct maker *m, struct region *r,
			  struct region_task *t, uint32_t at)
{
	const struct rec *rec = &m->g->recs[t->index];

	t->nr_counted = !rec->kind->is_ours;
	return t->first_branch == t->end ? at : region_places_add(r, t, at);
}

static void fill_region(const struct maker *m, struct region *r,
			const uint32_t *list)
{
	const struct control *c = m->g->control;
	uint32_t p, edge = 0, at = 0;
	struct region_task *t;

	r->ports.has_hooks = m->g->ports && m->g->ports->has_hooks;
	for (p = 0; p < r->nr; p++) {
		t = &r->task[p];
		t->index = list[p];
		add_edges(m, r, t, edge);
		edge = t->end;
		if (loop_at(m, list[p]))
			fill_loop(m, r, t, c->loop_of[list[p]]);
		else
			at = fill_task(m, r, t, at);
		list_task(m, r, p);
	}
	r->has_ports = r->ports.has_hooks || r->ports.nr;
	r->is_plain = r->nr_counted == r->nr && !r->begins.nr &&
		      !r->readers.nr && !r->has_loops;
	region_places_find_jumps(r);
}

/* The branches of a task that do not follow the first one, at most. */
static uint32_t nr_sparse_of(const struct maker *m, uint32_t index)
{
	const struct control *c = m->g->control;
	const struct rec *r = &m->g->recs[index];
	const struct branches *b;

	if (loop_at(m, index) || r->nr_succ != REC_CONTROL ||
	    !c->out[r->succ[0]].branches)
		return 0;
	b = &c->branches[c->out[r->succ[0]].branches - 1];
	return b->nr - branches_dense(&c->branch[b->first], b->nr);
}

static void count_task(const struct maker *m, uint32_t index,
		       struct region_size *s)
{
	uint32_t i, nr = nr_edges_of(m, index);
	struct control_edge e;

	s->nr_begins += !nr_waits(m, index);
	s->nr_readers += m->is_reader[index];
	for (i = 0; i < nr; i++) {
		e = edge_of(m, index, i);
		s->nr_ports += tells_port(&e);
	}
	s->nr_edges += nr;
	nr = nr_sparse_of(m, index);
	if (!nr)
		return;
	s->nr_sparse++;
	s->nr_slots += 1u << branches_bits(nr);
}

static int make_region(struct maker *m)
{
	struct region_size s = { .nr = m->first[m->l + 1] - m->first[m->l] };
	uint32_t *list = m->members + m->first[m->l], i;
	struct region *r;

	if (!may_have_region(m) || !order_members(m))
		return 0;
	for (i = 0; i < s.nr; i++)
		count_task(m, list[i], &s);
	if (region_edge_bytes(&s) > (uint64_t)s.nr * REGION_BYTES ||
	    s.nr + s.nr_edges > REGION_EDGES)
		return 0;
	r = region_create(&s);
	if (!r)
		return no_memory(m->g);
	fill_region(m, r, list);
	m->g->control->regions[m->l] = r;
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

static int make_all(struct maker *m)
{
	int rc = 0;

	list_members(m);
	/* Inner loops have the lower numbers. */
	for (m->l = 0; m->l < m->g->control->nr_loops && !rc; m->l++)
		rc = make_region(m);
	return rc;
}

int regions_make(struct lkdf_graph *g)
{
	struct control *c = g->control;
	size_t nr = g->nr_recs + 1ul;
	struct maker m = { .g = g };
	int rc = -ENOMEM;

	check(!g->is_sealed);
	if (!c->nr_loops || !g->rt->options->loop_regions)
		return 0;
	c->regions = calloc(c->nr_loops, sizeof(struct region *));
	c->position = calloc(nr, sizeof(uint32_t));
	m.first = calloc(c->nr_loops + 2ul, sizeof(uint32_t));
	m.members = calloc(2 * nr + c->nr_loops, sizeof(uint32_t));
	m.plain = calloc(nr, sizeof(uint16_t));
	m.counts = calloc(nr, sizeof(uint8_t));
	m.is_reader = calloc(nr, sizeof(bool));
	m.chosen = calloc(c->nr_out + c->nr_exits + 1ul, sizeof(*m.chosen));
	if (c->regions && c->position && m.first && m.members && m.plain &&
	    m.counts && m.is_reader && m.chosen) {
		m.nr_in = m.members + nr + c->nr_loops;
		find_readers(&m);
		rc = make_all(&m);
	}
	free(m.first);
	free(m.members);
	free(m.plain);
	free(m.counts);
	free(m.is_reader);
	free(m.chosen);
	return rc == -ENOMEM ? no_memory(g) : rc;
}
