/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Whether one task lies below another, in chains and trees of tasks that are
 * never run: the answer is that of the way up by parents, and the way by jumps
 * has as many steps as the logarithm of the length.
 */
#include "task/task.h"
#include "tests/tap.h"

#include <stdlib.h>

#define NR_TASKS 20000
#define NR_PAIRS 1000

static struct task *tasks;

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

/* Task i stands below one of the last few; 1: a chain. */
static void make(unsigned width, unsigned seed)
{
	unsigned i, back;

	memset(tasks, 0, NR_TASKS * sizeof(*tasks));
	for (i = 1; i < NR_TASKS; i++) {
		back = 1 + next_random(&seed) % width;
		task_set_parent(&tasks[i], &tasks[i > back ? i - back : 0]);
	}
}

static bool is_below(const struct task *t, const struct task *parent)
{
	while (t && t != parent)
		t = a_load(&t->parent, relaxed);
	return t != NULL;
}

static unsigned steps_to(const struct task *t, uint32_t depth)
{
	unsigned nr = 0;

	for (; t && a_load(&t->link.depth, relaxed) > depth; nr++)
		t = task_go_up(t, depth);
	return nr;
}

static void answers_are_right(const char *what)
{
	unsigned i, seed = 1, nr_wrong = 0, nr_below = 0;
	struct task *t, *parent;
	bool below;

	for (i = 0; i < NR_PAIRS; i++) {
		t = &tasks[next_random(&seed) % NR_TASKS];
		parent = &tasks[next_random(&seed) % NR_TASKS];
		if (i % 2)
			parent = &tasks[(unsigned)(t - tasks) / (1 + i % 7)];
		below = is_below(t, parent);
		nr_below += below;
		nr_wrong += task_is_below(t, parent) != below;
	}
	ok(nr_below > NR_PAIRS / 100,
	   "%s: %u of %u pairs are one below the other", what, nr_below,
	   NR_PAIRS);
	is(nr_wrong, 0, "each of which is known");
}

static void ways_are_short(const char *what)
{
	unsigned i, nr, seed = 7, most = 0;

	for (i = 0; i < NR_PAIRS; i++) {
		nr = steps_to(&tasks[NR_TASKS - 1],
			      next_random(&seed) % NR_TASKS);
		most = nr > most ? nr : most;
	}
	ok(most <= TASK_DEEP + 3 * 15, "%s: no way up has more than %u steps",
	   what, most);
}

/* What a thief may see of a task that stood elsewhere before. */
static void memory_is_used_again(void)
{
	make(1, 1);
	task_set_parent(&tasks[NR_TASKS - 1], &tasks[5]);
	ok(!task_is_below(&tasks[NR_TASKS - 1], &tasks[6]) &&
		   task_is_below(&tasks[NR_TASKS - 1], &tasks[5]),
	   "a task that was deep is not any more");
	a_store(&tasks[200].jump, &tasks[NR_TASKS - 2], relaxed);
	ok(task_is_below(&tasks[200], &tasks[150]),
	   "a jump that leads down is not taken");
}

int main(void)
{
	tap_start(60);
	tasks = aligned_alloc(CACHE_LINE, NR_TASKS * sizeof(*tasks));
	if (!tasks)
		return 1;
	make(1, 1);
	answers_are_right("a chain");
	ways_are_short("a chain");
	make(3, 1);
	answers_are_right("a thin tree");
	ways_are_short("a thin tree");
	memory_is_used_again();
	free(tasks);
	return tap_end();
}
