/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The plan: the five measured programs come out as they were measured, with
 * tasks at home and no steals; others are local and balanced, too; fixed
 * blocks, nodes without workers and extreme sizes are respected.
 */
#include "policy/plan.h"

#include "tests/unit/plan_programs.h"
#include "tests/unit/plan_result.h"

#include <errno.h>

static void measured_programs_come_out_as_measured(void)
{
	static const double remote[] = { 0.0, 1.0, 11.8, 20.5, 0.6 };
	static const double busiest[] = { 30, 30, 30, 34, 30 };
	struct program *p;
	struct result r;
	int i;

	for (i = 0; i < NR_MEASURED; i++) {
		p = program_build(i);
		r = plan_it(&four, p, PLAN_PASSES);
		ok(within(r.remote, remote[i], 0.2),
		   "%s: %.1f %% of the bytes are remote", p->name, remote[i]);
		ok(r.busiest <= busiest[i],
		   "%s: no node has more than %.0f %% of them", p->name,
		   busiest[i]);
		printf("# %s: remote %.2f %%, busiest %.2f %%\n", p->name,
		       r.remote, r.busiest);
		result_fini(&r);
		program_free(p);
	}
}

/* Blocks dealt out one by one; tasks with what they write most of. */
static struct result round_robin(const struct plan_machine *m,
				 struct program *p)
{
	int16_t *fixed = malloc((p->g.nr_blocks + 1) * sizeof(*fixed));
	struct result r;
	uint32_t b;

	if (!fixed)
		exit(99);
	for (b = 0; b < p->g.nr_blocks; b++)
		fixed[b] = (int16_t)(b % (uint32_t)m->nr_nodes);
	p->g.fixed = fixed;
	r = plan_it(m, p, 0);
	p->g.fixed = NULL;
	free(fixed);
	return r;
}

static void other_programs_are_local_and_balanced(void)
{
	struct result r, chunks, dealt;
	struct program *p;
	int i;

	for (i = NR_MEASURED; i < NR_PROGRAMS; i++) {
		p = program_build(i);
		r = plan_it(&four, p, PLAN_PASSES);
		chunks = plan_it(&four, p, 0);
		dealt = round_robin(&four, p);
		printf("# %s: remote %.1f %% busiest %.1f %%; chunks only "
		       "%.1f %.1f; round robin %.1f %.1f\n",
		       p->name, r.remote, r.busiest, chunks.remote,
		       chunks.busiest, dealt.remote, dealt.busiest);
		ok(r.remote <= dealt.remote + 0.2,
		   "%s: no more is remote than with blocks dealt out", p->name);
		ok(r.busiest <= 34, "%s: no node has more than 34 %%", p->name);
		ok(r.plan.objective <= dealt.plan.objective &&
			   r.plan.objective <= chunks.plan.objective,
		   "%s: nor does the model take longer", p->name);
		result_fini(&r);
		result_fini(&chunks);
		result_fini(&dealt);
		program_free(p);
	}
}

static void independent_tasks_go_where_workers_are(void)
{
	static const int workers[] = { 0, 1, 3 };
	static const int distances[] = { 10, 20, 20, 20, 10, 20, 20, 20, 10 };
	const struct plan_machine m = { 3, workers, distances };
	struct program *p = program_new("independent");
	uint32_t t, nr[3] = { 0 };
	struct result r;

	program_blocks(p, 40, 4096);
	for (t = 0; t < 40; t++) {
		program_task(p);
		program_write(p, t);
	}
	program_end(p);
	r = plan_it(&m, p, PLAN_PASSES);
	for (t = 0; t < 40; t++)
		nr[r.plan.task[t]]++;
	is(nr[0], 0, "none where there is no worker");
	is(nr[1], 10, "a quarter where one of four workers is");
	is(nr[2], 30, "the rest where the other three are");
	result_fini(&r);
	program_free(p);
}

static void fixed_blocks_draw_their_tasks(void)
{
	static const int workers[] = { 2, 0, 2, 2 };
	const struct plan_machine m = { 4, workers, four_distances };
	struct program *p = program_new("fixed");
	int16_t fixed[] = { 2, PLAN_NONE, 1, PLAN_NONE };
	struct result r;

	program_blocks(p, 4, 4096);
	program_task(p);
	program_read(p, 0);
	program_write(p, 1);
	program_task(p);
	program_update(p, 2);
	program_task(p);
	program_read(p, 0);
	program_task(p);
	program_end(p);
	p->g.fixed = fixed;
	r = plan_it(&m, p, PLAN_PASSES);
	is(r.plan.block[0], 2, "a fixed block stays");
	is(r.plan.block[1], 2, "what is made from it comes to it");
	is(r.plan.task[0], 2, "so does the task");
	is(r.plan.block[2], 1, "even where no worker is");
	is(r.plan.task[1], 0, "its task goes to the nearest with workers");
	is(r.plan.task[2], 2, "a reader goes to what it reads");
	is(r.plan.task[3], PLAN_NONE, "a task without accesses anywhere");
	is(r.plan.block[3], PLAN_NONE, "so does a block without tasks");
	result_fini(&r);
	program_free(p);
}

