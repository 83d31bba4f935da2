/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random tasks with uses: roots of trees whose children are covered by what
 * their parents use, and the tasks of graphs.
 */
#include "tests/oracle/data_program.h"

#include <lkdf/data.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 3
#define MAX_BELOW 24u

static uint32_t new_node(struct d_program *p, struct rng *r)
{
	struct d_task *t = &p->node[p->nr_nodes];

	if (p->nr_nodes == D_NODES)
		abort();
	memset(t, 0, sizeof(*t));
	t->prio = rng_one_in(r, 6) ? (uint8_t)rng_range(r, 1, 4) : 0;
	t->error = D_NO_ERROR;
	if (p->has_errors && rng_one_in(r, 10))
		t->error = (uint8_t)rng_range(r, 0, 7);
	t->swallows = rng_one_in(r, 2);
	return p->nr_nodes++;
}

static bool overlaps(const struct d_use *a, const struct d_use *b)
{
	return a->var == b->var && (!a->part || !b->part || a->part == b->part);
}

/* One that another use of the task already stands for, wholly or partly. */
static bool is_twice(const struct d_task *t, const struct d_use *u)
{
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++) {
		if (overlaps(&t->use[i], u))
			return true;
	}
	return false;
}

static bool is_special(uint8_t mode)
{
	return mode & (LKDF_WEAK | LKDF_MAYBE | LKDF_REDUCE);
}

/* Two uses of one thing: not with REDUCE, WEAK or MAYBE, nor given on. */
static void add_use(struct d_task *t, const struct d_use *u)
{
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++) {
		if (t->use[i].var == u->var &&
		    (is_special(t->use[i].mode) || is_special(u->mode) ||
		     t->kind & D_ALWAYS || t->use[i].ends || u->ends))
			return;
	}
	t->use[t->nr_uses++] = *u;
}

static uint8_t some_part(const struct d_program *p, struct rng *r, uint8_t var)
{
	uint8_t nr = p->var[var].nr_parts;

	return nr && !rng_one_in(r, 3) ? (uint8_t)rng_range(r, 1, nr) : 0;
}

static uint8_t some_mode(struct rng *r)
{
	static const uint8_t mode[] = {
		LKDF_READ,    LKDF_READ,   LKDF_READ,	LKDF_WRITE,
		LKDF_WRITE,   LKDF_RW,	   LKDF_RW,	LKDF_COMMUTE,
		LKDF_COMMUTE, LKDF_REDUCE, LKDF_REDUCE,
	};

	return mode[rng_range(r, 0, sizeof(mode) - 1)];
}

/* What it reads and has an error is nothing to compute with. */
static uint8_t always_mode(struct rng *r)
{
	return rng_one_in(r, 2) ? LKDF_READ : LKDF_WRITE;
}

/* ---- below a task ------------------------------------------------------- */

/* What was there before is nobody's to read. */
static bool is_weak_write(uint8_t mode)
{
	return mode == (LKDF_WRITE | LKDF_WEAK);
}

/* What a child may do where its parent may do that. */
static uint8_t covered_mode(struct rng *r, uint8_t mode)
{
	if (mode & (LKDF_REDUCE | LKDF_COMMUTE))
		return mode & (LKDF_REDUCE | LKDF_COMMUTE);
	if (!(mode & LKDF_WRITE))
		return LKDF_READ;
	if (is_weak_write(mode))
		return LKDF_WRITE;
	return some_mode(r);
}

static void cover(struct d_program *p, struct rng *r, struct d_task *t,
		  const struct d_use *above)
{
	struct d_use u = { .var = above->var, .part = above->part };

	if (!u.part)
		u.part = some_part(p, r, u.var);
	u.mode = covered_mode(r, above->mode);
	add_use(t, &u);
}

/* Has it a use of the same that its parent's other use is not? */
static bool is_mixed(const struct d_task *t, uint8_t var)
{
	uint32_t i, nr = 0;

	for (i = 0; i < t->nr_uses; i++)
		nr += t->use[i].var == var;
	return nr > 1;
}

static void make_weak(struct rng *r, struct d_task *t)
{
	struct d_use *u;
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++) {
		u = &t->use[i];
		if (u->mode <= LKDF_RW && rng_one_in(r, 2) &&
		    !is_mixed(t, u->var))
			u->mode |= LKDF_WEAK;
	}
}

static bool has_weak(const struct d_task *t)
{
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++) {
		if (t->use[i].mode & LKDF_WEAK)
			return true;
	}
	return false;
}

