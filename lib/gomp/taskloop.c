/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Loops whose iterations are tasks, some in each. */
#include "gomp/calls.h"
#include "gomp/cancel.h"
#include "gomp/reduce.h"
#include "gomp/task.h"

/* grainsize(strict: n); num_tasks() is as strict without the word. */
#define STRICT_GRAIN (TASK_GRAINSIZE | TASK_STRICT)

/* Iterations of the first tasks, and how many have one more than the rest. */
struct split {
	uint64_t nr_tasks, each, nr_more;
};

static struct split split_loop(uint64_t nr, uint64_t asked, unsigned flags)
{
	struct split s = { .nr_tasks = asked };

	if (asked && (flags & STRICT_GRAIN) == STRICT_GRAIN) {
		/* The last task has what is left. */
		s.each = asked < nr ? asked : nr;
		s.nr_tasks = (nr - 1) / s.each + 1;
		return s;
	}
	if (!asked)
		s.nr_tasks = team_self()->nr;
	else if (flags & TASK_GRAINSIZE)
		s.nr_tasks = nr / asked ? nr / asked : 1;
	if (s.nr_tasks > nr)
		s.nr_tasks = nr;
	s.each = nr / s.nr_tasks;
	s.nr_more = nr % s.nr_tasks;
	return s;
}

static void run_loop_tasks(struct task_args *a, const struct split *s,
			   uint64_t begin, uint64_t step, uint64_t last_end)
{
	uint64_t i, end;

	a->is_bounded = true;
	for (i = 0; i < s->nr_tasks; i++) {
		end = i + 1 == s->nr_tasks
			      ? last_end
			      : begin + (s->each + (i < s->nr_more)) * step;
		a->bounds[0] = begin;
		a->bounds[1] = end;
		task_make(a, a->flags & TASK_IF);
		begin = end;
	}
}

/* The beginning of the argument of a loop with reductions. */
struct loop_head {
	uint64_t bounds[2];
	uintptr_t *reductions;
};

static void begin_group(const struct task_args *a)
{
	const struct loop_head *h = a->data;

	GOMP_taskgroup_start();
	if (a->flags & TASK_REDUCTION)
		GOMP_taskgroup_reduction_register(h->reductions);
}

/* The program asks whether there is memory that it has to give back. */
static void pass_over(const struct task_args *a)
{
	const struct loop_head *h = a->data;

	if (a->flags & TASK_REDUCTION)
		((struct reduction *)h->reductions)->memory = 0;
}

static void run_taskloop(struct task_args *a, uint64_t nr, uint64_t asked,
			 uint64_t begin, uint64_t step, uint64_t end)
{
	struct split s;

	if (!nr || cancel_drops(team_self(), gomp_self.group)) {
		pass_over(a);
		return;
	}
	s = split_loop(nr, asked, a->flags);
	if (!(a->flags & TASK_NOGROUP))
		begin_group(a);
	run_loop_tasks(a, &s, begin, step, end);
	if (!(a->flags & TASK_NOGROUP))
		GOMP_taskgroup_end();
}

#define TASKLOOP_ARGS(type)                                              \
	void (*fn)(void *), void *data, void (*copy)(void *, void *),    \
		long size, long align, unsigned flags, unsigned long nr, \
		int priority, type begin, type end, type step
#define TASKLOOP_ARGS_OF_CALL                                               \
	{                                                                   \
		.fn = fn, .data = data, .copy = copy, .size = (size_t)size, \
		.align = (size_t)align, .flags = flags                      \
	}

void GOMP_taskloop(TASKLOOP_ARGS(long))
{
	struct task_args a = TASKLOOP_ARGS_OF_CALL;
	uint64_t from = (uint64_t)begin, to = (uint64_t)end, n = 0;

	(void)priority;
	if (step > 0 && begin < end)
		n = (to - from - 1) / (uint64_t)step + 1;
	else if (step < 0 && begin > end)
		n = (from - to - 1) / -(uint64_t)step + 1;
	run_taskloop(&a, n, nr, from, (uint64_t)step, to);
}

void GOMP_taskloop_ull(TASKLOOP_ARGS(ull))
{
	struct task_args a = TASKLOOP_ARGS_OF_CALL;
	uint64_t n = 0;

	(void)priority;
	if (flags & TASK_UP && begin < end)
		n = (end - begin - 1) / step + 1;
	else if (!(flags & TASK_UP) && begin > end)
		n = (begin - end - 1) / -step + 1;
	run_taskloop(&a, n, nr, begin, step, end);
}
