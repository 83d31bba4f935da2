/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which tasks are members of which loop. A BACK edge names the head; members
 * are the tasks that the head reaches and that reach a BACK edge to it, where
 * a loop in the loop is all in or all out. Natural loops of compilers (Aho,
 * Lam, Sethi, Ullman 2006, 9.6) are the same but for one thing: an edge from
 * outside is no second way in, it is waited for before the first iteration.
 *
 * The pass goes by inner loops first, the nesting-forest way of Ramalingam
 * 1999: a loop that was found is one node from then on, with the edges that
 * cross its border, and the loop around it sees no more of it. So an edge is
 * looked at once for each border that it crosses, and once for each loop that
 * it leads to without being reached from its head.
 */
#include "seal/find_loops.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>

static int no_memory(const struct looper *p)
{
	return err(-ENOMEM, "graph %s: no memory for loops", p->g->name);
}

/* ---- nodes --------------------------------------------------------------- */

#define NO_EDGE UINT32_MAX

/* A task that is in no loop found so far, or an outermost loop of these. */
struct node {
	uint32_t in, out; /* first edges; NO_EDGE: none */
	uint32_t leads, reached; /* a loop's number plus 1: see find_loop() */
};

struct search {
	struct looper *p;
	struct node *node; /* the tasks, then the loops */
	uint32_t *next_in, *next_out; /* by edge: of the same node */
	uint32_t *around; /* by loop: itself or one around it */
	uint32_t *first_back, *next_back; /* by loop, by edge given */
	uint32_t *stack, *found; /* nodes */
	uint32_t top, nr_found;

	/* Loops that overlap, of those that were seen last; NO_LOOP: none. */
	uint32_t overlap[2], overlap_task;
};

/* The node of a loop that was found, as seen from outside. */
static uint32_t outermost_of(struct search *s, uint32_t l)
{
	while (s->around[l] != l)
		l = s->around[l] = s->around[s->around[l]];
	return l;
}

static uint32_t node_of(struct search *s, uint32_t task)
{
	uint32_t l = s->p->c->loop_of[task];

	return l == NO_LOOP ? task : s->p->nr_tasks + outermost_of(s, l);
}

/* The task by which a way from a head comes into the node. */
static uint32_t entry_of(const struct search *s, uint32_t node)
{
	uint32_t nr = s->p->nr_tasks;

	return node < nr ? node : s->p->c->loops[node - nr].head;
}

static void add_in(struct search *s, uint32_t node, uint32_t edge)
{
	s->next_in[edge] = s->node[node].in;
	s->node[node].in = edge;
}

static void add_out(struct search *s, uint32_t node, uint32_t edge)
{
	s->next_out[edge] = s->node[node].out;
	s->node[node].out = edge;
}

static void link_edges(struct search *s)
{
	const struct looper *p = s->p;
	const struct control_edge *e = p->c->given.items;
	uint32_t i, l;
	size_t k;

	for (i = 0; i < p->nr_tasks + p->c->nr_loops; i++)
		s->node[i].in = s->node[i].out = NO_EDGE;
	for (i = 0; i < p->nr_edges; i++) {
		add_in(s, p->edge[i].to, i);
		add_out(s, p->edge[i].from, i);
	}
	for (l = 0; l < p->c->nr_loops; l++) {
		s->around[l] = l;
		s->first_back[l] = NO_EDGE;
	}
	for (k = p->c->given.nr; k; k--) {
		if (!(e[k - 1].flags & CONTROL_BACK))
			continue;
		l = p->loop_at[e[k - 1].to];
		s->next_back[k - 1] = s->first_back[l];
		s->first_back[l] = (uint32_t)(k - 1);
	}
}

/* ---- members ------------------------------------------------------------- */

static const struct control_edge *back_edge(const struct search *s, uint32_t k)
{
	return (const struct control_edge *)s->p->c->given.items + k;
}

/* A node before the head is not reached from it. */
static void lead_back(struct search *s, uint32_t l, uint32_t node)
{
	const uint32_t *position = s->p->position;
	uint32_t head = s->p->c->loops[l].head;

	if (s->node[node].leads == l + 1 ||
	    position[entry_of(s, node)] <= position[head])
		return;
	s->node[node].leads = l + 1;
	s->stack[s->top++] = node;
}

/* Backwards from the BACK edges. */
static void find_leads(struct search *s, uint32_t l)
{
	uint32_t k, e;

	for (k = s->first_back[l]; k != NO_EDGE; k = s->next_back[k])
		lead_back(s, l, node_of(s, back_edge(s, k)->from));
	while (s->top) {
		e = s->node[s->stack[--s->top]].in;
		for (; e != NO_EDGE; e = s->next_in[e])
			lead_back(s, l, node_of(s, s->p->edge[e].from));
	}
}

static void add_found(struct search *s, uint32_t l, uint32_t node)
{
	s->node[node].reached = l + 1;
	s->found[s->nr_found++] = node;
}

/* Leads the edge to a loop, and not to its head? */
static bool goes_past(struct search *s, uint32_t edge)
{
	uint32_t to = s->p->edge[edge].to;

	return entry_of(s, node_of(s, to)) != to;
}

