/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which tasks are members of which loop. A BACK edge names the head; members
 * are the tasks that the head reaches and that reach a BACK edge to it, where
 * a loop in the loop is all in or all out. Natural loops of compilers (Aho,
 * Lam, Sethi, Ullman 2006, 9.6) are the same but for one thing: an edge from
 * outside is no second way in, it is waited for before the first iteration.
 */
#include "seal/find_loops.h"

#include "base/err.h"

#include <errno.h>
#include <lkdf/graph.h>
#include <stdio.h>
#include <stdlib.h>

struct loop_name loops_name(const struct looper *p, uint32_t task)
{
	struct loop_name name;

	check(task < p->nr_tasks);
	graph_task_name(p->g, task, name.text, sizeof(name.text));
	return name;
}

bool loops_has(const struct control *c, uint32_t outer, uint32_t inner)
{
	while (inner != outer && inner != NO_LOOP)
		inner = c->loops[inner].parent;
	return inner == outer;
}

/* ---- an order ------------------------------------------------------------ */

/* Kahn 1962; a graph without cycles has one. */
static void find_positions(struct looper *p, uint32_t *nr_in, uint32_t *stack)
{
	uint32_t top = 0, at = 0, t, i;

	for (t = 0; t < p->nr_tasks; t++) {
		nr_in[t] = p->first_in[t + 1] - p->first_in[t];
		if (!nr_in[t])
			stack[top++] = t;
	}
	while (top) {
		t = stack[--top];
		p->position[t] = at++;
		for (i = p->first[t]; i < p->first[t + 1]; i++)
			if (!--nr_in[p->edge[i].to])
				stack[top++] = p->edge[i].to;
	}
}

/* ---- members ------------------------------------------------------------- */

/* A search of one loop at a time; marks are the loop's number plus 1. */
struct search {
	struct looper *p;
	uint32_t *reached; /* by task: the head reaches it */
	uint32_t *leads; /* by task: and it reaches a BACK edge */
	uint32_t *stack;
	uint32_t top, head, mark;
	int rc;
};

static void reach_tasks(struct search *s, uint32_t t)
{
	check(t < s->p->nr_tasks);
	if (s->reached[t] == s->mark)
		return;
	s->reached[t] = s->mark;
	s->stack[s->top++] = t;
}

/* Forwards from the head. */
static void find_reached(struct search *s)
{
	uint32_t t, i;

	s->top = 0;
	reach_tasks(s, s->head);
	while (s->top) {
		t = s->stack[--s->top];
		for (i = s->p->first[t]; i < s->p->first[t + 1]; i++)
			reach_tasks(s, s->p->edge[i].to);
	}
}

static void lead_back(struct search *s, uint32_t t)
{
	uint32_t *m;

	check(t < s->p->nr_tasks);
	if (s->leads[t] == s->mark || s->reached[t] != s->mark || s->rc)
		return;
	s->leads[t] = s->mark;
	s->stack[s->top++] = t;
	m = array_add(&s->p->members);
	if (m)
		*m = t;
	else
		s->rc = err(-ENOMEM, "graph %s: no memory for loops",
			    s->p->g->name);
}

/* A loop that begins here belongs to the loop with all its members. */
static void lead_all(struct search *s, uint32_t inner)
{
	uint32_t i;

	if (inner == NO_LOOP || inner >= s->mark - 1)
		return;
	for (i = s->p->first_member[inner]; i < s->p->first_member[inner + 1];
	     i++)
		lead_back(s, ((uint32_t *)s->p->members.items)[i]);
}

/* Backwards from the BACK edges, over what the head reaches only. */
static void find_leads(struct search *s)
{
	const struct control_edge *e = s->p->c->given.items;
	uint32_t t, i;
	size_t k;

	s->top = 0;
	for (k = 0; k < s->p->c->given.nr; k++)
		if (e[k].flags & CONTROL_BACK && e[k].to == s->head)
			lead_back(s, e[k].from);
	while (s->top && !s->rc) {
		t = s->stack[--s->top];
		lead_all(s, s->p->loop_at[t]);
		for (i = s->p->first_in[t]; i < s->p->first_in[t + 1]; i++)
			lead_back(s, s->p->pred[i]);
	}
}

static int check_latches(const struct search *s)
{
	const struct looper *p = s->p;
	const struct control_edge *e = p->c->given.items;
	size_t k;

	for (k = 0; k < p->c->given.nr; k++) {
		if (!(e[k].flags & CONTROL_BACK) || e[k].to != s->head ||
		    s->reached[e[k].from] == s->mark)
			continue;
		p->why->path[0] = (int32_t)e[k].from;
		p->why->path[1] = (int32_t)s->head;
		p->why->nr = 2;
		return err(-EINVAL,
			   "graph %s: BACK edge from %s to %s, which does not "
			   "lead there",
			   p->g->name, loops_name(p, e[k].from).text,
			   loops_name(p, s->head).text);
	}
	return 0;
}

