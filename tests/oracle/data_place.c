/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/data_device.h"

static bool is_plain(const struct d_use *u)
{
	return !(u->mode & ~(LKDF_RW | LKDF_COMMUTE)) && !u->ends &&
	       !u->is_untouched;
}

/* Their bytes may not be there. */
static bool uses_once(const struct d_program *p, const struct d_task *t)
{
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++)
		if (p->var[t->use[i].var].is_once)
			return true;
	return false;
}

static bool may_be_kernel(const struct d_program *p, const struct d_task *t)
{
	uint32_t i;

	if (t->nr_below || t->wait != D_PLAIN || t->kind & D_BLOCKING ||
	    (t->kind & D_ALWAYS && uses_once(p, t)))
		return false;
	for (i = 0; i < t->nr_uses; i++)
		if (!is_plain(&t->use[i]))
			return false;
	return true;
}

/* A function of a device is the same in all runs of a graph. */
static bool may_be_code(const struct d_task *t, bool is_of_graph)
{
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

void d_place_tasks(struct d_program *p)
{
	struct rng r = { .state = p->seed ^ 0xde71ce };
	uint32_t often = rng_range(&r, 1, 4), i, nr_of_graphs = 0;
	/* Kernels of graphs that come one after another are given ahead. */
	bool same = rng_one_in(&r, 2);
	/* And find what a kernel on another device has left there. */
	bool mostly = same && rng_one_in(&r, 2);
	bool stays[D_NODES] = { false };
	struct d_task *t;

	keep_failing(p, stays);
	for (i = 0; i < p->nr_graphs; i++)
		nr_of_graphs += p->graph[i].nr;
	for (i = 0; i < p->nr_nodes; i++) {
		t = &p->node[i];
		if (stays[i] || !may_be_kernel(p, t) || !rng_one_in(&r, often))
			continue;
		t->device = same && !(mostly && rng_one_in(&r, 4))
				    ? D_ORDERED
				    : (uint8_t)rng_range(&r, 1, D_DEVICES);
		t->is_code =
			may_be_code(t, i < nr_of_graphs) && !rng_one_in(&r, 4);
	}
}
