/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each thread of a region sets up what its tasks use: a buffer, and a copy of
 * the first thread's variable (copyin). A task that finds neither runs on a
 * thread whose part of the region has not begun. The first regions of a process
 * are the likeliest to have such a task; a nested one begins with new threads,
 * too.
 */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define REGIONS 3
#define TASKS 64

static _Thread_local int *scratch;
static int stamp;
#pragma omp threadprivate(stamp)
static atomic_int nr_null, nr_stale;
static int sum;

static void use(int i, int want)
{
	volatile int k;

	if (stamp != want)
		nr_stale++;
	if (scratch)
		scratch[i % 16]++;
	else
		nr_null++;
	for (k = 0; k < 300; k++)
		;
}

static void make_tasks(int want)
{
	int i;

#pragma omp single
	for (i = 0; i < TASKS; i++)
#pragma omp task firstprivate(i)
		use(i, want);
#pragma omp single
#pragma omp taskloop
	for (i = 0; i < TASKS; i++)
		use(i, want);
}

static void region(int want)
{
	stamp = want;
#pragma omp parallel copyin(stamp)
	{
		scratch = calloc(16, sizeof(*scratch));
		make_tasks(want);
		free(scratch);
		scratch = NULL;
	}
}

static void reduce(int want)
{
	int i;

	stamp = want;
#pragma omp parallel copyin(stamp) reduction(task, + : sum)
	{
		scratch = calloc(16, sizeof(*scratch));
#pragma omp single
		for (i = 0; i < TASKS; i++)
#pragma omp task firstprivate(i) in_reduction(+ : sum)
		{
			sum += i;
			use(i, want);
		}
		free(scratch);
		scratch = NULL;
	}
}

int main(void)
{
	int i;

	for (i = 1; i <= REGIONS; i++)
		region(i);
	reduce(i);
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	region(100 + omp_get_thread_num());
	printf("null %d, stale %d, sum %d\n", nr_null, nr_stale, sum);
	return 0;
}