static int find_members(struct search *s, uint32_t l)
{
	check(l < s->p->c->nr_loops);
	s->head = s->p->c->loops[l].head;
	s->mark = l + 1;
	find_reached(s);
	s->p->first_member[l] = (uint32_t)s->p->members.nr;
	find_leads(s);
	s->p->first_member[l + 1] = (uint32_t)s->p->members.nr;
	return s->rc ? s->rc : check_latches(s);
}

/* ---- loops in loops ------------------------------------------------------ */

static int refuse_overlap(const struct looper *p, uint32_t a, uint32_t b,
			  uint32_t task)
{
	const struct graph_loop *l = p->c->loops;

	p->why->path[0] = (int32_t)l[a].head;
	p->why->path[1] = (int32_t)l[b].head;
	p->why->path[2] = (int32_t)task;
	p->why->nr = 3;
	return err(
		-ELOOP,
		"graph %s: the loops of %s and %s overlap at %s, and neither "
		"lies in the other",
		p->g->name, loops_name(p, l[a].head).text,
		loops_name(p, l[b].head).text, loops_name(p, task).text);
}

/* Loops around it are nested already; its members are in all of these. */
static int nest_loops(struct looper *p, uint32_t l)
{
	struct control *c = p->c;
	const uint32_t *m = p->members.items;
	uint32_t parent = c->loop_of[c->loops[l].head], i;

	check(l < p->c->nr_loops);
	for (i = p->first_member[l]; i < p->first_member[l + 1]; i++)
		if (c->loop_of[m[i]] != parent)
			return refuse_overlap(
				p, l,
				parent == NO_LOOP ? c->loop_of[m[i]] : parent,
				m[i]);
	for (i = p->first_member[l]; i < p->first_member[l + 1]; i++)
		c->loop_of[m[i]] = l;
	c->loops[l].parent = parent;
	c->loops[l].nr_members = p->first_member[l + 1] - p->first_member[l];
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

struct by_position {
	uint32_t position, head;
};

static int compare_heads(const void *a, const void *b)
{
	const struct by_position *x = a, *y = b;

	return x->position < y->position   ? 1
	       : x->position > y->position ? -1
					   : 0;
}

/* Inner ones first: a head comes after the heads of all loops around it. */
static int number_loops(struct looper *p)
{
	const struct control_edge *e = p->c->given.items;
	struct by_position *heads;
	uint32_t nr = 0, l;
	size_t k;

	heads = calloc(p->c->given.nr + 1, sizeof(*heads));
	p->first_member = calloc(p->c->given.nr + 1, sizeof(uint32_t));
	p->c->loops = calloc(p->c->given.nr + 1, sizeof(struct graph_loop));
	if (!heads || !p->first_member || !p->c->loops) {
		free(heads);
		return err(-ENOMEM, "graph %s: no memory for loops",
			   p->g->name);
	}
	for (k = 0; k < p->c->given.nr; k++) {
		if (!(e[k].flags & CONTROL_BACK) ||
		    p->loop_at[e[k].to] != NO_LOOP)
			continue;
		p->loop_at[e[k].to] = 0;
		heads[nr++] =
			(struct by_position){ p->position[e[k].to], e[k].to };
	}
	qsort(heads, nr, sizeof(*heads), compare_heads);
	for (l = 0; l < nr; l++) {
		p->loop_at[heads[l].head] = l;
		p->c->loops[l].head = heads[l].head;
	}
	p->c->nr_loops = nr;
	free(heads);
	return 0;
}

static int find_all(struct looper *p, uint32_t *work)
{
	struct search s = {
		.p = p,
		.leads = work,
		.reached = work + p->nr_tasks,
		.stack = work + 2 * (size_t)p->nr_tasks,
	};
	uint32_t l;
	int rc;

	find_positions(p, s.leads, s.stack);
	rc = number_loops(p);
	for (l = 0; l < p->nr_tasks; l++)
		s.leads[l] = 0;
	for (l = 0; l < p->c->nr_loops && !rc; l++)
		rc = find_members(&s, l);
	for (l = p->c->nr_loops; l && !rc; l--)
		rc = nest_loops(p, l - 1);
	return rc;
}

int loops_find(struct looper *p)
{
	uint32_t *work = calloc(3 * (size_t)p->nr_tasks + 1, sizeof(*work));
	uint32_t t;
	int rc;

	p->position = calloc(p->nr_tasks + 1ul, sizeof(uint32_t));
	p->loop_at = calloc(p->nr_tasks + 1ul, sizeof(uint32_t));
	p->c->loop_of = calloc(p->nr_tasks + 1ul, sizeof(uint32_t));
	if (!work || !p->position || !p->loop_at || !p->c->loop_of) {
		free(work);
		return err(-ENOMEM, "graph %s: no memory for loops",
			   p->g->name);
	}
	for (t = 0; t < p->nr_tasks; t++)
		p->loop_at[t] = p->c->loop_of[t] = NO_LOOP;
	rc = find_all(p, work);
	free(work);
	return rc;
}