static void make_below(struct d_program *p, struct rng *r, uint32_t node,
		       uint32_t depth);

static void make_child(struct d_program *p, struct rng *r, uint32_t node,
		       uint32_t depth)
{
	const struct d_task *above = &p->node[node];
	struct d_task *t = &p->node[new_node(p, r)];
	const struct d_use *u;
	uint32_t i;

	for (i = 0; i < above->nr_uses; i++) {
		u = &above->use[i];
		/* Somebody must write what its parent says it writes. */
		if (p->nr_nodes == above->below + 1 && is_weak_write(u->mode))
			add_use(t, &(struct d_use){ .var = u->var,
						    .part = u->part,
						    .mode = LKDF_WRITE });
		else if (!rng_one_in(r, 3) && !(u->mode & LKDF_MAYBE))
			cover(p, r, t, u);
	}
	make_below(p, r, (uint32_t)(t - p->node), depth + 1);
}

static void make_below(struct d_program *p, struct rng *r, uint32_t node,
		       uint32_t depth)
{
	struct d_task *t = &p->node[node];
	uint32_t nr = 0, first = p->nr_nodes;

	if (depth < MAX_DEPTH && t->nr_uses && rng_one_in(r, depth ? 3 : 2))
		nr = rng_range(r, 1, 5);
	if (nr && rng_one_in(r, 3))
		make_weak(r, t);
	if (nr || rng_one_in(r, 8))
		t->wait = (uint8_t)rng_range(r, D_PLAIN, D_THEN);
	if (t->wait == D_JOIN && has_weak(t))
		t->wait = D_THEN;
	t->below = first;
	while (nr-- && p->nr_nodes - first < MAX_BELOW >> depth)
		make_child(p, r, node, depth);
	t->nr_below = p->nr_nodes - first;
}

/* ---- roots -------------------------------------------------------------- */

static uint8_t some_var(const struct d_program *p, struct rng *r)
{
	uint8_t var = (uint8_t)rng_range(r, 0, p->nr_vars - 1);

	/* The first is for all. */
	return p->var[var].is_once ? 0 : var;
}

static void some_use(const struct d_program *p, struct rng *r, struct d_task *t)
{
	struct d_use u = { .var = some_var(p, r) };

	u.part = some_part(p, r, u.var);
	u.mode = some_mode(r);
	if (t->kind & D_ALWAYS) {
		u.mode = always_mode(r);
	} else if (!is_twice(t, &u)) {
		if (u.mode == LKDF_RW && rng_one_in(r, 3))
			u.mode |= LKDF_MAYBE;
		if (!p->has_children || !p->has_errors)
			u.ends = rng_one_in(r, 10);
		u.is_untouched = u.mode & LKDF_MAYBE && rng_one_in(r, 2);
		u.ends |= u.is_untouched;
	}
	add_use(t, &u);
}

void d_make_tree(struct d_program *p, struct rng *r)
{
	uint32_t node = new_node(p, r), nr = rng_range(r, 0, D_USES);
	struct d_task *t = &p->node[node];

	if (rng_one_in(r, 12))
		t->kind |= D_BLOCKING;
	if (p->has_errors && rng_one_in(r, 8))
		t->kind |= D_ALWAYS;
	if (rng_one_in(r, 2))
		t->kind |= D_SHARED;
	while (nr--)
		some_use(p, r, t);
	if (p->has_children && !(t->kind & D_ALWAYS))
		make_below(p, r, node, 0);
}

void d_make_strong(struct d_program *p, struct rng *r, uint8_t var)
{
	struct d_use u = { .var = var, .mode = LKDF_READ };
	struct d_task *t = &p->node[new_node(p, r)];

	u.part = some_part(p, r, var);
	if (rng_one_in(r, 4))
		t->kind |= D_ALWAYS;
	if (t->kind & D_ALWAYS || rng_one_in(r, 2))
		u.mode = rng_one_in(r, 2) ? LKDF_WRITE : LKDF_READ;
	else
		u.mode = LKDF_RW;
	add_use(t, &u);
}

/* ---- graphs ------------------------------------------------------------- */

/* In programs with errors each of them uses the whole or the parts. */
static uint8_t graph_part(const struct d_program *p, struct rng *r, uint8_t var,
			  uint32_t by_parts)
{
	if (!p->has_errors)
		return some_part(p, r, var);
	if (!p->var[var].nr_parts || !(by_parts & 1u << var))
		return 0;
	return (uint8_t)rng_range(r, 1, p->var[var].nr_parts);
}

