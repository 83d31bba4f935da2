/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/control/program.h"

#include "tests/oracle/control/data.h"
#include "tests/oracle/random.h"

#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

/* Iterations that a task asks for in one run, so that each run ends. */
#define MAX_BACKS 4

static void add_edge(struct program *p, int from, int to, int branch,
		     bool is_back)
{
	if (p->nr_edges == MAX_GIVEN)
		return;
	p->edge[p->nr_edges++] = (struct edge){
		.from = from,
		.to = to,
		.branch = branch,
		.is_back = is_back,
	};
}

/* The number of a task's n'th branch. */
static int number_of(uint64_t h, int n)
{
	switch (h % 6) {
	case 0:
		return n + 1;
	case 1:
		return n + 1000;
	case 2: /* from 65,535 downwards */
		return 65535 - n;
	case 3: /* with gaps */
		return n < 2 ? n : 5 * n;
	case 4:
		return mix16((uint16_t)((h >> 8) + (uint64_t)n));
	default:
		return n;
	}
}

/* Until here branches are 0, 1, ... */
static void number_branches(struct program *p)
{
	int t, i;

	for (t = 0; t < p->nr_tasks; t++)
		for (i = 0; i < p->nr_branches[t]; i++)
			p->number[t][i] =
				number_of(mix(p->seed * 7 + (uint64_t)t), i);
	for (i = 0; i < p->nr_edges; i++)
		if (p->edge[i].branch >= 0)
			p->edge[i].branch =
				p->number[p->edge[i].from][p->edge[i].branch];
}

/* An old branch of the task, or a new one. */
static int branch_of(struct program *p, struct rng *r, int task)
{
	int nr = p->nr_branches[task];
	int branch = (int)rng_range(r, 0, (uint32_t)nr);

	if (branch == nr)
		p->nr_branches[task]++;
	return branch;
}

static void add_loops(struct program *p, struct rng *r)
{
	int nr = (int)rng_range(r, 0, 3), head, latch;

	while (nr--) {
		head = (int)rng_range(r, 0, (uint32_t)p->nr_tasks - 1);
		latch = (int)rng_range(r, (uint32_t)head,
				       (uint32_t)p->nr_tasks - 1);
		if (latch > head + 1 && rng_one_in(r, 2))
			latch = head + 1;
		if (latch > head)
			add_edge(p, head, latch, -1, false);
		add_edge(p, latch, head, branch_of(p, r, latch), true);
	}
}

/* In one program of four: task 0 comes before all, inflight is more than 1. */
static void make_stream(struct program *p, struct rng *r)
{
	bool has_edge[MAX_TASKS] = { false };
	int i;

	if (!rng_one_in(r, 4))
		return;
	p->is_stream = true;
	p->inflight = (int)rng_range(r, 2, 3);
	p->max_waves = (int)rng_range(r, 0, (uint32_t)p->inflight);
	p->nr_runs = (int)rng_range(r, 1, 8);
	for (i = 0; i < p->nr_edges; i++)
		has_edge[p->edge[i].to] |= !p->edge[i].is_back;
	for (i = 1; i < p->nr_tasks; i++)
		if (!has_edge[i])
			add_edge(p, 0, i, -1, false);
}

/* In one program of two. */
static void add_values(struct program *p, struct rng *r)
{
	uint32_t density = rng_range(r, 1, 6);
	struct edge *e;

	if (rng_one_in(r, 2))
		return;
	for (e = p->edge; e < p->edge + p->nr_edges; e++) {
		e->has_value = rng_one_in(r, density);
		p->has_in[e->to] |= e->has_value;
	}
}

/* In one program of three. */
static void add_channels(struct program *p, struct rng *r)
{
	uint32_t last = (uint32_t)p->nr_tasks - 1;

	p->receiver = p->sender = -1;
	if (!rng_one_in(r, 3))
		return;
	p->depth = (int)rng_range(r, 1, 3);
	if (!rng_one_in(r, 3))
		p->receiver = (int)rng_range(r, 0, last);
	if (!rng_one_in(r, 3))
		p->sender = (int)rng_range(r, 0, last);
}

/* Of what has neither values nor data: three of four. */
static void make_bare(struct program *p, struct rng *r)
{
	int i;

	p->is_bare = !p->has_data && !rng_one_in(r, 4);
	for (i = 0; i < p->nr_edges; i++)
		p->is_bare &= !p->edge[i].has_value;
}

