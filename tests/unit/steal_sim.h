/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs a program on a made-up machine, event by event: the plan and the steal
 * rule are the library's, the rest is as simple as can be. A body takes as
 * long as the bytes it touches, longer for those on other nodes. Queues cost
 * nothing and all workers see them as they are.
 */
#ifndef TESTS_UNIT_STEAL_SIM_H
#define TESTS_UNIT_STEAL_SIM_H

#include "policy/deficit.h"
#include "policy/history.h"
#include "tests/unit/plan_program.h"

#include <math.h>

#define SIM_NODES 8
#define SIM_WORKERS 64
#define SIM_USES 16
#define SIM_IDLE (-1.0)
/* Idle workers look again after this part of a mean task. */
#define SIM_POLL 0.125

enum sim_steals {
	SIM_STAY,
	SIM_EAGER,
	SIM_DEFICIT,
	SIM_REHOME
};

/* Somebody else has the worker's CPU from .. to. */
struct sim_neighbour {
	int worker;
	double from, to;
};

struct sim_rule {
	const char *name;
	bool has_plan;
	enum sim_steals steals; /* from other nodes */
	bool trusts; /* a node that will be done in time keeps its tasks */
	struct sim_neighbour neighbour;
};

struct sim_result {
	double makespan; /* over what is possible at best */
	double remote, moved, busiest; /* of the bytes touched */
	uint32_t nr_run, nr_stolen, nr_moves, nr_undone;
};

struct sim_entry {
	uint32_t task;
	int worker; /* whose deque; -1: the node's inbox */
};

struct sim_node {
	struct deficit_node sum;
	struct sim_entry *ready; /* oldest first */
	double measured, extra[SIM_NODES], bytes;
};

struct sim_worker {
	int node;
	uint32_t task;
	double end, idle_since; /* end: SIM_IDLE */
};

struct sim {
	const struct plan_machine *m;
	const struct program *p;
	struct sim_rule rule;
	struct plan plan;
	int nr_workers;
	double now, mean_task;
	struct sim_node node[SIM_NODES];
	struct sim_worker worker[SIM_WORKERS];
	/* By task. */
	uint32_t *nr_pred;
	int *acct;
	bool *started;
	/* By block. */
	int *home, *from;
	uint64_t *past;
	double *left, *run_bytes;
	uint32_t nr_runs;
	struct sim_result r;
	double all, remote, moved;
};

static void *sim_alloc(size_t nr, size_t size)
{
	void *at = calloc(nr + 1, size);

	if (!at)
		exit(99);
	return at;
}

/* The accesses of a task with where their blocks are or will be. */
static uint32_t sim_uses(const struct sim *s, uint32_t t, bool planned,
			 struct deficit_use *use)
{
	uint32_t i, nr = 0, block, end = s->p->first_access[t + 1];
	int home;

	for (i = s->p->first_access[t]; i < end && nr < SIM_USES; i++) {
		block = s->p->access[i].block;
		home = s->home[block];
		if (home < 0 && planned && s->rule.has_plan &&
		    s->p->access[i].writes)
			home = s->plan.block[block];
		use[nr++] =
			(struct deficit_use){ plan_touched(&s->p->access[i],
							   s->p->bytes[block]),
					      home, block == s->plan.own[t] };
	}
	return nr;
}

static double sim_extra(const struct sim *s, uint32_t t, int node)
{
	struct deficit_use use[SIM_USES];
	uint32_t nr = sim_uses(s, t, false, use);

	return deficit_extra(use, nr, s->node[node].extra);
}

static void sim_account(struct sim *s, uint32_t t, int node)
{
	s->node[s->acct[t]].sum.remaining -= s->plan.est[t];
	s->node[node].sum.remaining += s->plan.est[t];
	s->acct[t] = node;
}

static void sim_push(struct sim *s, uint32_t t, int node, int worker)
{
	struct sim_node *n = &s->node[node];

	n->ready[n->sum.nr_ready++] = (struct sim_entry){ t, worker };
}

static uint32_t sim_take(struct sim *s, int node, uint32_t at)
{
	struct sim_node *n = &s->node[node];
	uint32_t t = n->ready[at].task;

	n->sum.nr_ready--;
	memmove(&n->ready[at], &n->ready[at + 1],
		(n->sum.nr_ready - at) * sizeof(*n->ready));
	return t;
}

static void sim_sum(struct sim *s, struct deficit_node *sum)
{
	double measured[SIM_NODES], median;
	int n;

	for (n = 0; n < s->m->nr_nodes; n++)
		measured[n] = s->node[n].measured;
	median = deficit_median(measured, s->m->nr_nodes);
	for (n = 0; n < s->m->nr_nodes; n++) {
		s->node[n].sum.rate = deficit_rate(measured[n], median);
		sum[n] = s->node[n].sum;
	}
}

