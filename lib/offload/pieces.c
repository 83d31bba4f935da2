/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/pieces.h"

#include "device/piece.h"
#include "mem/region.h"

#include <string.h>

#define WORDS 4
#define MAX_HEADS (64 * WORDS)
#define NONE UINT32_MAX

/*
 * The tasks that a kernel waits for and that are no such kernels, as the set of
 * the kernels right behind them, its heads. Kernels of one class have one set.
 */
struct class
{
	uint64_t set[WORDS];
	bool is_alone; /* its set is not known: no two such classes are one */
};

struct cutter {
	const struct lkdf_graph *g;
	uint32_t nr; /* records */
	uint32_t *order; /* none before what it waits for */
	uint32_t *nr_in; /* arrivals to come */
	uint32_t *above; /* by index: its class so far */
	uint32_t *joined; /* by index: another one that it hangs together with,
			   * or itself */
	uint32_t *place; /* by index: of these the number of the piece */
	uint32_t *nr_of; /* by index of one that stands for all: how many */
	bool *is_behind; /* by index: a task that is no such kernel */
	bool *is_mixed; /* by index: kernels of several classes */
	struct class *class;
	uint32_t nr_classes, nr_heads;
	uint32_t *by_set; /* a hash of classes */
};

static bool goes_together(const struct rec *r)
{
	return r->flags & (REC_LEADS | REC_FOLLOWS) && r->kind->kernel;
}

/* ---- classes ------------------------------------------------------------ */

static uint32_t add_class(struct cutter *c, const struct class *like)
{
	c->class[c->nr_classes] = *like;
	return c->nr_classes++;
}

static uint32_t hash_set(const struct cutter *c, const uint64_t *set)
{
	uint64_t h = 0;
	unsigned i;

	for (i = 0; i < WORDS; i++)
		h = (h ^ set[i]) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32) % (2 * c->nr);
}

/* The class with that set. */
static uint32_t find_class(struct cutter *c, const struct class *like)
{
	uint32_t at = hash_set(c, like->set);

	if (like->is_alone)
		return add_class(c, like);
	for (; c->by_set[at]; at = (at + 1) % (2 * c->nr))
		if (!memcmp(c->class[c->by_set[at] - 1].set, like->set,
			    sizeof(like->set)))
			return c->by_set[at] - 1;
	c->by_set[at] = c->nr_classes + 1;
	return add_class(c, like);
}

/* All kernels before it are done with: their sets are in its own. */
static void settle_class(struct cutter *c, uint32_t t, struct class *own)
{
	if (c->is_behind[t]) {
		if (c->nr_heads == MAX_HEADS)
			own->is_alone = true;
		else
			own->set[c->nr_heads / 64] |= (uint64_t)1
						      << c->nr_heads % 64;
		c->nr_heads += c->nr_heads < MAX_HEADS;
	} else if (c->above[t] != NONE && !c->is_mixed[t]) {
		return;
	}
	c->above[t] = find_class(c, own);
}

static void pass_class(struct cutter *c, struct class *sets, uint32_t from,
		       uint32_t to)
{
	unsigned i;

	c->is_mixed[to] |=
		c->above[to] != NONE && c->above[to] != c->above[from];
	c->above[to] = c->above[from];
	for (i = 0; i < WORDS; i++)
		sets[to].set[i] |= c->class[c->above[from]].set[i];
	sets[to].is_alone |= c->class[c->above[from]].is_alone;
}

/* Kahn 1962, breadth first; false: not all are reached. */
static bool sort_records(struct cutter *c, struct class *sets)
{
	const struct lkdf_graph *g = c->g;
	uint32_t done, nr = 0, i, n, t;
	const uint32_t *succ;

	for (t = 0; t < c->nr; t++) {
		succ = graph_succ(g, &g->recs[t], &n);
		for (i = 0; i < n; i++)
			c->nr_in[succ[i]]++;
	}
	for (t = 0; t < c->nr; t++)
		if (!c->nr_in[t])
			c->order[nr++] = t;
	for (done = 0; done < nr; done++) {
		t = c->order[done];
		if (goes_together(&g->recs[t]))
			settle_class(c, t, &sets[t]);
		succ = graph_succ(g, &g->recs[t], &n);
		for (i = 0; i < n; i++) {
			if (pieces_join(&g->recs[t], &g->recs[succ[i]]))
				pass_class(c, sets, t, succ[i]);
			else
				c->is_behind[succ[i]] = true;
			if (!--c->nr_in[succ[i]])
				c->order[nr++] = succ[i];
		}
	}
	return nr == c->nr;
}

/* ---- what hangs together ------------------------------------------------ */

static uint32_t find_joined(struct cutter *c, uint32_t t)
{
	while (c->joined[t] != t)
		t = c->joined[t] = c->joined[c->joined[t]];
	return t;
}

static void join_all(struct cutter *c)
{
	const struct lkdf_graph *g = c->g;
	uint32_t t, i, n;
	const uint32_t *succ;

	for (t = 0; t < c->nr; t++)
		c->joined[t] = t;
	for (t = 0; t < c->nr; t++) {
		succ = graph_succ(g, &g->recs[t], &n);
		for (i = 0; i < n; i++)
			if (pieces_join(&g->recs[t], &g->recs[succ[i]]) &&
			    c->above[t] == c->above[succ[i]])
				c->joined[find_joined(c, succ[i])] =
					find_joined(c, t);
	}
	for (t = 0; t < c->nr; t++)
		c->nr_of[find_joined(c, t)]++;
}