/* Forwards from the head, over what leads to a BACK edge. True: there are edges
 * past the head of a loop on the way. */
static bool find_reached(struct search *s, uint32_t l)
{
	bool has_past = false;
	uint32_t i, e, to;

	s->nr_found = 0;
	add_found(s, l, s->p->c->loops[l].head);
	for (i = 0; i < s->nr_found; i++) {
		e = s->node[s->found[i]].out;
		for (; e != NO_EDGE; e = s->next_out[e]) {
			to = node_of(s, s->p->edge[e].to);
			if (s->node[to].leads != l + 1 ||
			    s->node[to].reached == l + 1)
				continue;
			if (goes_past(s, e))
				has_past = true;
			else
				add_found(s, l, to);
		}
	}
	return has_past;
}

/* The loop's node takes over what crosses its border. */
static void move_edges(struct search *s, uint32_t from, uint32_t to)
{
	const struct control_edge *edge = s->p->edge;
	uint32_t e, next;

	for (e = s->node[from].in; e != NO_EDGE; e = next) {
		next = s->next_in[e];
		if (node_of(s, edge[e].from) != to)
			add_in(s, to, e);
	}
	for (e = s->node[from].out; e != NO_EDGE; e = next) {
		next = s->next_out[e];
		if (node_of(s, edge[e].to) != to)
			add_out(s, to, e);
	}
}

static void close_loop(struct search *s, uint32_t l)
{
	struct graph_loop *loops = s->p->c->loops;
	uint32_t i, node, inner;

	loops[l].parent = NO_LOOP;
	for (i = 0; i < s->nr_found; i++) {
		node = s->found[i];
		if (node < s->p->nr_tasks) {
			s->p->c->loop_of[node] = l;
			loops[l].nr_members++;
			continue;
		}
		inner = node - s->p->nr_tasks;
		s->around[inner] = loops[inner].parent = l;
		loops[l].nr_members += loops[inner].nr_members;
	}
	for (i = 0; i < s->nr_found; i++)
		move_edges(s, s->found[i], s->p->nr_tasks + l);
}

/* ---- what is no loop ----------------------------------------------------- */

/* Task by task: is there a way? 0, 1 or -ENOMEM. */
static int leads_to(const struct looper *p, uint32_t from, uint32_t to)
{
	uint32_t *stack = calloc(2 * (size_t)p->nr_tasks + 1, sizeof(*stack));
	uint32_t *seen, top = 0, t = from, i;

	if (!stack)
		return no_memory(p);
	seen = stack + p->nr_tasks;
	for (stack[top++] = from; top && t != to;) {
		t = stack[--top];
		for (i = p->first[t]; i < p->first[t + 1]; i++) {
			if (!seen[p->edge[i].to]++)
				stack[top++] = p->edge[i].to;
		}
	}
	free(stack);
	return t == to;
}

/* The edge leads past a head: on to a BACK edge of loop l? */
static int note_overlap(struct search *s, uint32_t l, uint32_t edge)
{
	uint32_t task = s->p->edge[edge].to, k;
	uint32_t past = node_of(s, task) - s->p->nr_tasks;
	int rc = 0;

	for (k = s->first_back[l]; k != NO_EDGE && !rc; k = s->next_back[k])
		rc = leads_to(s->p, task, back_edge(s, k)->from);
	if (rc <= 0)
		return rc;
	if (s->overlap[0] != NO_LOOP && s->overlap[0] >= past)
		return 0;
	s->overlap[0] = past;
	s->overlap[1] = l;
	s->overlap_task = task;
	return 0;
}

/*
 * A way from the head into a loop that it does not reach: if that leads on to
 * a BACK edge, the loops overlap. If not they wait for each other, as
 * loops_check_waits() will find. 0 or -ENOMEM.
 */
static int find_overlaps(struct search *s, uint32_t l)
{
	uint32_t i, e, to;
	int rc = 0;

	for (i = 0; i < s->nr_found; i++) {
		e = s->node[s->found[i]].out;
		for (; e != NO_EDGE && !rc; e = s->next_out[e]) {
			to = node_of(s, s->p->edge[e].to);
			if (s->node[to].leads == l + 1 &&
			    s->node[to].reached != l + 1)
				rc = note_overlap(s, l, e);
		}
	}
	return rc;
}

static int refuse_overlap(const struct search *s)
{
	const struct looper *p = s->p;
	const struct graph_loop *l = p->c->loops;
	uint32_t a = l[s->overlap[0]].head, b = l[s->overlap[1]].head;

	p->why->path[0] = (int32_t)a;
	p->why->path[1] = (int32_t)b;
	p->why->path[2] = (int32_t)s->overlap_task;
	p->why->nr = 3;
	return err(
		-ELOOP,
		"graph %s: the loops of %s and %s overlap at %s, and neither "
		"lies in the other",
		p->g->name, loops_name(p, a).text, loops_name(p, b).text,
		loops_name(p, s->overlap_task).text);
}

