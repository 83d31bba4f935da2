/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Edges of a graph with control flow, as its runs want them. Seen from outside
 * a loop is one task: an edge that enters leads to the head of the outermost
 * loop that it enters, an edge that leaves is an exit of the outermost loop
 * that it leaves.
 */
#include "seal/find_loops.h"

#include "base/err.h"
#include "graph/access.h"
#include "mem/region.h"
#include "seal/edge_order.h"

#include <errno.h>
#include <lkdf/data.h>
#include <stdlib.h>

static int no_memory(const struct looper *p)
{
	return err(-ENOMEM, "graph %s: no memory for branches", p->g->name);
}

/* The outermost loop around inner that is not around to; NO_LOOP: none. */
static uint32_t outermost_loop(const struct control *c, uint32_t inner,
			       uint32_t to)
{
	uint32_t l = NO_LOOP;

	check(inner == NO_LOOP || inner < c->nr_loops);
	while (inner != NO_LOOP && !loops_has(c, inner, to)) {
		l = inner;
		inner = c->loops[inner].parent;
	}
	return l;
}

/* ---- edges across a border ----------------------------------------------- */

static int second_way_in(struct looper *p, const struct control_edge *e,
			 uint32_t head)
{
	p->why->path[0] = (int32_t)e->from;
	p->why->path[1] = (int32_t)e->to;
	p->why->path[2] = (int32_t)head;
	p->why->nr = 3;
	return err(-ELOOP,
		   "graph %s: the loop of %s has a second way in: branch %u of "
		   "%s leads to %s; a branch may lead to the head only",
		   p->g->name, loops_name(p, head).text, e->branch,
		   loops_name(p, e->from).text, loops_name(p, e->to).text);
}

static int turn_edge(struct looper *p, struct control_edge *e)
{
	struct control *c = p->c;
	uint32_t from = c->loop_of[e->from], to = c->loop_of[e->to], l, head;

	l = outermost_loop(c, to, from);
	if (l != NO_LOOP) {
		head = c->loops[l].head;
		if (e->flags & CONTROL_BRANCH && e->to != head)
			return second_way_in(p, e, head);
		e->to = head;
	}
	l = outermost_loop(c, from, to);
	if (l != NO_LOOP) {
		e->flags |= CONTROL_EXIT;
		e->loop = l;
	}
	return 0;
}

static int turn_edges(struct looper *p)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < p->nr_edges && !rc; i++)
		rc = turn_edge(p, &p->edge[i]);
	return rc;
}

/* An edge that closes an outer loop leaves the inner ones. */
static void turn_back(struct looper *p, struct control_edge *e)
{
	struct control *c = p->c;
	uint32_t l = p->loop_at[e->to], in = c->loop_of[e->from];

	check(e->flags & CONTROL_BACK);
	e->loop = l;
	c->loops[l].nr_backs++;
	if (in == l)
		return;
	e->flags |= CONTROL_EXIT;
	e->loop = outermost_loop(c, in, l);
}

static void turn_backs(struct looper *p)
{
	const struct control_edge *e = p->c->given.items;
	struct control_edge *new;
	size_t i;

	for (i = 0; i < p->c->given.nr; i++) {
		if (!(e[i].flags & CONTROL_BACK))
			continue;
		new = &p->edge[p->nr_edges++];
		*new = e[i];
		new->task = new->to;
		turn_back(p, new);
	}
}

/* ---- tasks of a loop that only data leads to ---------------------------- */

/* The head of the loop whose iterations the task belongs to, or NO_TASK. */
static uint32_t head_of(const struct looper *p, uint32_t t)
{
	const struct graph_loop *loops = p->c->loops;
	uint32_t l = p->c->loop_of[t];

	check(t < p->nr_tasks);
	if (l != NO_LOOP && loops[l].head == t)
		l = loops[l].parent;
	return l == NO_LOOP ? NO_TASK : loops[l].head;
}

/* It combines, also what others than members have left. */
static bool is_combining(const struct looper *p, uint32_t t)
{
	const struct lkdf_kind *k = p->g->recs[t].kind;

	check(t < p->nr_tasks);
	return k->is_ours && !k->is_empty;
}

