/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The simulated machine from its start to the last task, and what came out.
 */
#ifndef TESTS_UNIT_STEAL_RUN_H
#define TESTS_UNIT_STEAL_RUN_H

#include "tests/unit/steal_sim.h"

static double sim_next(const struct sim *s)
{
	double next = -1;
	int i, nr_idle = 0;
	uint32_t nr_ready = 0;

	for (i = 0; i < s->nr_workers; i++) {
		nr_idle += s->worker[i].end <= SIM_IDLE;
		if (s->worker[i].end > SIM_IDLE &&
		    (next < 0 || s->worker[i].end < next))
			next = s->worker[i].end;
	}
	for (i = 0; i < s->m->nr_nodes; i++)
		nr_ready += s->node[i].sum.nr_ready;
	if (nr_idle && nr_ready && next > s->now + SIM_POLL * s->mean_task)
		next = s->now + SIM_POLL * s->mean_task;
	return next;
}

static void sim_complete(struct sim *s, int worker)
{
	struct sim_worker *w = &s->worker[worker];
	uint32_t i, end = s->p->first_succ[w->task + 1];

	w->end = SIM_IDLE;
	w->idle_since = s->now;
	for (i = s->p->first_succ[w->task]; i < end; i++)
		if (!--s->nr_pred[s->p->succ[i]])
			sim_place(s, s->p->succ[i], worker);
}

static void sim_begin(struct sim *s)
{
	uint32_t t, nr = s->p->g.nr_tasks, nr_roots = 0, root = 0;
	int n;

	s->nr_runs++;
	for (t = 0; t < nr; t++) {
		s->nr_pred[t] = s->p->nr_pred[t];
		s->started[t] = false;
		nr_roots += !s->nr_pred[t];
		n = s->rule.has_plan && s->plan.task[t] >= 0 ? s->plan.task[t]
							     : 0;
		if (s->plan.own[t] != PLAN_NO_BLOCK &&
		    s->home[s->plan.own[t]] >= 0)
			n = s->home[s->plan.own[t]];
		s->acct[t] = n;
		s->node[n].sum.remaining += s->plan.est[t];
		if (s->plan.own[t] != PLAN_NO_BLOCK)
			s->left[s->plan.own[t]] += s->plan.est[t];
	}
	/* Without a plan the first ones are dealt out in chunks. */
	for (t = 0; t < nr; t++) {
		if (s->nr_pred[t])
			continue;
		n = (int)((uint64_t)root++ * (uint64_t)s->nr_workers /
			  nr_roots);
		sim_place(s, t, n);
	}
}

static void sim_once(struct sim *s)
{
	double next;
	int i;

	sim_begin(s);
	for (;;) {
		for (i = 0; i < s->nr_workers; i++)
			sim_poll(s, i);
		next = sim_next(s);
		if (next < 0)
			return;
		s->now = next;
		for (i = 0; i < s->nr_workers; i++) {
			if (s->worker[i].end > s->now ||
			    s->worker[i].end <= SIM_IDLE)
				continue;
			sim_complete(s, i);
			sim_poll(s, i);
		}
	}
}

/* No machine is faster: the work shared out, or the longest chain. */
static double sim_ideal(const struct sim *s)
{
	uint32_t nr = s->p->g.nr_tasks, t, i, u;
	double *start = sim_alloc(nr, sizeof(*start)), work = 0, longest = 0;
	double end;

	/* Successors come later in all programs. */
	for (t = 0; t < nr; t++) {
		end = start[t] + s->plan.est[t] * sim_weight(s, t);
		work += end - start[t];
		longest = end > longest ? end : longest;
		for (i = s->p->first_succ[t]; i < s->p->first_succ[t + 1];
		     i++) {
			u = s->p->succ[i];
			start[u] = end > start[u] ? end : start[u];
		}
	}
	free(start);
	work /= s->nr_workers;
	return work > longest ? work : longest;
}

static void sim_init_tasks(struct sim *s)
{
	uint32_t nr = s->p->g.nr_tasks, blocks = s->p->g.nr_blocks, i;
	struct plan *plan = &s->plan;

	s->nr_pred = sim_alloc(nr, sizeof(*s->nr_pred));
	s->acct = sim_alloc(nr, sizeof(*s->acct));
	s->started = sim_alloc(nr, sizeof(*s->started));
	s->home = sim_alloc(blocks, sizeof(*s->home));
	s->left = sim_alloc(blocks, sizeof(*s->left));
	s->from = sim_alloc(blocks, sizeof(*s->from));
	s->past = sim_alloc(blocks, sizeof(*s->past));
	s->run_bytes = sim_alloc(blocks, sizeof(*s->run_bytes));
	plan->block = sim_alloc(blocks, sizeof(*plan->block));
	plan->partner = sim_alloc(blocks, sizeof(*plan->partner));
	plan->task = sim_alloc(nr, sizeof(*plan->task));
	plan->own = sim_alloc(nr, sizeof(*plan->own));
	plan->est = sim_alloc(nr, sizeof(*plan->est));
	if (plan_make(s->m, &s->p->g, PLAN_PASSES, plan))
		exit(99);
	for (i = 0; i < blocks; i++)
		s->home[i] = s->p->g.fixed ? s->p->g.fixed[i] : -1;
	for (i = 0; i < nr; i++) {
		s->mean_task += plan->est[i] / nr;
		if (plan->own[i] != PLAN_NO_BLOCK)
			s->run_bytes[plan->own[i]] += plan->est[i];
	}
}

static void sim_init_nodes(struct sim *s)
{
	int n, q, i, nr = s->m->nr_nodes;

	for (n = 0; n < nr; n++) {
		s->node[n].sum.nr_workers = s->m->nr_workers[n];
		s->node[n].sum.mean_task = s->mean_task;
		s->node[n].ready =
			sim_alloc(s->p->g.nr_tasks, sizeof(*s->node[n].ready));
		for (q = 0; q < nr; q++)
			s->node[n].extra[q] =
				deficit_extra_at(s->m->distance[n * nr + q]);
		for (i = 0; i < s->m->nr_workers[n]; i++)
			s->worker[s->nr_workers++] =
				(struct sim_worker){ .node = n,
						     .end = SIM_IDLE };
	}
}

static void sim_fini(struct sim *s)
{
	int n;

	for (n = 0; n < s->m->nr_nodes; n++)
		free(s->node[n].ready);
	free(s->nr_pred);
	free(s->acct);
	free(s->started);
	free(s->home);
	free(s->left);
	free(s->from);
	free(s->past);
	free(s->run_bytes);
	free(s->plan.block);
	free(s->plan.task);
	free(s->plan.partner);
	free(s->plan.own);
	free(s->plan.est);
	free(s);
}

static struct sim_result sim_run(const struct plan_machine *m,
				 const struct program *p,
				 const struct sim_rule *rule, int times)
{
	struct sim *s = sim_alloc(1, sizeof(*s));
	struct sim_result r;
	int i;

	s->m = m;
	s->p = p;
	s->rule = *rule;
	sim_init_tasks(s);
	sim_init_nodes(s);
	for (i = 0; i < times; i++)
		sim_once(s);
	r = s->r;
	r.makespan = s->now / (sim_ideal(s) * times);
	r.remote = s->remote / s->all;
	r.moved = s->moved / s->all;
	for (i = 0; i < m->nr_nodes; i++)
		if (s->node[i].bytes > r.busiest * s->all)
			r.busiest = s->node[i].bytes / s->all;
	sim_fini(s);
	return r;
}

#endif