/* Pieces of one length each, from what hangs together. Their number. */
static uint32_t number_pieces(struct cutter *c, uint32_t *nr_members)
{
	uint32_t *taken = c->nr_in, nr = 0, i, t, all, cuts, each, first;

	/* nr_in is all 0 now; above: the piece that is being filled. */
	for (i = 0; i < c->nr; i++) {
		t = c->order[i];
		first = find_joined(c, t);
		all = c->nr_of[first];
		if (all < 2)
			continue;
		cuts = (all + PIECE_MOST - 1) / PIECE_MOST;
		each = (all + cuts - 1) / cuts;
		if (taken[first]++ % each == 0)
			c->above[first] = nr++;
		c->place[t] = c->above[first] + 1;
		(*nr_members)++;
	}
	return nr;
}

/* ---- the pieces --------------------------------------------------------- */

static struct pieces *lay_out(struct lkdf_graph *g, uint32_t nr,
			      uint32_t nr_members)
{
	size_t size = sizeof(struct pieces) + nr * sizeof(struct piece) +
		      nr_members * sizeof(struct member) +
		      g->nr_recs * sizeof(uint32_t);
	struct pieces *p = region_alloc(size);

	if (!p)
		return NULL;
	memset((void *)p, 0, size);
	p->nr = nr;
	p->nr_members = nr_members;
	p->piece = (struct piece *)(p + 1);
	p->member = (struct member *)(p->piece + nr);
	p->of = (uint32_t *)(p->member + nr_members);
	g->pieces = p;
	g->pieces_size = size;
	return p;
}

static void add_members(const struct cutter *c, struct pieces *p)
{
	uint32_t i, t, sum = 0;
	struct piece *x;

	memcpy(p->of, c->place, c->nr * sizeof(*p->of));
	for (t = 0; t < c->nr; t++)
		if (p->of[t])
			p->piece[p->of[t] - 1].nr++;
	for (x = p->piece; x < p->piece + p->nr; x++) {
		x->first = sum;
		sum += x->nr;
		x->nr = 0;
	}
	for (i = 0; i < c->nr; i++) {
		t = c->order[i];
		if (!p->of[t])
			continue;
		x = &p->piece[p->of[t] - 1];
		c->nr_in[t] = x->first + x->nr++; /* its place */
		p->member[c->nr_in[t]] =
			(struct member){ t, MEMBER_ENTERS | MEMBER_COMES };
	}
}

/* An edge: nr_in has the places of members. */
static void note_edge(const struct cutter *c, struct pieces *p, uint32_t from,
		      uint32_t to)
{
	bool joins = pieces_join(&c->g->recs[from], &c->g->recs[to]);
	struct member *m = p->of[to] ? &p->member[c->nr_in[to]] : NULL;

	if (!joins && p->of[from])
		p->member[c->nr_in[from]].flags |= MEMBER_TELLS;
	if (!joins || !m)
		return;
	if (!c->is_behind[to])
		m->flags &= ~(uint32_t)MEMBER_COMES;
	if (p->of[from] == p->of[to])
		m->flags &= ~(uint32_t)MEMBER_ENTERS;
	else
		p->piece[p->of[to] - 1].nr_edges++;
}

static void note_edges(const struct cutter *c, struct pieces *p)
{
	const struct lkdf_graph *g = c->g;
	uint32_t t, i, n;
	const uint32_t *succ;

	for (t = 0; t < c->nr; t++) {
		succ = graph_succ(g, &g->recs[t], &n);
		for (i = 0; i < n; i++)
			note_edge(c, p, t, succ[i]);
	}
	for (i = 0; i < p->nr_members; i++)
		if (p->member[i].flags & MEMBER_ENTERS)
			p->piece[p->of[p->member[i].index] - 1].nr_entering++;
}

/* Tasks of the pieces ask whether they were given, whatever they wait for. */
static void mark_members(struct lkdf_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->pieces->nr_members; i++)
		g->recs[g->pieces->member[i].index].flags |= REC_FOLLOWS;
}

static void cut_graph(struct cutter *c, struct lkdf_graph *g,
		      struct class *sets)
{
	uint32_t nr, nr_members = 0;

	memset(c->above, 0xff, c->nr * sizeof(*c->above));
	if (!sort_records(c, sets))
		return;
	join_all(c);
	nr = number_pieces(c, &nr_members);
	if (!nr || !lay_out(g, nr, nr_members))
		return;
	add_members(c, g->pieces);
	note_edges(c, g->pieces);
	mark_members(g);
}

/* Takes from the block, which is zeroed. */
static void *take_array(char **at, size_t size)
{
	void *p = *at;

	*at += (size + 15) & ~(size_t)15;
	return p;
}

void pieces_make(struct lkdf_graph *g)
{
	struct cutter c = { .g = g, .nr = g->nr_recs };
	size_t n = g->nr_recs, words = n * sizeof(uint32_t);
	size_t classes = n * sizeof(struct class);
	size_t size = 8 * (words + 16) + 2 * (n + 16) + 2 * (classes + 16);
	char *block = region_alloc(size), *at = block;
	struct class *sets;

	if (!block)
		return;
	memset(block, 0, size);
	sets = take_array(&at, classes);
	c.class = take_array(&at, classes);
	c.order = take_array(&at, words);
	c.nr_in = take_array(&at, words);
	c.above = take_array(&at, words);
	c.joined = take_array(&at, words);
	c.place = take_array(&at, words);
	c.nr_of = take_array(&at, words);
	c.by_set = take_array(&at, 2 * words);
	c.is_behind = take_array(&at, n);
	c.is_mixed = take_array(&at, n);
	cut_graph(&c, g, sets);
	region_free(block, size);
}
