/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Regions of OpenMP, threads and what they do together: each line is the same
 * with libgomp. Threads that libgomp takes for one are one.
 */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int mine;
#pragma omp threadprivate(mine)

static void thread_private(void)
{
	int bad = 0, i;

#pragma omp parallel num_threads(3)
	mine = omp_get_thread_num() * 7 + 1;
	for (i = 0; i < 21; i++) {
#pragma omp parallel num_threads(3) reduction(+ : bad)
		bad += mine != omp_get_thread_num() * 7 + 1;
	}
	printf("threadprivate: %d wrong\n", bad);
	mine = 5;
#pragma omp parallel num_threads(3) copyin(mine) reduction(+ : bad)
	bad += mine != 5;
	printf("copyin: %d wrong\n", bad);
}

static void blocks(void)
{
	int singles = 0, masters = 0, sum = 0, sections = 0, named = 0, i;
	double x = 0;

#pragma omp parallel private(i)
	for (i = 0; i < 100; i++) {
		int got = -1;

#pragma omp single
		singles++;
#pragma omp single copyprivate(got)
		got = i;
#pragma omp critical
		sum += got == i;
#pragma omp master
		masters++;
#pragma omp barrier
#pragma omp sections reduction(+ : sections)
		{
#pragma omp section
			sections++;
#pragma omp section
			sections += 10;
#pragma omp section
			sections += 100;
		}
#pragma omp critical(name)
		named++;
#pragma omp atomic
		x += 0.5;
	}
	sum /= omp_get_max_threads();
	named /= omp_get_max_threads();
	printf("blocks: %d %d %d %d %d %g\n", singles, masters, sum, sections,
	       named, x / omp_get_max_threads());
#pragma omp parallel sections num_threads(2) reduction(+ : sum)
	{
#pragma omp section
		sum++;
#pragma omp section
		sum += 2;
	}
	printf("sections: %d\n", sum);
}

static void levels(void)
{
	int nr = 0, deepest = 0, bad = 0;

	printf("outside: %d %d %d %d %d\n", omp_in_parallel(),
	       omp_get_num_threads(), omp_get_thread_num(), omp_get_level(),
	       omp_get_active_level());
#pragma omp parallel num_threads(2) reduction(+ : nr, bad) \
	reduction(max : deepest)
	{
		int outer = omp_get_thread_num();

		bad += omp_get_level() != 1 || omp_get_active_level() != 1;
		bad += omp_get_team_size(0) != 1 || omp_get_team_size(1) != 2;
#pragma omp parallel num_threads(2) reduction(+ : nr, bad) \
	reduction(max : deepest)
		{
			nr++;
			bad += omp_get_ancestor_thread_num(1) != outer;
			bad += omp_get_ancestor_thread_num(0) != 0;
			bad += omp_get_ancestor_thread_num(3) != -1;
			if (omp_get_level() > deepest)
				deepest = omp_get_level();
		}
	}
	printf("levels: %d threads, depth %d, %d wrong\n", nr, deepest, bad);
}

static void settings(void)
{
	int bad = 0, nr = omp_get_max_threads();
	omp_sched_t kind;
	int chunk;

	omp_set_num_threads(5);
#pragma omp parallel reduction(+ : bad)
	{
		bad += omp_get_num_threads() != 5;
		omp_set_num_threads(2);
		bad += omp_get_max_threads() != 2;
	}
	printf("settings: %d wrong, %d\n", bad, omp_get_max_threads());
	omp_set_num_threads(nr);
	omp_set_dynamic(1);
	printf("dynamic: %d\n", omp_get_dynamic());
	omp_set_dynamic(0);
	omp_set_schedule(omp_sched_dynamic, 7);
	omp_get_schedule(&kind, &chunk);
	printf("schedule: %d %d\n", (int)kind, chunk);
	omp_set_max_active_levels(3);
	printf("levels: %d\n", omp_get_max_active_levels());
#pragma omp parallel if (nr > 10000) reduction(+ : bad)
	bad += omp_get_num_threads() != 1;
	printf("if: %d wrong, limit %d\n", bad, omp_get_thread_limit() > 0);
}

static void locks(void)
{
	omp_nest_lock_t nest;
	omp_lock_t lock;
	long sum = 0, nested = 0;
	int i, most = 0;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
#pragma omp parallel for num_threads(4) schedule(dynamic)
	for (i = 0; i < 2000; i++) {
		if (i % 3)
			omp_set_lock(&lock);
		else
			while (!omp_test_lock(&lock))
				sched_yield();
		sum += i;
		omp_unset_lock(&lock);
		omp_set_nest_lock(&nest);
		omp_set_nest_lock(&nest);
		nested += i;
		if (omp_test_nest_lock(&nest) > most)
			most = 3;
		omp_unset_nest_lock(&nest);
		omp_unset_nest_lock(&nest);
		omp_unset_nest_lock(&nest);
	}
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nest);
	printf("locks: %ld %ld %d\n", sum, nested, most);
}

static void *other(void *u)
{
	int i, sum = 0;

	for (i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
		sum += 1 + omp_get_thread_num();
	}
	*(int *)u = sum;
	return NULL;
}

/* Each thread of the program has teams of its own. */
static void other_threads(void)
{
	pthread_t threads[3];
	int sums[3], i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, other, &sums[i]);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("others: %d %d %d\n", sums[0], sums[1], sums[2]);
}

/* libgomp hangs in a child whose parent has had a region. */
static void forked(void)
{
	int sum = 0, status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
		sum += 1 + omp_get_thread_num();
		_exit(sum);
	}
	waitpid(pid, &status, 0);
	printf("forked: %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	(void)argv;
	thread_private();
	blocks();
	levels();
	locks();
	other_threads();
	settings();
	levels();
	omp_set_max_active_levels(1);
	thread_private();
	if (argc > 1)
		forked();
	return 0;
}
