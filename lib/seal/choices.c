/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Arms of choices: a tree, in which each task is as deep as all ways to it go
 * through the same branches. A first pass, in an order that all edges follow,
 * finds the place of each task: the deepest arm that all edges to it come from.
 * A second pass adds up the edges by which arms tell the joins behind them.
 * Both passes are linear in the edges, times the depth, which is bounded.
 */
#include "seal/choices.h"

#include "base/err.h"
#include "graph/access.h"
#include "graph/port.h"
#include "seal/chooser.h"
#include "task/kind.h"

#include <errno.h>
#include <stdlib.h>

/* ---- edges --------------------------------------------------------------- */

/* It leads to a task of this iteration. */
static bool leads_on(const struct edges *e, uint32_t i)
{
	return !e->out || !(e->out[i].flags & (CONTROL_BACK | CONTROL_EXIT));
}

static uint32_t target_of(const struct edges *e, uint32_t i)
{
	return e->out ? e->out[i].to : e->succ[i];
}

static bool has_branch(const struct edges *e, uint32_t i)
{
	return leads_on(e, i) && e->out && e->out[i].flags & CONTROL_BRANCH;
}

/* ---- tasks that are in no arm -------------------------------------------- */

/* Its bytes, or its order, are the business of others, too. */
static void mark_users(struct chooser *p)
{
	const struct access_table *w = p->g->accesses;
	const struct access_use *u = w ? w->uses.items : NULL;
	size_t i;

	for (i = 0; w && i < w->uses.nr; i++)
		p->is_alone[graph_index(p->g, u[i].task)] = true;
}

/* All tasks of a loop are passed over with it, and it tells its exits. */
static void mark_loops(struct chooser *p)
{
	uint32_t i;

	for (i = 0; i < p->c->nr_loops; i++)
		p->is_alone[p->c->loops[i].head] = true;
	for (i = 0; i < p->c->nr_exits; i++)
		if (!(p->c->exits[i].flags & CONTROL_BACK))
			p->is_alone[p->c->exits[i].to] = true;
}

/*
 * Whether the task, which is not chosen, has to be looked at: it uses data,
 * begins a loop or follows one, has a token to pass, or an edge from it or to
 * it carries a value or an order of data.
 */
static void mark_alone(struct chooser *p)
{
	uint32_t t, i, index;
	const struct rec *r;
	struct edges e;

	mark_users(p);
	mark_loops(p);
	for (t = 0; t < p->g->nr_tasks; t++) {
		index = graph_index(p->g, t);
		r = &p->g->recs[index];
		if (r->flags & REC_TOKEN && !(r->flags & REC_MEMBER))
			p->is_alone[index] = true;
		e = chooser_edges(p, index);
		for (i = 0; i < e.nr; i++) {
			if (leads_on(&e, i))
				p->left[target_of(&e, i)]++;
			if (!e.out ||
			    !(e.out[i].flags & (CONTROL_PORT | CONTROL_DATA)))
				continue;
			p->is_alone[index] = true;
			if (leads_on(&e, i) && e.out[i].flags & CONTROL_DATA)
				p->is_alone[e.out[i].to] = true;
		}
	}
}

/* ---- the tree ------------------------------------------------------------ */

static uint32_t common_arm(const struct chooser *p, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (p->arms[a].depth >= p->arms[b].depth)
			a = p->arms[a].parent;
		else
			b = p->arms[b].parent;
	}
	return a;
}

/* A task with one branch tells its edge as fast as it would pass over an arm.
 */
static bool has_arms(const struct chooser *p, uint32_t index,
		     const struct edges *e)
{
	uint32_t i, nr = 0;

	for (i = 0; i < e->nr; i++)
		nr += has_branch(e, i);
	return nr > 1 && p->arms[p->arm_of[index]].depth < ARM_DEPTH;
}

/* The arm of the task's edge i: the one made last, or a new one. */
static uint32_t make_arm(struct chooser *p, uint32_t index,
			 const struct edges *e, uint32_t i)
{
	uint32_t parent = p->arm_of[index], at;
	struct choice_arm *a;

	at = (uint32_t)(e->out + i - p->c->out);
	a = &p->arms[p->nr_arms - 1].sum;
	if (p->first_arm[index] == NO_ARM || a->branch != e->out[i].branch) {
		if (p->first_arm[index] == NO_ARM)
			p->first_arm[index] = p->nr_arms;
		p->arms[p->nr_arms].parent = parent;
		p->arms[p->nr_arms].task = index;
		p->arms[p->nr_arms].depth = p->arms[parent].depth + 1;
		a = &p->arms[p->nr_arms++].sum;
		a->branch = e->out[i].branch;
		a->first_edge = at;
	}
	a->nr_edges = at - a->first_edge + 1;
	return p->nr_arms - 1;
}

/* Its edges are all known. */
static uint32_t place_task(struct chooser *p, uint32_t index, uint32_t nr)
{
	uint32_t i, to, arm, *of = &p->arm_of[index];
	struct edges e = chooser_edges(p, index);
	bool makes_arms;

	if (*of == UNSEEN || p->is_alone[index])
		*of = NO_ARM;
	makes_arms = has_arms(p, index, &e);
	for (i = 0; i < e.nr; i++) {
		if (!leads_on(&e, i))
			continue;
		arm = makes_arms && has_branch(&e, i)
			      ? make_arm(p, index, &e, i)
			      : *of;
		to = target_of(&e, i);
		p->arm_of[to] = p->arm_of[to] == UNSEEN
					? arm
					: common_arm(p, p->arm_of[to], arm);
		if (!--p->left[to])
			p->list[nr++] = to;
	}
	return nr;
}