static void use_once(const struct d_program *p, struct rng *r,
		     const struct d_graph *g, struct d_task *t,
		     uint32_t *produced)
{
	struct d_use u = { .mode = LKDF_READ };
	uint32_t var;

	for (var = 1; var < p->nr_vars && t->nr_uses < D_USES; var++) {
		u.var = (uint8_t)var;
		if (!p->var[var].is_once || !rng_one_in(r, 3) ||
		    g != &p->graph[p->var[var].graph])
			continue;
		u.mode = *produced & 1u << var ? LKDF_READ : LKDF_WRITE;
		*produced |= 1u << var;
		add_use(t, &u);
	}
}

/* After others that come before it. */
static void make_orders(const struct d_program *p, struct rng *r,
			const struct d_graph *g, struct d_task *t)
{
	uint32_t nr_before = (uint32_t)(t - p->node) - g->first;

	while (nr_before && t->nr_orders < D_ORDERS && rng_one_in(r, 4))
		t->order[t->nr_orders++] =
			(uint8_t)rng_range(r, 0, nr_before - 1);
}

/* It may be left as it was, by tasks that run always in any case. */
static void make_maybe(struct rng *r, const struct d_task *t, struct d_use *u)
{
	bool always = t->kind & D_ALWAYS;

	u->ends = u->is_untouched = false;
	if ((!always && u->mode != LKDF_RW) || is_twice(t, u) ||
	    !rng_one_in(r, 3))
		return;
	u->mode = LKDF_RW | LKDF_MAYBE;
	u->ends = u->is_untouched = always || rng_one_in(r, 2);
}

static void make_task(struct d_program *p, struct rng *r, struct d_graph *g,
		      uint32_t by_parts, uint32_t *produced)
{
	uint32_t nr = rng_range(r, 0, D_USES);
	struct d_task *t = &p->node[new_node(p, r)];
	struct d_use u = { 0 };

	if (rng_one_in(r, 2))
		t->kind |= D_SHARED;
	if (rng_one_in(r, 16))
		t->kind |= D_BLOCKING;
	if (p->has_errors && rng_one_in(r, 6))
		t->kind |= D_ALWAYS;
	use_once(p, r, g, t, produced);
	if (rng_one_in(r, 4))
		nr = 0;
	while (nr-- && t->nr_uses < D_USES) {
		u.var = some_var(p, r);
		u.part = graph_part(p, r, u.var, by_parts);
		u.mode = t->kind & D_ALWAYS ? always_mode(r) : some_mode(r);
		make_maybe(r, t, &u);
		add_use(t, &u);
	}
	make_orders(p, r, g, t);
	t->fail_op = D_ANY_OP;
	if (!rng_one_in(r, 4))
		t->fail_op = (uint8_t)rng_range(r, 0, p->nr_ops - 1);
	t->fail_rep = (uint8_t)rng_range(r, 0, 1);
}

/* Only variables of one producer: it may be added anywhere. */
static bool is_movable(const struct d_program *p, const struct d_task *t)
{
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++) {
		if (!p->var[t->use[i].var].is_once)
			return false;
	}
	return true;
}

static void order_adding(const struct d_program *p, struct rng *r,
			 struct d_graph *g)
{
	uint32_t i, to;
	uint8_t task;

	g->add = malloc(g->nr + 1);
	if (!g->add)
		abort();
	for (i = 0; i < g->nr; i++)
		g->add[i] = (uint8_t)i;
	for (i = 0; i < g->nr; i++) {
		task = g->add[i];
		if (!is_movable(p, &p->node[g->first + task]))
			continue;
		to = rng_range(r, 0, i);
		memmove(&g->add[to + 1], &g->add[to], i - to);
		g->add[to] = task;
	}
}

void d_make_graphs(struct d_program *p, struct rng *r)
{
	uint32_t i, j, by_parts, produced, var;
	struct d_graph *g;

	for (i = 0; i < p->nr_graphs; i++) {
		g = &p->graph[i];
		g->first = p->nr_nodes;
		g->inflight = rng_one_in(r, 2) ? 1 : 3;
		g->is_recorded = rng_one_in(r, 3);
		by_parts = rng_range(r, 0, 255);
		produced = 0;
		for (var = 0; var < p->nr_vars; var++) {
			if (p->var[var].is_once && p->var[var].start)
				produced |= 1u << var;
		}
		g->nr = rng_range(r, 1, rng_one_in(r, 4) ? 40 : 12);
		for (j = 0; j < g->nr; j++)
			make_task(p, r, g, by_parts, &produced);
		order_adding(p, r, g);
	}
}