/* A task's predecessors are complete; worker: the last one's. */
static void sim_place(struct sim *s, uint32_t t, int worker)
{
	struct deficit_node sum[SIM_NODES];
	struct deficit_use use[SIM_USES];
	double weight[SIM_NODES];
	int here = s->worker[worker].node, node;
	uint32_t nr = sim_uses(s, t, true, use);

	sim_sum(s, sum);
	/* Without a plan nobody knows what remains. */
	for (node = 0; !s->rule.has_plan && node < s->m->nr_nodes; node++)
		sum[node].remaining = 0;
	node = deficit_place(use, nr, sum, s->m->nr_nodes, here, weight);
	sim_account(s, t, node);
	sim_push(s, t, node, node == here ? worker : -1);
}

/* Own deque newest first, inbox and siblings oldest first. */
static bool sim_take_local(struct sim *s, int worker, uint32_t *t)
{
	int node = s->worker[worker].node;
	struct sim_node *n = &s->node[node];
	uint32_t i, nr = n->sum.nr_ready;

	for (i = nr; i > 0; i--) {
		if (n->ready[i - 1].worker == worker) {
			*t = sim_take(s, node, i - 1);
			return true;
		}
	}
	for (i = 0; i < nr && n->ready[i].worker >= 0; i++)
		continue;
	if (!nr)
		return false;
	*t = sim_take(s, node, i < nr ? i : 0);
	return true;
}

/* Victims by distance; the next node first. Negative: that was all. */
static int sim_victim(const struct sim *s, int thief, int i)
{
	int nr = s->m->nr_nodes, order[SIM_NODES], d, n, at, used = 0;

	for (d = 11; d < 256; d++) {
		for (n = 1; n < nr; n++) {
			at = (thief + n) % nr;
			if (s->m->distance[thief * nr + at] == d)
				order[used++] = at;
		}
	}
	return i < used ? order[i] : -1;
}

static bool sim_take_eager(struct sim *s, int thief, uint32_t *t)
{
	int i, victim;

	for (i = 0; (victim = sim_victim(s, thief, i)) >= 0; i++) {
		if (!s->node[victim].sum.nr_ready)
			continue;
		*t = sim_take(s, victim, 0);
		return true;
	}
	return false;
}

struct sim_choice {
	struct deficit_task task;
	double ahead;
	int victim;
	uint32_t at;
};

/* The best task that the thief may take from one victim, or better: before. */
static void sim_look(struct sim *s, const struct deficit_node *sum, int worker,
		     struct sim_choice *best, int victim)
{
	double mean =
		s->rule.trusts ? deficit_mean(sum, s->m->nr_nodes) : -INFINITY;
	const struct sim_node *v = &s->node[victim];
	int thief = s->worker[worker].node;
	struct sim_choice c = { .victim = victim };
	uint32_t t;

	c.ahead = deficit_time(&sum[victim]) - deficit_time(&sum[thief]);
	for (c.at = 0; c.at < v->sum.nr_ready && c.at < DEFICIT_SCAN; c.at++) {
		t = v->ready[c.at].task;
		c.task = deficit_task(s->plan.est[t], sum[victim].rate,
				      sim_extra(s, t, thief),
				      sim_extra(s, t, victim));
		if (!deficit_allows(&sum[thief], &sum[victim], mean,
				    s->now - s->worker[worker].idle_since,
				    &c.task))
			continue;
		if (best->victim < 0 ||
		    deficit_is_better(&c.task, c.ahead, &best->task,
				      best->ahead))
			*best = c;
	}
}

static bool sim_take_deficit(struct sim *s, int worker, uint32_t *t)
{
	struct deficit_node sum[SIM_NODES];
	struct sim_choice best = { .victim = -1 };
	int i, victim, thief = s->worker[worker].node;

	sim_sum(s, sum);
	for (i = 0; (victim = sim_victim(s, thief, i)) >= 0; i++)
		sim_look(s, sum, worker, &best, victim);
	if (best.victim < 0)
		return false;
	*t = sim_take(s, best.victim, best.at);
	return true;
}

/* Moves a block, and its partner or none, with their tasks to come. */
static void sim_move(struct sim *s, uint32_t own, uint32_t partner, int node)
{
	int old = s->home[own];
	uint32_t i;

	s->home[own] = node;
	s->moved += (double)s->p->bytes[own];
	if (partner != PLAN_NO_BLOCK) {
		s->home[partner] = node;
		s->moved += (double)s->p->bytes[partner];
	}
	s->r.nr_moves++;
	for (i = 0; i < s->p->g.nr_tasks; i++)
		if (!s->started[i] && s->acct[i] == old &&
		    (s->plan.own[i] == own ||
		     (partner != PLAN_NO_BLOCK && s->plan.own[i] == partner)))
			sim_account(s, i, node);
}

