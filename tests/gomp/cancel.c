/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Constructs that are cancelled, with OMP_CANCELLATION=true, and with false for
 * the argument "off"; "copies" is a form that libgomp does not survive. A line
 * is printed for each form; it depends neither on the number of threads nor on
 * who comes first.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURNS 50
#define MANY 1000

/* Who waits at a barrier goes on when another thread cancels the region. */
static void cancel_region(void)
{
	int turn, nr_after = 0, nr_begun = 0;

	for (turn = 0; turn < TURNS; turn++) {
		nr_begun = 0;
#pragma omp parallel
		{
#pragma omp atomic
			nr_begun++;
#pragma omp barrier
			if (omp_get_thread_num() ==
			    turn % omp_get_num_threads()) {
#pragma omp cancel parallel
			}
#pragma omp barrier
#pragma omp atomic
			nr_after++;
		}
		if (nr_begun < 1)
			nr_after++;
	}
	printf("region: %s\n", !nr_after		   ? "ends"
			       : nr_after < 16 * TURNS + 1 ? "runs"
							   : "wrong");
}

/* By one thread in the second of four barriers, with tasks around. */
static void cancel_among_tasks(void)
{
	int turn, nr_wrong = 0, nr_late = 0, nr = 0;

	for (turn = 0; turn < TURNS; turn++) {
#pragma omp parallel shared(nr, nr_late)
		{
			int i;

			for (i = 0; i < 10; i++) {
#pragma omp task
				{
#pragma omp atomic
					nr++;
				}
			}
#pragma omp barrier
#pragma omp single
			if (nr % 10)
				nr_wrong++;
			if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
			}
#pragma omp task
			{
#pragma omp atomic
				nr_late++;
			}
#pragma omp barrier
#pragma omp barrier
		}
		nr = 0;
	}
	printf("tasks before a cancelled region's barrier: %d wrong\n",
	       nr_wrong);
	printf("after it: %s\n", !omp_get_cancellation() || nr_late < 16 * TURNS
					 ? "fine"
					 : "wrong");
}

/* A loop that is cancelled leaves the next one whole. */
static void cancel_loops(void)
{
	int turn, i, nr_wrong = 0, nr_first = 0, nr_next = 0;

	for (turn = 0; turn < TURNS; turn++) {
#pragma omp parallel
		{
#pragma omp for schedule(static)
			for (i = 0; i < MANY; i++) {
#pragma omp atomic
				nr_first++;
#pragma omp cancel for
			}
#pragma omp for schedule(static)
			for (i = 0; i < MANY; i++) {
#pragma omp atomic
				nr_next++;
#pragma omp cancellation point for
			}
#pragma omp for schedule(dynamic, 3)
			for (i = 0; i < MANY; i++) {
				if (i == 17) {
#pragma omp cancel for
				}
#pragma omp cancellation point for
			}
#pragma omp for schedule(guided)
			for (i = 0; i < MANY; i++) {
#pragma omp atomic
				nr_next++;
#pragma omp cancellation point for
			}
		}
		nr_wrong += nr_next != 2 * MANY;
		nr_next = 0;
	}
	printf("loops after a cancelled one: %d wrong\n", nr_wrong);
	printf("the cancelled one: %s\n",
	       nr_first == MANY * TURNS			   ? "whole"
	       : nr_first <= TURNS * omp_get_max_threads() ? "one each"
							   : "wrong");
}

static void cancel_sections(void)
{
	int turn, nr = 0, nr_wrong = 0;

	for (turn = 0; turn < TURNS; turn++) {
#pragma omp parallel
#pragma omp sections reduction(+ : nr)
		{
#pragma omp section
			{
				nr++;
#pragma omp cancel sections
				nr_wrong += omp_get_cancellation();
			}
#pragma omp section
			{
#pragma omp cancellation point sections
				nr++;
			}
#pragma omp section
			{
				nr++;
#pragma omp cancel sections
				nr_wrong += omp_get_cancellation();
			}
		}
	}
	if (omp_get_cancellation())
		nr = nr >= TURNS && nr <= 3 * TURNS ? 3 * TURNS : 0;
	printf("sections: %d wrong, %d\n", nr_wrong, nr);
}

static void make_tasks(int *nr)
{
	int i;

	for (i = 0; i < 20; i++) {
#pragma omp task
		{
#pragma omp cancellation point taskgroup
#pragma omp atomic
			(*nr)++;
		}
	}
}

/* Tasks of the group that come later do not run, those of others do. */
static void cancel_group(void)
{
	int turn, nr_group = 0, nr_other = 0, nr_after = 0;

	for (turn = 0; turn < TURNS; turn++) {
#pragma omp parallel
#pragma omp single
		{
			make_tasks(&nr_other);
#pragma omp taskgroup
			{
#pragma omp task if (0)
				{
#pragma omp cancel taskgroup
				} make_tasks(&nr_group);
			}
#pragma omp taskgroup
			make_tasks(&nr_after);
		}
	}
	printf("group: %d of its tasks, %d of others, %d of the next\n",
	       nr_group, nr_other, nr_after);
}

static void cancel_taskloop(void)
{
	int turn, i, nr = 0;

	for (turn = 0; turn < TURNS; turn++) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
		{
#pragma omp task if (0)
			{
#pragma omp cancel taskgroup
			}
#pragma omp taskloop nogroup num_tasks(10)
			for (i = 0; i < 100; i++) {
#pragma omp atomic
				nr++;
			}
		}
	}
	printf("taskloop in it: %d\n", nr);
}

/* The outer region goes on. */
static void cancel_inner(void)
{
	int nr_outer = 0, nr_inner = 0;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	{
		int turn;

		for (turn = 0; turn < 10; turn++) {
#pragma omp parallel num_threads(2)
			{
#pragma omp cancel parallel
#pragma omp barrier
#pragma omp atomic
				nr_inner++;
			}
#pragma omp barrier
		}
#pragma omp atomic
		nr_outer++;
	}
	omp_set_max_active_levels(1);
	printf("inner region: %d, outer: %d\n", nr_inner, nr_outer);
}

/* One cancels while the others have a block's value copied. */
static void cancel_beside_copies(void)
{
	int turn, nr_wrong = 0;

	for (turn = 0; turn < TURNS; turn++) {
#pragma omp parallel
		{
			int value = 0;

			if (omp_get_thread_num() == 1) {
#pragma omp cancel parallel
			}
#pragma omp single copyprivate(value)
			value = 47;
			if (value != 47) {
#pragma omp atomic
				nr_wrong++;
			}
		}
	}
	printf("copies: %d wrong\n", nr_wrong);
}

int main(int argc, char **argv)
{
	const char *want =
		argc > 1 && !strcmp(argv[1], "off") ? "false" : "true";

	if (!getenv("OMP_CANCELLATION")) {
		setenv("OMP_CANCELLATION", want, 1);
		execv("/proc/self/exe", argv);
		return 1;
	}
	/* libgomp hangs there. */
	if (argc > 1 && !strcmp(argv[1], "copies")) {
		cancel_beside_copies();
		return 0;
	}
	printf("cancellation: %d\n", omp_get_cancellation());
	cancel_region();
	cancel_among_tasks();
	cancel_loops();
	cancel_sections();
	cancel_group();
	cancel_taskloop();
	cancel_inner();
	return 0;
}