/*
 * Edges of data pass what was not chosen, so a member with no other edge would
 * run though its loop does not: it comes after the head besides.
 */
static int add_entries(struct looper *p)
{
	uint8_t *has_edge = calloc(p->nr_tasks + 1ul, 1);
	uint32_t i, t, head, nr = p->nr_edges;

	if (!has_edge)
		return no_memory(p);
	for (i = 0; i < nr; i++)
		if (!(p->edge[i].flags & (CONTROL_DATA | CONTROL_BACK)))
			has_edge[p->edge[i].to] = 1;
	for (t = 0; t < p->nr_tasks; t++) {
		head = head_of(p, t);
		if (head != NO_TASK && !has_edge[t] && !is_combining(p, t))
			p->edge[p->nr_edges++] = (struct control_edge){
				.from = head,
				.to = t,
				.task = t,
				.flags = CONTROL_ENTRY,
			};
	}
	free(has_edge);
	return 0;
}

/* ---- what counts, and how many wait for it ------------------------------ */

static int too_many(struct looper *p, uint32_t t, const char *what,
		    uint32_t max)
{
	check(t < p->nr_tasks);
	p->why->path[0] = (int32_t)t;
	p->why->nr = 1;
	return err(-E2BIG, "graph %s: more than %u %s lead to %s", p->g->name,
		   max, what, loops_name(p, t).text);
}

static bool edge_counts(const struct rec *recs, const struct control_edge *e)
{
	return e->flags & CONTROL_BRANCH ||
	       (recs[e->to].kind->flags & LKDF_ANY &&
		!(e->flags & CONTROL_ENTRY));
}

static int count_arrivals(struct looper *p)
{
	uint32_t *nr_live = calloc(p->nr_tasks + 1ul, sizeof(*nr_live)), i, t;
	struct rec *recs = p->g->recs;
	struct control_edge *e;
	int rc = 0;

	if (!nr_live)
		return no_memory(p);
	for (t = 0; t < p->nr_tasks; t++)
		a_store(&recs[t].pending, 0, relaxed);
	for (i = 0; i < p->nr_edges && !rc; i++) {
		e = &p->edge[i];
		if (e->flags & CONTROL_BACK)
			continue;
		if (edge_counts(recs, e)) {
			e->flags |= CONTROL_COUNTS;
			recs[e->to].flags |= REC_CHOSEN;
			if (++nr_live[e->to] > CONTROL_MAX_LIVE)
				rc = too_many(p, e->to, "branches",
					      CONTROL_MAX_LIVE);
		}
		/* Room for the start and the token of the run before. */
		if (a_add(&recs[e->to].pending, 1, relaxed) > REC_ARRIVALS - 4)
			rc = too_many(p, e->to, "edges", REC_ARRIVALS - 4);
	}
	free(nr_live);
	return rc;
}

/* ---- exits -------------------------------------------------------------- */

/* From here on to of an edge that leaves is the number of its exit. */
static int lay_out_exits(struct looper *p)
{
	struct control *c = p->c;
	struct control_edge *e, *exit;
	uint32_t i, l, at = 0, n;

	for (i = 0; i < p->nr_edges; i++)
		if (p->edge[i].flags & CONTROL_EXIT)
			c->loops[p->edge[i].loop].nr_exits++;
	for (l = 0; l < c->nr_loops; l++) {
		c->loops[l].first_exit = at;
		at += c->loops[l].nr_exits;
		c->loops[l].nr_exits = 0;
	}
	c->nr_exits = at;
	c->exits = calloc(at + 1ul, sizeof(*c->exits));
	if (!c->exits)
		return no_memory(p);
	for (i = 0; i < p->nr_edges; i++) {
		e = &p->edge[i];
		if (!(e->flags & CONTROL_EXIT))
			continue;
		n = c->loops[e->loop].first_exit + c->loops[e->loop].nr_exits++;
		exit = &c->exits[n];
		*exit = *e;
		if (e->flags & CONTROL_BACK)
			exit->loop = c->loops[e->loop].parent;
		e->to = n;
	}
	return 0;
}