void program_create(struct program *p, uint64_t seed)
{
	struct rng r = { seed };
	uint32_t density;
	int u, v;

	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->nr_tasks = (int)rng_range(&r, 2, MAX_TASKS);
	p->inflight = (int)rng_range(&r, 1, 3);
	p->nr_runs = (int)rng_range(&r, 1, 4);
	density = rng_range(&r, 2, 8);
	for (u = 0; u < p->nr_tasks; u++) {
		p->is_any[u] = rng_one_in(&r, 8);
		p->is_always[u] = rng_one_in(&r, 10);
		p->is_blocking[u] = rng_one_in(&r, 40);
		for (v = u + 1; v < p->nr_tasks; v++)
			if (rng_one_in(&r, density))
				add_edge(p, u, v,
					 rng_one_in(&r, 2) ? branch_of(p, &r, u)
							   : -1,
					 false);
	}
	add_loops(p, &r);
	make_stream(p, &r);
	add_values(p, &r);
	add_channels(p, &r);
	data_add(p, &r);
	make_bare(p, &r);
	number_branches(p);
}

void program_print(const struct program *p)
{
	const struct edge *e;
	int i;

	printf("# %d tasks, %d %s, %d in flight, max_waves %d\n", p->nr_tasks,
	       p->nr_runs, p->is_stream ? "waves" : "runs", p->inflight,
	       p->max_waves);
	for (i = 0; i < p->nr_tasks; i++)
		printf("# task %d%s%s%s%s%s, %d branches\n", i,
		       p->is_any[i] ? " ANY" : "",
		       p->is_always[i] ? " ALWAYS" : "",
		       p->is_blocking[i] ? " BLOCKING" : "",
		       p->receiver == i ? " receives" : "",
		       p->sender == i ? " sends" : "", p->nr_branches[i]);
	data_print(p);
	if (p->depth)
		printf("# channels of %d values\n", p->depth);
	for (e = p->edge; e < p->edge + p->nr_edges; e++)
		printf("# %s %d -> %d, branch %d%s\n",
		       e->is_back ? "back" : "edge", e->from, e->to, e->branch,
		       e->has_value ? ", value" : "");
}

/* BACK edges that the value takes are too many by now. */
static bool goes_back(const struct program *p, int task, int value, int n)
{
	int i;

	for (i = 0; i < p->nr_edges && n >= MAX_BACKS; i++)
		if (p->edge[i].is_back && p->edge[i].from == task &&
		    (p->edge[i].branch == value ||
		     (value >= 0x20000000 && value < LKDF_NO_BRANCH)))
			return true;
	return false;
}

/* Those of the task's branches in the mask that LKDF_BRANCHES() can name. */
static int several(const struct program *p, int task, unsigned mask)
{
	unsigned named = 0;
	int i;

	for (i = 0; i < p->nr_branches[task]; i++)
		if (mask >> i & 1 && p->number[task][i] < 29)
			named |= 1u << p->number[task][i];
	return LKDF_BRANCHES((int)named);
}

int program_value(const struct program *p, int run, int task, int n)
{
	uint64_t h = mix(p->seed + mix((uint64_t)run * 1000003u +
				       (uint64_t)task * 1009u + (uint64_t)n));
	int nr = p->nr_branches[task], value;

	if (h % 37 == 0 && !p->never_fails)
		return -EIO;
	if (!nr)
		return (int)(h >> 8 & 3);
	value = p->number[task][(h >> 8) % (unsigned)nr];
	if ((h >> 20) % 11 == 0)
		value = LKDF_NO_BRANCH;
	else if ((h >> 28) % 7 == 0 && nr < 20)
		value = several(p, task, h >> 32 & ((1u << nr) - 1));
	return goes_back(p, task, value, n) ? LKDF_NO_BRANCH : value;
}

uint64_t program_out(const struct program *p, int run, int task, int n)
{
	return mix(p->seed ^ mix((uint64_t)run << 32 | (uint64_t)task << 16 |
				 (uint64_t)n));
}

uint64_t program_fed(const struct program *p, uint64_t n)
{
	return mix(p->seed * 3 + n);
}

uint64_t program_see(uint64_t seen, int n, const uint64_t *value)
{
	return mix(seen + mix((uint64_t)n + (value ? *value : 1)));
}

bool program_takes(int value, int branch)
{
	if (value >= 0x20000000 && value < LKDF_NO_BRANCH)
		return branch >= 0 && branch < 29 && value >> branch & 1;
	return value == branch;
}
