/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A plan of a program, and what is remote when each task runs at its home.
 */
#ifndef TESTS_UNIT_PLAN_RESULT_H
#define TESTS_UNIT_PLAN_RESULT_H

#include "tests/unit/plan_program.h"

#define MAX_NODES 64

/* Four nodes of two workers, in two near pairs. */
static const int four_workers[] = { 2, 2, 2, 2 };
static const int four_distances[] = { 10, 16, 22, 22, 16, 10, 22, 22,
				      22, 22, 10, 16, 22, 22, 16, 10 };
static const struct plan_machine four = { 4, four_workers, four_distances };

struct result {
	struct plan plan;
	double remote, busiest; /* of all bytes, in percent */
};

static double bytes_of(const struct program *p, uint32_t i)
{
	return plan_touched(&p->access[i], p->bytes[p->access[i].block]);
}

/* Each task runs at its home. */
static void account(const struct plan_machine *m, const struct program *p,
		    struct result *r)
{
	double all = 0, remote = 0, most = 0, bytes, on[MAX_NODES] = { 0 };
	uint32_t t, i;
	int n;

	for (t = 0; t < p->g.nr_tasks; t++) {
		for (i = p->first_access[t]; i < p->first_access[t + 1]; i++) {
			bytes = bytes_of(p, i);
			all += bytes;
			n = r->plan.task[t];
			on[n] += bytes;
			if (r->plan.block[p->access[i].block] != n)
				remote += bytes;
		}
	}
	for (n = 0; n < m->nr_nodes; n++)
		most = on[n] > most ? on[n] : most;
	r->remote = all > 0 ? 100 * remote / all : 0;
	r->busiest = all > 0 ? 100 * most / all : 0;
}

static void result_fini(struct result *r)
{
	free(r->plan.block);
	free(r->plan.task);
	free(r->plan.partner);
	free(r->plan.own);
	free(r->plan.est);
}

static struct result plan_it(const struct plan_machine *m,
			     const struct program *p, int passes)
{
	struct result r = { .remote = 0 };

	r.plan.block = malloc((p->g.nr_blocks + 1) * sizeof(*r.plan.block));
	r.plan.task = malloc((p->g.nr_tasks + 1) * sizeof(*r.plan.task));
	r.plan.partner = malloc((p->g.nr_blocks + 1) * sizeof(*r.plan.partner));
	r.plan.own = malloc((p->g.nr_tasks + 1) * sizeof(*r.plan.own));
	r.plan.est = malloc((p->g.nr_tasks + 1) * sizeof(*r.plan.est));
	if (!r.plan.block || !r.plan.task || !r.plan.partner || !r.plan.own ||
	    !r.plan.est || plan_make(m, &p->g, passes, &r.plan))
		exit(99);
	account(m, p, &r);
	return r;
}

static bool within(double got, double want, double by)
{
	return got >= want - by && got <= want + by;
}

#endif