static void sim_add_block(const struct sim *s, struct deficit_block *b,
			  uint32_t block)
{
	b->remaining += s->left[block];
	b->ahead += s->nr_runs * s->run_bytes[block];
	b->bytes += (double)s->p->bytes[block];
}

static bool sim_is_due(struct sim *s, uint32_t own, uint32_t partner, int node)
{
	int home = s->home[own];
	struct deficit_node sum[SIM_NODES];
	struct deficit_block b = { .extra = s->node[node].extra[home] };

	sim_sum(s, sum);
	sim_add_block(s, &b, own);
	if (partner != PLAN_NO_BLOCK)
		sim_add_block(s, &b, partner);
	return deficit_moves(&sum[node], &sum[home],
			     deficit_mean(sum, s->m->nr_nodes), &b);
}

/* A task that writes the block starts on the node, see run/rehome.h. */
static void sim_rehome(struct sim *s, uint32_t own, int node)
{
	uint32_t partner = s->plan.partner[own], key = own;
	int home = s->home[own];
	bool was_trial;

	if (partner != PLAN_NO_BLOCK && partner < own)
		key = partner;
	if (partner != PLAN_NO_BLOCK && s->home[partner] != home)
		partner = PLAN_NO_BLOCK;
	was_trial = history_is_trial(s->past[key]);
	s->past[key] = history_add(s->past[key], node);
	if (home < 0 || home == node)
		return;
	if (was_trial && s->from[key] == node) {
		s->r.nr_undone++;
		sim_move(s, own, partner, node);
		s->past[key] = 0;
	} else if (s->r.nr_undone < HISTORY_FAILS &&
		   history_is_taker(s->past[key], node) &&
		   sim_is_due(s, own, partner, node)) {
		s->from[key] = home;
		sim_move(s, own, partner, node);
		s->past[key] = history_moved();
	}
}

static double sim_weight(const struct sim *s, uint32_t t)
{
	return s->p->weight ? s->p->weight[t] : 1;
}

/* When a body that takes so long ends: later where a neighbour comes. */
static double sim_end(const struct sim *s, int worker, double time)
{
	const struct sim_neighbour *n = &s->rule.neighbour;
	double end = s->now + time;

	if (worker != n->worker || end <= n->from || s->now >= n->to)
		return end;
	return end + n->to - (s->now > n->from ? s->now : n->from);
}

static void sim_start(struct sim *s, int worker, uint32_t t)
{
	struct sim_worker *w = &s->worker[worker];
	struct sim_node *n = &s->node[w->node];
	uint32_t i, block, own = s->plan.own[t];
	double bytes;

	w->task = t;
	s->started[t] = true;
	s->node[s->acct[t]].sum.remaining -= s->plan.est[t];
	if (own != PLAN_NO_BLOCK) {
		s->left[own] -= s->plan.est[t];
		if (s->rule.steals == SIM_REHOME)
			sim_rehome(s, own, w->node);
	}
	w->end = sim_end(s, worker,
			 (s->plan.est[t] + sim_extra(s, t, w->node)) *
				 sim_weight(s, t));
	for (i = s->p->first_access[t]; i < s->p->first_access[t + 1]; i++) {
		block = s->p->access[i].block;
		bytes = plan_touched(&s->p->access[i], s->p->bytes[block]);
		if (s->home[block] < 0)
			s->home[block] = w->node;
		if (s->home[block] != w->node)
			s->remote += bytes;
		s->all += bytes;
		n->bytes += bytes;
	}
	/* Only tasks at home tell how fast the node is. */
	if (own != PLAN_NO_BLOCK && s->home[own] == w->node)
		n->measured = deficit_learn(n->measured, w->end - s->now,
					    s->plan.est[t]);
	s->r.nr_run++;
}

static void sim_poll(struct sim *s, int worker)
{
	struct sim_worker *w = &s->worker[worker];
	bool found = false;
	uint32_t t = 0;

	if (w->end > SIM_IDLE)
		return;
	if (sim_take_local(s, worker, &t)) {
		sim_start(s, worker, t);
		return;
	}
	if (s->rule.steals == SIM_EAGER)
		found = sim_take_eager(s, w->node, &t);
	else if (s->rule.steals != SIM_STAY)
		found = sim_take_deficit(s, worker, &t);
	if (!found)
		return;
	s->r.nr_stolen++;
	sim_start(s, worker, t);
}

#endif