static int check_latches(struct search *s, uint32_t l)
{
	const struct looper *p = s->p;
	uint32_t k, from, head = p->c->loops[l].head;
	int rc;

	for (k = s->first_back[l]; k != NO_EDGE; k = s->next_back[k]) {
		from = back_edge(s, k)->from;
		if (s->node[node_of(s, from)].reached == l + 1)
			continue;
		rc = leads_to(p, head, from);
		if (rc < 0)
			return rc;
		if (rc)
			continue; /* past a head: find_overlaps() has it */
		p->why->path[0] = (int32_t)from;
		p->why->path[1] = (int32_t)head;
		p->why->nr = 2;
		return err(-EINVAL,
			   "graph %s: BACK edge from %s to %s, which does not "
			   "lead there",
			   p->g->name, loops_name(p, from).text,
			   loops_name(p, head).text);
	}
	return 0;
}

static int find_loop(struct search *s, uint32_t l)
{
	int rc = 0;

	check(l < s->p->c->nr_loops);
	find_leads(s, l);
	if (find_reached(s, l))
		rc = find_overlaps(s, l);
	if (!rc)
		rc = check_latches(s, l);
	close_loop(s, l);
	return rc;
}

/* ---- all of it ----------------------------------------------------------- */

/* Kahn 1962; a graph without cycles has an order that all edges follow. */
static void find_positions(struct looper *p, uint32_t *nr_in, uint32_t *stack)
{
	uint32_t top = 0, at = 0, t, i;

	for (i = 0; i < p->nr_edges; i++)
		nr_in[p->edge[i].to]++;
	for (t = 0; t < p->nr_tasks; t++)
		if (!nr_in[t])
			stack[top++] = t;
	while (top) {
		t = stack[--top];
		p->position[t] = at++;
		for (i = p->first[t]; i < p->first[t + 1]; i++)
			if (!--nr_in[p->edge[i].to])
				stack[top++] = p->edge[i].to;
	}
}

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
	p->c->loops = calloc(p->c->given.nr + 1, sizeof(struct graph_loop));
	if (!heads || !p->c->loops) {
		free(heads);
		return no_memory(p);
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

/* Each loop before those in it, and these behind it in a row. next: by loop,
 * where the next one that lies in it goes. */
static void order_loops(struct control *c, uint32_t *next)
{
	struct graph_loop *loops = c->loops, *x;
	uint32_t l, at = 0, *from;

	for (l = 0; l < c->nr_loops; l++) {
		loops[l].nr_inside++;
		if (loops[l].parent != NO_LOOP)
			loops[loops[l].parent].nr_inside += loops[l].nr_inside;
	}
	for (l = c->nr_loops; l; l--) {
		x = &loops[l - 1];
		from = x->parent == NO_LOOP ? &at : &next[x->parent];
		x->order = *from;
		*from += x->nr_inside;
		next[l - 1] = x->order + 1;
	}
}

static int find_all(struct search *s)
{
	struct looper *p = s->p;
	uint32_t l;
	int rc = 0;

	s->overlap[0] = NO_LOOP;
	link_edges(s);
	for (l = 0; l < p->c->nr_loops && !rc; l++)
		rc = find_loop(s, l);
	if (!rc && s->overlap[0] != NO_LOOP)
		rc = refuse_overlap(s);
	if (!rc)
		order_loops(p->c, s->around);
	return rc;
}

static int search_loops(struct looper *p)
{
	size_t nr_loops = p->c->nr_loops, nr = p->nr_tasks + nr_loops;
	size_t nr_words =
		2ul * p->nr_edges + 2 * nr_loops + p->c->given.nr + 2 * nr;
	uint32_t *word = calloc(nr_words + 1, sizeof(*word));
	struct search s = {
		.p = p,
		.node = calloc(nr + 1, sizeof(*s.node)),
	};
	int rc = -ENOMEM;

	if (word && s.node) {
		s.next_in = word;
		s.next_out = s.next_in + p->nr_edges;
		s.around = s.next_out + p->nr_edges;
		s.first_back = s.around + nr_loops;
		s.next_back = s.first_back + nr_loops;
		s.stack = s.next_back + p->c->given.nr;
		s.found = s.stack + nr;
		rc = find_all(&s);
	}
	free(s.node);
	free(word);
	return rc == -ENOMEM ? no_memory(p) : rc;
}

int loops_find(struct looper *p)
{
	uint32_t *work = calloc(2 * (size_t)p->nr_tasks + 1, sizeof(*work));
	uint32_t t;
	int rc;

	p->position = calloc(p->nr_tasks + 1ul, sizeof(uint32_t));
	p->loop_at = calloc(p->nr_tasks + 1ul, sizeof(uint32_t));
	p->c->loop_of = calloc(p->nr_tasks + 1ul, sizeof(uint32_t));
	if (!work || !p->position || !p->loop_at || !p->c->loop_of) {
		free(work);
		return no_memory(p);
	}
	for (t = 0; t < p->nr_tasks; t++)
		p->loop_at[t] = p->c->loop_of[t] = NO_LOOP;
	find_positions(p, work, work + p->nr_tasks);
	free(work);
	rc = number_loops(p);
	return rc ? rc : search_loops(p);
}