/* Who reads a little of the neighbours may say that it reads all of them. */
static struct program *program_whole_stencil(uint32_t nr, uint32_t nr_sweeps)
{
	struct program *p = program_new("whole");
	uint32_t b = program_blocks(p, 2 * nr, 512 * PROGRAM_KIB), s, i, from;

	for (s = 0; s < nr_sweeps * nr; s++) {
		i = s % nr;
		from = b + s / nr % 2 * nr;
		program_task(p);
		program_read(p, from + i);
		if (i > 0)
			program_read(p, from + i - 1);
		if (i < nr - 1)
			program_read(p, from + i + 1);
		program_write(p, b + (s / nr + 1) % 2 * nr + i);
	}
	return program_end(p);
}

static void buffers_of_sweeps_are_partners(void)
{
	struct program *p = program_stencil(64, 20);
	struct result r = plan_it(&four, p, PLAN_PASSES);
	uint32_t i, nr = 0;

	for (i = 0; i < 64; i++)
		nr += r.plan.partner[i] == i + 64 &&
		      r.plan.partner[i + 64] == i;
	is(nr, 64, "the two buffers of each block are partners");
	result_fini(&r);
	program_free(p);
	p = program_whole_stencil(64, 20);
	r = plan_it(&four, p, PLAN_PASSES);
	for (i = nr = 0; i < 64; i++)
		nr += r.plan.partner[i] == i + 64 &&
		      r.plan.partner[i + 64] == i;
	is(nr, 64, "where neighbours are read as a whole, too");
	result_fini(&r);
	program_free(p);
	p = program_reduction(128);
	r = plan_it(&four, p, PLAN_PASSES);
	for (i = nr = 0; i < 128; i++)
		nr += r.plan.partner[i] != PLAN_NO_BLOCK;
	is(nr, 0, "leaves that are combined are not");
	result_fini(&r);
	program_free(p);
}

static void extremes_are_planned(void)
{
	static const int one_worker[] = { 1 }, here[] = { 10 };
	const struct plan_machine one = { 1, one_worker, here };
	struct program *p = program_cholesky(4);
	uint32_t i, nr = 0;
	struct result r = plan_it(&one, p, PLAN_PASSES);

	for (i = 0; i < p->g.nr_tasks; i++)
		nr += r.plan.task[i] == 0;
	is(nr, p->g.nr_tasks, "one node gets all tasks");
	ok(r.remote <= 0, "and nothing is remote");
	result_fini(&r);
	for (i = 0; i < p->g.nr_blocks; i++)
		p->bytes[i] = 1ull << 63;
	r = plan_it(&four, p, PLAN_PASSES);
	ok(r.plan.objective > 1e18 && r.plan.objective < 1e23,
	   "the largest sizes have a finite time");
	ok(r.busiest < 50, "and are spread");
	result_fini(&r);
	program_free(p);
	p = program_end(program_new("empty"));
	r = plan_it(&four, p, PLAN_PASSES);
	ok(r.plan.objective <= 0, "an empty graph takes no time");
	result_fini(&r);
	program_free(p);
}

static void a_level_is_the_longest_path(void)
{
	/* 3 -> 1 -> 0, 3 -> 0, 2 alone. */
	static const uint32_t first[] = { 0, 0, 1, 1, 3 };
	static const uint32_t succ[] = { 0, 1, 0 };
	/* 0 -> 1 -> 2 -> 1 */
	static const uint32_t first_cycle[] = { 0, 1, 2, 3 };
	static const uint32_t cycle[] = { 1, 2, 1 };
	uint32_t level[4];

	is(plan_levels(4, first, succ, level), 0, "in any order");
	is(level[3], 0, "nobody before it");
	is(level[2], 0, "nor before one that is alone");
	is(level[1], 1, "one before it");
	is(level[0], 2, "the longer of two ways");
	is(plan_levels(3, first_cycle, cycle, level), -ELOOP,
	   "a cycle is refused");
}

static void a_penalty_grows_with_the_distance(void)
{
	ok(within(plan_penalty(10), 1, 1e-9), "none on the node itself");
	ok(within(plan_penalty(16), 1.5, 1e-9), "1.5 at 16");
	ok(within(plan_penalty(18), 1.75, 1e-9), "between 16 and 20 at 18");
	ok(within(plan_penalty(20), 2, 1e-9), "2 at 20");
	ok(within(plan_penalty(22), 2.2, 1e-9), "2.2 at 22");
	ok(within(plan_penalty(32), 3.2, 1e-9), "and so on at 32");
	ok(within(plan_penalty(0), 1, 1e-9), "never less than 1");
}

int main(void)
{
	tap_start(60);
	measured_programs_come_out_as_measured();
	other_programs_are_local_and_balanced();
	independent_tasks_go_where_workers_are();
	fixed_blocks_draw_their_tasks();
	buffers_of_sweeps_are_partners();
	extremes_are_planned();
	a_level_is_the_longest_path();
	a_penalty_grows_with_the_distance();
	return tap_end();
}