/* Before lay_out_exits(): to is the head of the loop that the edge closes. */
static bool is_back_port(const struct control_edge *e)
{
	return e->flags & CONTROL_BACK && e->flags & CONTROL_PORT;
}

/* A loop that is over forgets which values came round, see run/control.c. */
static int lay_out_back_ports(struct looper *p)
{
	struct graph_loop *loops = p->c->loops, *l;
	const struct control_edge *e, *end = p->edge + p->nr_edges;
	uint32_t i, at = 0;

	for (e = p->edge; e < end; e++)
		if (is_back_port(e))
			loops[p->loop_at[e->to]].nr_back_ports++;
	for (i = 0; i < p->c->nr_loops; i++) {
		loops[i].first_back = at;
		at += loops[i].nr_back_ports;
		loops[i].nr_back_ports = 0;
	}
	p->c->back_ports = calloc(at + 1ul, sizeof(*p->c->back_ports));
	if (!p->c->back_ports)
		return no_memory(p);
	for (e = p->edge; e < end; e++) {
		if (!is_back_port(e))
			continue;
		l = &loops[p->loop_at[e->to]];
		p->c->back_ports[l->first_back + l->nr_back_ports++] = e->live;
	}
	return 0;
}

/* ---- by task ------------------------------------------------------------ */

/* Told by the task itself, or of use to it when it chooses. */
static bool is_own(const struct control_edge *e)
{
	return !(e->flags & CONTROL_EXIT) ||
	       e->flags & (CONTROL_BRANCH | CONTROL_BACK);
}

static int compare_by_task(const void *a, const void *b)
{
	const struct control_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (is_own(x) != is_own(y))
		return is_own(x) ? -1 : 1;
	return x->branch < y->branch ? -1 : x->branch > y->branch;
}

static bool task_chooses(const struct control_edge *e)
{
	return e->flags & (CONTROL_BRANCH | CONTROL_BACK);
}

/* Edges of one task, sorted by branch: 0, 1, 2 ... as far as they go. */
static uint8_t nr_dense(const struct control_edge *e, uint32_t nr)
{
	uint32_t i, n = 0;
	bool has_branch = false;

	for (i = 0; i < nr; i++) {
		if (!task_chooses(&e[i]))
			continue;
		has_branch = true;
		if (e[i].branch == n && n < CONTROL_ANY_VALUE - 1)
			n++;
	}
	return (uint8_t)(has_branch ? n : CONTROL_ANY_VALUE);
}

/* A branch goes on in a loop, or it leaves it. */
static int check_branches(struct looper *p, const struct control_edge *e,
			  uint32_t nr)
{
	const struct control_edge *last = NULL;
	uint32_t i, left, last_left = 0;

	for (i = 0; i < nr; i++) {
		if (!task_chooses(&e[i]))
			continue;
		left = e[i].flags & CONTROL_EXIT ? e[i].loop : NO_LOOP;
		if (last && last->branch == e[i].branch && last_left != left) {
			p->why->path[0] = (int32_t)e->from;
			p->why->nr = 1;
			return err(-EINVAL,
				   "graph %s: branch %u of %s both stays in a "
				   "loop and leaves it",
				   p->g->name, e[i].branch,
				   loops_name(p, e->from).text);
		}
		last = &e[i];
		last_left = left;
	}
	return 0;
}

/* Plain edges go where graphs without control flow have theirs. */
static void place_plain(struct lkdf_graph *g, struct rec *r,
			const struct control_edge *e, uint32_t nr)
{
	uint32_t i;

	r->nr_succ = (uint8_t)(nr <= 2 ? nr : REC_SPILLED);
	for (i = 0; i < nr && nr <= 2; i++)
		r->succ[i] = e[i].to;
	if (nr <= 2)
		return;
	r->succ[0] = g->nr_spill;
	r->succ[1] = nr;
	for (i = 0; i < nr; i++)
		g->spill[g->nr_spill++] = e[i].to;
}

