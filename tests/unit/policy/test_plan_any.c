/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Plans of random programs on random machines: the model of the time is what
 * the policy says and never gets worse, the same graph gets the same plan, and
 * whatever the graph, all of it has a node. An argument is the seed.
 */
#include "policy/plan.h"

#include "tests/unit/plan_result.h"

struct any {
	struct program *p;
	struct plan_machine m;
	int workers[MAX_NODES], distance[MAX_NODES * MAX_NODES];
	int16_t *fixed;
};

static void any_task(struct program *p, uint64_t *seed)
{
	static const char *const mode[] = { "r", "r", "r", "w", "rw", "" };
	uint32_t nr = random_next(seed) % 6, i, block;
	uint32_t first = random_next(seed) % p->g.nr_blocks;

	program_task(p);
	for (i = 0; i < nr && i < p->g.nr_blocks; i++) {
		block = (first + i) % p->g.nr_blocks;
		program_use(p, block, mode[random_next(seed) % 6],
			    (uint16_t)(random_next(seed) % 4
					       ? 0
					       : random_next(seed)));
	}
}

static void any_machine(struct any *a, uint64_t *seed)
{
	int nr = 1 + (int)(random_next(seed) % MAX_NODES), i;

	if (random_next(seed) % 2)
		nr = 1 + nr % 4;
	for (i = 0; i < nr; i++)
		a->workers[i] = (int)(random_next(seed) % 4);
	a->workers[random_next(seed) % (unsigned)nr] = 1;
	for (i = 0; i < nr * nr; i++)
		a->distance[i] = i / nr == i % nr
					 ? 10
					 : 11 + (int)(random_next(seed) % 30);
	a->m = (struct plan_machine){ nr, a->workers, a->distance };
}

static void any_init(struct any *a, uint64_t *seed)
{
	uint32_t nr_blocks = 1 + random_next(seed) % 200, i;
	uint32_t nr_tasks = random_next(seed) % 400;

	any_machine(a, seed);
	a->p = program_new("any");
	a->fixed = malloc(nr_blocks * sizeof(*a->fixed));
	if (!a->fixed)
		exit(99);
	for (i = 0; i < nr_blocks; i++) {
		/* No two are equal. */
		program_blocks(a->p, 1, random_next(seed) * 256ull + i);
		a->fixed[i] = PLAN_NONE;
		if (random_next(seed) % 4 == 0)
			a->fixed[i] = (int16_t)(random_next(seed) %
						(unsigned)a->m.nr_nodes);
	}
	for (i = 0; i < nr_tasks; i++)
		any_task(a->p, seed);
	if (!nr_tasks)
		program_task(a->p);
	program_end(a->p);
	if (random_next(seed) % 4)
		a->p->g.fixed = a->fixed;
}

static void any_fini(struct any *a)
{
	program_free(a->p);
	free(a->fixed);
}

static uint32_t own_block(const struct program *p, uint32_t t)
{
	double bytes, most = 0;
	uint32_t i, own = PLAN_NO_BLOCK;

	for (i = p->first_access[t]; i < p->first_access[t + 1]; i++) {
		bytes = plan_part(&p->access[i], p->bytes[p->access[i].block]) *
			p->access[i].writes;
		if (bytes > most) {
			most = bytes;
			own = p->access[i].block;
		}
	}
	return own;
}

static double task_bytes(const struct program *p, uint32_t t)
{
	double sum = 0;
	uint32_t i;

	for (i = p->first_access[t]; i < p->first_access[t + 1]; i++)
		sum += bytes_of(p, i);
	return sum;
}

static double level_bytes(const struct program *p, uint32_t level)
{
	double sum = 0;
	uint32_t t;

	for (t = 0; t < p->g.nr_tasks; t++)
		if (p->level[t] == level)
			sum += task_bytes(p, t);
	return sum;
}

/* Of the tasks in the levels from first up to end that write a block. */
static double load_cost(const struct plan_machine *m, const struct program *p,
			const struct result *r, uint32_t first, uint32_t end)
{
	double sum = 0, all = 0, on[MAX_NODES] = { 0 };
	uint32_t t;
	int n;

	for (t = 0; t < p->g.nr_tasks; t++) {
		if (p->level[t] < first || p->level[t] >= end)
			continue;
		all += task_bytes(p, t);
		if (own_block(p, t) != PLAN_NO_BLOCK)
			on[r->plan.task[t]] += task_bytes(p, t);
	}
	for (n = 0; n < m->nr_nodes; n++)
		if (m->nr_workers[n])
			sum += on[n] * on[n] / m->nr_workers[n];
	return all > 0 ? sum / all : 0;
}

