/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/data_device.h"

static bool is_plain(const struct d_use *u)
{
	return !(u->mode & ~(LKDF_RW | LKDF_COMMUTE)) && !u->ends &&
	       !u->is_untouched;
}

/*
 * Whose bytes may not be there, if those who were to write it first have
 * failed: a body is given NULL then, a kernel is refused.
 */
static bool may_lack_bytes(const struct d_program *p, const struct d_task *t)
{
	const struct d_var *v;
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++) {
		v = &p->var[t->use[i].var];
		if (v->is_once || v->start == D_EMPTY)
			return true;
	}
	return false;
}

/* OpenCL has no address for it. */
static bool uses_part_of_whole(const struct d_task *t)
{
	uint32_t i, j;

	for (i = 0; i < t->nr_uses; i++)
		for (j = 0; j < t->nr_uses; j++)
			if (t->use[i].var == t->use[j].var && !t->use[i].part &&
			    t->use[j].part > 1)
				return true;
	return false;
}

static bool may_be_kernel(const struct d_program *p, const struct d_task *t)
{
	uint32_t i;

	if (p->devices == D_OPENCL && uses_part_of_whole(t))
		return false;
	if (t->nr_below || t->wait != D_PLAIN || t->kind & D_BLOCKING ||
	    (t->kind & D_ALWAYS && may_lack_bytes(p, t)))
		return false;
	for (i = 0; i < t->nr_uses; i++)
		if (!is_plain(&t->use[i]))
			return false;
	return true;
}

/* A text has no way to fail, and nobody sees what it has read but wrote not. */
static bool may_be_text(const struct d_task *t)
{
	bool writes = false;
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++)
		writes |= (t->use[i].mode & (LKDF_WRITE | LKDF_COMMUTE)) != 0;
	return writes && t->error == D_NO_ERROR;
}

/* A function of a device is the same in all runs of a graph. */
static bool may_be_code(const struct d_program *p, const struct d_task *t,
			bool is_of_graph)
{
	if (p->devices == D_OPENCL && !may_be_text(t))
		return false;
	if (!is_of_graph)
		return true;
	return !(t->kind & D_ALWAYS) &&
	       (t->error == D_NO_ERROR || t->fail_op == D_ANY_OP);
}

/* Of what a failed kernel has written its parent may see all or nothing. */
static void keep_failing(const struct d_program *p, bool *stays)
{
	const struct d_task *t;
	uint32_t i, j;

	for (i = 0; i < p->nr_nodes; i++) {
		t = &p->node[i];
		for (j = t->below; j < t->below + t->nr_below; j++)
			stays[j] |= p->node[j].error != D_NO_ERROR;
	}
}

/* ---- graphs that can have a static order -------------------------------- */

static bool is_simple(const struct d_program *p, const struct d_graph *g)
{
	uint32_t i, j;

	for (i = g->first; i < g->first + g->nr; i++) {
		if (p->node[i].nr_below || p->node[i].kind & D_ALWAYS)
			return false;
		for (j = 0; j < p->node[i].nr_uses; j++)
			if (p->var[p->node[i].use[j].var].is_once ||
			    p->node[i].use[j].mode & LKDF_MAYBE)
				return false;
	}
	return true;
}

/* A run of another one that is simple, too, may as well be one of it. */
static void run_often(struct d_program *p, uint8_t graph, const bool *simple)
{
	uint32_t i;

	for (i = 0; i < p->nr_ops; i++)
		if (p->op[i].what == D_RUN && simple[p->op[i].graph])
			p->op[i].graph = graph;
}

/* Runs with tokens, which pass them to each other, are never solo. */
static void go_without_tokens(struct d_program *p, const struct d_graph *g)
{
	struct d_use *u;
	uint32_t i, j;

	for (i = g->first; i < g->first + g->nr; i++)
		for (j = 0; j < p->node[i].nr_uses; j++) {
			u = &p->node[i].use[j];
			if (u->mode & LKDF_COMMUTE)
				u->mode = LKDF_RW;
		}
}

/*
 * Both ways of going solo need some runs in a row: a trial begins with the
 * ninth run of a graph.
 */
static void repeat_often(struct d_program *p, struct rng *r, uint8_t graph)
{
	struct d_op *o;
	uint32_t i;

	for (i = 0; i < p->nr_ops; i++) {
		o = &p->op[i];
		if (o->what != D_RUN || o->graph != graph || rng_one_in(r, 4))
			continue;
		o->times = (uint8_t)rng_range(r, 2, D_MANY_TIMES);
		o->has_done = o->waits_at_once = true;
	}
}

void d_prefer_static(struct d_program *p)
{
	struct rng r = { .state = p->seed ^ 0x57a71c };
	bool simple[D_GRAPHS] = { false };
	uint32_t i, j;

	if (!rng_one_in(&r, 2))
		return;
	for (i = 0; i < p->nr_graphs; i++)
		simple[i] = is_simple(p, &p->graph[i]);
	for (i = 0; i < p->nr_graphs && !simple[i]; i++)
		;
	if (i == p->nr_graphs)
		return;
	run_often(p, (uint8_t)i, simple);
	repeat_often(p, &r, (uint8_t)i);
	p->graph[i].is_of_bodies = true;
	go_without_tokens(p, &p->graph[i]);
	for (j = p->graph[i].first; j < p->graph[i].first + p->graph[i].nr;
	     j++) {
		p->node[j].kind = D_SHARED;
		p->node[j].prio = 0;
	}
}

/* ---- kernels ------------------------------------------------------------ */

void d_place_tasks(struct d_program *p)
{
	struct rng r = { .state = p->seed ^ 0xde71ce };
	uint32_t often = rng_range(&r, 1, 4), i, j, nr_of_graphs = 0;
	/* Kernels of graphs that come one after another are given ahead. */
	bool same = rng_one_in(&r, 2);
	/* And find what a kernel on another device has left there. */
	bool mostly = same && rng_one_in(&r, 2);
	bool stays[D_NODES] = { false };
	struct d_task *t;

	keep_failing(p, stays);
	for (i = 0; i < p->nr_graphs; i++) {
		nr_of_graphs += p->graph[i].nr;
		for (j = 0; j < p->graph[i].nr; j++)
			stays[p->graph[i].first + j] |=
				p->graph[i].is_of_bodies;
	}
	for (i = 0; i < p->nr_nodes; i++) {
		t = &p->node[i];
		if (stays[i] || !may_be_kernel(p, t) || !rng_one_in(&r, often))
			continue;
		t->device = same && !(mostly && rng_one_in(&r, 4))
				    ? D_ORDERED
				    : (uint8_t)rng_range(&r, 1, D_DEVICES);
		t->is_code = may_be_code(p, t, i < nr_of_graphs) &&
			     !rng_one_in(&r, 4);
	}
}
