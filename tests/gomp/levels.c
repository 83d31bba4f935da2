/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Regions of one thread and undeferred tasks, in which a thread is as it was
 * around them but for the task that runs: what regions inside have, and who
 * owns a nestable lock. And that a region of many leaves the number of threads
 * as it was.
 */
#include <omp.h>
#include <stdio.h>

static int nr_threads;

static void count_inside(int around)
{
#pragma omp parallel num_threads(around)
	{
#pragma omp parallel num_threads(1)
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp atomic
		nr_threads += omp_get_num_threads();
	}
	printf("threads in a region of one in one of %d: %d\n", around,
	       nr_threads);
	nr_threads = 0;
}

static void ask_max(void)
{
	int before = omp_get_max_threads(), inside = 0, in_region = 0, after;

#pragma omp parallel num_threads(7)
#pragma omp single
	in_region = omp_get_max_threads();
#pragma omp parallel
#pragma omp single
	after = omp_get_num_threads();
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp parallel
#pragma omp single
		inside = omp_get_num_threads();
	}
	printf("threads: %d %d %d %d\n", before == in_region,
	       before == omp_get_max_threads(), before == after,
	       before == inside);
}

static omp_nest_lock_t lock;
static int got;

static void test_lock(const char *where)
{
	printf("%s: %d\n", where, got);
	if (got)
		omp_unset_nest_lock(&lock);
	got = -1;
}

static void own_lock(void)
{
	omp_init_nest_lock(&lock);
	omp_set_nest_lock(&lock);
#pragma omp task if (0)
	got = omp_test_nest_lock(&lock);
	test_lock("an undeferred task");
#pragma omp task final(1)
	got = omp_test_nest_lock(&lock);
#pragma omp taskwait
	test_lock("a final task");
#pragma omp parallel num_threads(1)
	got = omp_test_nest_lock(&lock);
	test_lock("a region of one");
#pragma omp parallel num_threads(2)
#pragma omp master
	got = omp_test_nest_lock(&lock);
	test_lock("a region of two");
	got = omp_test_nest_lock(&lock);
	test_lock("the task that owns it");
	omp_unset_nest_lock(&lock);
	omp_destroy_nest_lock(&lock);
}

/* In each thread of a region, by turns. */
static void own_in_region(void)
{
#pragma omp parallel
#pragma omp critical
	own_lock();
}

int main(void)
{
	ask_max();
	omp_set_max_active_levels(3);
	count_inside(1);
	count_inside(2);
	own_lock();
	omp_set_max_active_levels(1);
	own_in_region();
	return 0;
}
