/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads that lose their CPU, played by a body that waits until all work has
 * been done that does not have to wait for it: what was not begun is taken by
 * others. Tasks that wait while a thread makes more of them are bounded.
 */
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NR 3000
#define NR_TASKS 20000
/* libgomp's bound of tasks that wait, for each thread; ours counts 32 at a
 * time. */
#define MANY 64
#define SLACK 64

static atomic_int nr_done, is_over;

static void await_done(int nr)
{
	while (atomic_load(&nr_done) < nr)
		sched_yield();
}

/* Iteration 0 is held until all others have been done. */
static void hold_dynamic(void)
{
	atomic_store(&nr_done, 0);
#pragma omp parallel for schedule(dynamic, 1)
	for (int i = 0; i < NR; i++) {
		if (i == 0 && omp_get_num_threads() > 1)
			await_done(NR - 1);
		atomic_fetch_add(&nr_done, 1);
	}
	printf("dynamic: %d\n", atomic_load(&nr_done));
}

/* The last iteration of the first chunk, which one thread has to itself. */
static void hold_chunk(void)
{
	atomic_store(&nr_done, 0);
#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 50)
		for (int i = 0; i < NR; i++) {
			if (i == 49 && omp_get_num_threads() > 1)
				await_done(NR - 1);
			atomic_fetch_add(&nr_done, 1);
		}
	}
	printf("chunks: %d\n", atomic_load(&nr_done));
}

/* Chunks of guided are no larger than what each thread's part would be. */
static void hold_guided(void)
{
	atomic_store(&nr_done, 0);
#pragma omp parallel for schedule(guided, 10)
	for (int i = 0; i < NR; i++) {
		int nr = omp_get_num_threads();

		if (i == 0 && nr > 1)
			await_done(NR - (NR + nr - 1) / nr);
		atomic_fetch_add(&nr_done, 1);
	}
	printf("guided: %d\n", atomic_load(&nr_done));
}

/* A loop with nowait: threads that are done go on to the next one. */
static void hold_nowait(void)
{
	atomic_store(&nr_done, 0);
#pragma omp parallel
	{
#pragma omp for schedule(static) nowait
		for (int i = 0; i < omp_get_num_threads(); i++)
			if (i == 0 && omp_get_num_threads() > 1)
				await_done(NR);
#pragma omp for schedule(dynamic, 7)
		for (int i = 0; i < NR; i++)
			atomic_fetch_add(&nr_done, 1);
	}
	printf("nowait: %d\n", atomic_load(&nr_done));
}

/* A task is held until all others have been run. */
static void hold_task(void)
{
	atomic_store(&nr_done, 0);
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 50; i++) {
#pragma omp task
		{
			if (i == 0 && omp_get_num_threads() > 1)
				await_done(49);
			atomic_fetch_add(&nr_done, 1);
		}
	}
	printf("tasks: %d\n", atomic_load(&nr_done));
}

/* All threads but the one that makes tasks are held: how many wait at most. */
static void count_waiting(void)
{
	int most = 0, nr = 0;

	atomic_store(&nr_done, 0);
	atomic_store(&is_over, 0);
#pragma omp parallel
	{
		nr = omp_get_num_threads();
#pragma omp barrier
#pragma omp master
		{
			for (int i = 0; i < NR_TASKS; i++) {
#pragma omp task
				atomic_fetch_add(&nr_done, 1);
				int wait = i + 1 - atomic_load(&nr_done);

				most = wait > most ? wait : most;
			}
			atomic_store(&is_over, 1);
		}
		while (!atomic_load(&is_over))
			sched_yield();
	}
	printf("waiting: %s\n",
	       most <= MANY * nr + SLACK ? "bounded" : "not bounded");
	printf("run: %d\n", atomic_load(&nr_done));
}

/* With omp_set_dynamic() a region has as many threads as there are CPUs left,
 * one at least. */
static void ask_dynamic(void)
{
	int nr = 0;

	omp_set_dynamic(1);
#pragma omp parallel num_threads(40)
#pragma omp master
	nr = omp_get_num_threads();
	printf("dynamic threads: %s\n",
	       nr >= 1 && nr <= omp_get_num_procs() ? "as CPUs" : "too many");
	omp_set_dynamic(0);
#pragma omp parallel num_threads(3)
#pragma omp master
	nr = omp_get_num_threads();
	printf("threads: %d\n", nr);
}

int main(void)
{
	hold_dynamic();
	hold_chunk();
	hold_guided();
	hold_nowait();
	hold_task();
	count_waiting();
	ask_dynamic();
	return 0;
}