/* Kahn 1962. */
static void place_tasks(struct chooser *p)
{
	uint32_t t, at, nr = 0, index;

	for (t = 0; t < p->g->nr_tasks; t++) {
		index = graph_index(p->g, t);
		p->arm_of[index] = UNSEEN;
		if (!p->left[index])
			p->list[nr++] = index;
	}
	for (at = 0; at < nr; at++)
		nr = place_task(p, p->list[at], nr);
	check(nr == p->g->nr_tasks);
}

/* ---- sums ---------------------------------------------------------------- */

/* An edge from this arm, and arms around it, to a task outside of them. */
static void add_pairs(struct chooser *p, uint32_t arm, uint32_t to,
		      bool is_strong)
{
	for (; arm != p->arm_of[to]; arm = p->arms[arm].parent) {
		if (p->nr_pairs == p->max_pairs) {
			p->is_full = true;
			return;
		}
		p->pair[p->nr_pairs++] = (struct pair){
			.arm = arm,
			.to = to,
			.is_strong = is_strong,
		};
	}
}

static void count_task(struct chooser *p, uint32_t index)
{
	bool counts = !p->g->recs[index].kind->is_ours;
	uint32_t arm = p->arm_of[index];

	for (; arm != NO_ARM; arm = p->arms[arm].parent) {
		p->arms[arm].sum.nr_tasks++;
		p->arms[arm].sum.nr_counted += counts;
	}
}

static void count_back(struct chooser *p, uint32_t index)
{
	uint32_t arm = p->arm_of[index];

	for (; arm != NO_ARM; arm = p->arms[arm].parent)
		p->arms[arm].sum.nr_backs++;
}

/* An edge with a value that leaves its arm is told by itself. */
static bool is_other(const struct chooser *p, const struct control_edge *e,
		     uint32_t arm)
{
	return e->flags & CONTROL_DATA ||
	       (e->flags & CONTROL_PORT && p->arm_of[e->to] != arm);
}

static void sum_branch(struct chooser *p, struct control_edge *e, uint32_t arm)
{
	if (is_other(p, e, arm))
		return;
	e->flags |= CONTROL_ARM;
	add_pairs(p, arm, e->to, !(e->flags & CONTROL_COUNTS));
}

static void sum_task(struct chooser *p, uint32_t index)
{
	uint32_t i, arm = p->first_arm[index];
	struct edges e = chooser_edges(p, index);

	count_task(p, index);
	for (i = 0; i < e.nr; i++) {
		if (!leads_on(&e, i)) {
			if (!(e.out[i].flags & CONTROL_EXIT))
				count_back(p, index);
		} else if (arm != NO_ARM && has_branch(&e, i)) {
			while (p->arms[arm].sum.branch != e.out[i].branch)
				arm++;
			sum_branch(p, &e.out[i], arm);
		} else {
			add_pairs(p, p->arm_of[index], target_of(&e, i),
				  !e.out || !(e.out[i].flags & CONTROL_COUNTS));
		}
	}
}

/* ---- all of it ----------------------------------------------------------- */

static int make_all(struct chooser *p)
{
	uint32_t i;

	mark_alone(p);
	place_tasks(p);
	for (i = 0; i < p->g->nr_tasks; i++)
		sum_task(p, p->list[i]);
	return chooser_fill(p);
}

static bool alloc_all(struct chooser *p)
{
	size_t nr = p->g->nr_recs + 1ul;

	p->max_pairs = p->g->nr_tasks *
		       (CHOICE_BYTES / (uint32_t)sizeof(struct choice_join));
	p->arm_of = calloc(6 * nr, sizeof(*p->arm_of));
	p->is_alone = calloc(nr, sizeof(*p->is_alone));
	p->arms = calloc(p->nr_branches + 2ul, sizeof(*p->arms));
	p->pair = calloc(2ul * p->max_pairs, sizeof(*p->pair));
	if (!p->arm_of || !p->is_alone || !p->arms || !p->pair)
		return false;
	p->left = p->arm_of + nr;
	p->first_arm = p->left + nr;
	p->seen = p->first_arm + nr;
	p->place = p->seen + nr;
	p->list = p->place + nr;
	p->sorted = p->pair + p->max_pairs;
	p->nr_arms = 1;
	return true;
}

static uint32_t count_branches(const struct control *c)
{
	uint32_t i, nr = 0;

	for (i = 0; i < c->nr_out; i++)
		nr += c->out[i].flags & CONTROL_BRANCH &&
		      !(c->out[i].flags & (CONTROL_BACK | CONTROL_EXIT));
	return nr;
}

int choices_make(struct lkdf_graph *g)
{
	struct chooser p = { .g = g, .c = g->control };
	int rc = -ENOMEM;

	check(!g->is_sealed);
	p.nr_branches = count_branches(p.c);
	/* Ports with a drop, or for the next call, look at each task. */
	if (!p.nr_branches || (g->ports && g->ports->has_hooks))
		return 0;
	if (alloc_all(&p))
		rc = make_all(&p);
	free(p.arm_of);
	free(p.is_alone);
	free(p.arms);
	free(p.pair);
	return rc ? err(rc, "graph %s: no memory for choices", g->name) : 0;
}