/* The model as the policy describes it, without any cleverness. */
static double slow_objective(const struct plan_machine *m,
			     const struct program *p, const struct result *r)
{
	double sum = 0, all = 0, bucket = 0, workers = 0;
	uint32_t nr_levels = 0, l, first = 0, t, i;
	int n, home;

	for (n = 0; n < m->nr_nodes; n++)
		workers += m->nr_workers[n];
	for (t = 0; t < p->g.nr_tasks; t++) {
		all += task_bytes(p, t);
		if (p->level[t] >= nr_levels)
			nr_levels = p->level[t] + 1;
		if (own_block(p, t) == PLAN_NO_BLOCK)
			continue;
		for (i = p->first_access[t]; i < p->first_access[t + 1]; i++) {
			n = r->plan.task[t];
			home = r->plan.block[p->access[i].block];
			if (p->access[i].block == own_block(p, t))
				continue;
			sum += bytes_of(p, i) * PLAN_MEMORY_SHARE *
			       (plan_penalty(
					m->distance[n * m->nr_nodes + home]) -
				1) /
			       workers;
		}
	}
	for (l = 0; l < nr_levels; l++) {
		bucket += level_bytes(p, l);
		if (bucket < 2 * workers * all / p->g.nr_tasks &&
		    l < nr_levels - 1)
			continue;
		sum += load_cost(m, p, r, first, l + 1);
		first = l + 1;
		bucket = 0;
	}
	return sum;
}

/* Blocks and tasks that have no node and should, or the other way round. */
static uint32_t count_misplaced(const struct any *a, const struct result *r)
{
	const struct program *p = a->p;
	bool *touched = calloc(p->g.nr_blocks, sizeof(*touched));
	uint32_t t, i, nr = 0;
	int16_t node;

	if (!touched)
		exit(99);
	for (i = 0; i < p->first_access[p->g.nr_tasks]; i++)
		touched[p->access[i].block] = true;
	for (t = 0; t < p->g.nr_tasks; t++) {
		node = r->plan.task[t];
		if (p->first_access[t] == p->first_access[t + 1])
			nr += node != PLAN_NONE;
		else
			nr += node < 0 || node >= a->m.nr_nodes ||
			      !a->workers[node];
	}
	for (i = 0; i < p->g.nr_blocks; i++) {
		node = r->plan.block[i];
		if (p->g.fixed && a->fixed[i] >= 0)
			nr += node != a->fixed[i];
		else if (!touched[i])
			nr += node != PLAN_NONE;
		else
			nr += node < 0 || node >= a->m.nr_nodes ||
			      !a->workers[node];
	}
	free(touched);
	return nr;
}

static bool same_plan(const struct program *p, const struct result *a,
		      const struct result *b)
{
	size_t blocks = p->g.nr_blocks, tasks = p->g.nr_tasks;

	return !memcmp(a->plan.block, b->plan.block,
		       blocks * sizeof(*a->plan.block)) &&
	       !memcmp(a->plan.task, b->plan.task,
		       tasks * sizeof(*a->plan.task)) &&
	       !memcmp(a->plan.partner, b->plan.partner,
		       blocks * sizeof(*a->plan.partner)) &&
	       !memcmp(&a->plan.objective, &b->plan.objective,
		       sizeof(a->plan.objective));
}

static void any_program_gets_a_sound_plan(uint64_t seed)
{
	uint32_t nr = 300, i, b, misplaced = 0, worse = 0, other = 0, odd = 0;
	uint32_t nr_moved = 0, partner, wrong = 0, t, mistaken = 0;
	struct result r, again, chunks;
	struct any a;
	double slow;

	printf("# seed %llu\n", (unsigned long long)seed);
	for (i = 0; i < nr; i++) {
		any_init(&a, &seed);
		r = plan_it(&a.m, a.p, PLAN_PASSES);
		again = plan_it(&a.m, a.p, PLAN_PASSES);
		chunks = plan_it(&a.m, a.p, 0);
		misplaced += count_misplaced(&a, &r);
		misplaced += count_misplaced(&a, &chunks);
		other += !same_plan(a.p, &r, &again);
		nr_moved += !same_plan(a.p, &r, &chunks);
		worse += r.plan.objective > chunks.plan.objective * 1.00001;
		slow = slow_objective(&a.m, a.p, &r);
		wrong += !within(r.plan.objective, slow, slow * 1e-5);
		for (b = 0; b < a.p->g.nr_blocks; b++) {
			partner = r.plan.partner[b];
			odd += partner != PLAN_NO_BLOCK &&
			       (partner == b || r.plan.partner[partner] != b);
		}
		for (t = 0; t < a.p->g.nr_tasks; t++) {
			mistaken += r.plan.own[t] != own_block(a.p, t);
			mistaken +=
				!within(r.plan.est[t], task_bytes(a.p, t), 1);
		}
		result_fini(&r);
		result_fini(&again);
		result_fini(&chunks);
		any_fini(&a);
	}
	is(misplaced, 0, "all that a task has gets a node with workers");
	is(worse, 0, "refinement never makes the model's time longer");
	is(wrong, 0, "and the time is what the model says");
	is(other, 0, "the same graph gets the same plan");
	is(odd, 0, "partners are pairs");
	is(mistaken, 0, "tasks' own blocks and bytes are told");
	ok(nr_moved > nr / 2, "refinement moves something in most of them");
}

int main(int argc, char **argv)
{
	tap_start(60);
	any_program_gets_a_sound_plan(argc > 1 ? strtoull(argv[1], NULL, 0)
					       : 20261121);
	return tap_end();
}