static void place_control(struct control *c, struct rec *r,
			  const struct control_edge *e, uint32_t nr)
{
	r->nr_succ = REC_CONTROL;
	r->succ[0] = c->nr_out;
	r->succ[1] = nr;
	edge_order_copy(&c->out[c->nr_out], e, nr);
	check(edge_order_holds(&c->out[c->nr_out], nr));
	c->out[c->nr_out].nr_dense = nr_dense(e, nr);
	c->nr_out += nr;
}

static int place_task(struct looper *p, uint32_t t,
		      const struct control_edge *e, uint32_t nr)
{
	bool is_plain = true;
	uint32_t i, own = 0;

	check(t < p->nr_tasks);
	for (i = 0; i < nr && is_own(&e[i]); i++, own++)
		is_plain &= !e[i].flags;
	if (is_plain)
		place_plain(p->g, &p->g->recs[t], e, own);
	else
		place_control(p->c, &p->g->recs[t], e, own);
	return check_branches(p, e, own);
}

static int lay_out(struct looper *p)
{
	struct lkdf_graph *g = p->g;
	uint32_t t, first = 0, end, cap = p->nr_edges + 1;
	int rc = 0;

	region_free(g->spill, g->nr_spill * sizeof(*g->spill));
	g->spill = region_alloc(cap * sizeof(*g->spill));
	p->c->out = calloc(cap, sizeof(*p->c->out));
	g->nr_spill = 0;
	if (!g->spill || !p->c->out) {
		region_free(g->spill, cap * sizeof(*g->spill));
		g->spill = NULL;
		return no_memory(p);
	}
	qsort(p->edge, p->nr_edges, sizeof(*p->edge), compare_by_task);
	for (t = 0; t < p->nr_tasks && !rc; t++, first = end) {
		for (end = first; end < p->nr_edges; end++)
			if (p->edge[end].from != t)
				break;
		rc = place_task(p, t, p->edge + first, end - first);
	}
	/* As large as it is freed. */
	g->nr_spill = cap;
	return rc;
}

/* ---- loops as runs see them --------------------------------------------- */

/* The loop that a BACK edge closes, and not one in it that it leaves. */
static struct graph_loop *closed_by(const struct looper *p,
				    const struct control_edge *e)
{
	struct graph_loop *loops = p->c->loops;

	return &loops[e->flags & CONTROL_EXIT ? loops[e->loop].parent
					      : e->loop];
}

/* A loop has one latch where all its BACK edges are of one task of its own. */
static int mark_members(struct looper *p)
{
	struct control *c = p->c;
	uint32_t *latch = calloc(c->nr_loops + 1ul, sizeof(*latch)), t, i, *of;
	const struct control_edge *e;
	struct graph_loop *l;

	if (!latch)
		return no_memory(p);
	for (t = 0; t < p->nr_tasks; t++)
		if (c->loop_of[t] != NO_LOOP)
			p->g->recs[t].flags |= REC_MEMBER;
	for (i = 0; i < c->nr_loops; i++) {
		latch[i] = NO_TASK;
		c->loops[i].has_one_latch = true;
	}
	for (i = 0; i < p->nr_edges; i++) {
		e = &p->edge[i];
		if (!(e->flags & CONTROL_BACK))
			continue;
		l = closed_by(p, e);
		of = &latch[l - c->loops];
		if (*of == NO_TASK)
			*of = e->from;
		l->has_one_latch &=
			*of == e->from && !(e->flags & CONTROL_EXIT);
	}
	free(latch);
	return 0;
}

int borders_lay_out(struct looper *p)
{
	int rc;

	rc = turn_edges(p);
	turn_backs(p);
	if (!rc)
		rc = loops_check_waits(p);
	if (!rc)
		rc = add_entries(p);
	if (!rc)
		rc = count_arrivals(p);
	if (!rc)
		rc = mark_members(p);
	if (!rc)
		rc = lay_out_back_ports(p);
	if (!rc)
		rc = lay_out_exits(p);
	return rc ? rc : lay_out(p);
}
