/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks of OpenMP that end when the program says so: each line is the same with
 * libgomp.
 */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

#define NR 20

/* A thread that is none of OpenMP's, some time later. */
static void *fulfill(void *u)
{
	omp_fulfill_event(*(omp_event_handle_t *)u);
	return NULL;
}

static void by_others(void)
{
	omp_event_handle_t one, two, later;
	int x = 0, y = 0, z = 0;
	pthread_t thread;

#pragma omp parallel
#pragma omp single
	{
#pragma omp task detach(one)
		x++;
#pragma omp task detach(two)
		{
			y++;
			omp_fulfill_event(one);
		}
#pragma omp task
		{
			z++;
			omp_fulfill_event(two);
		}
#pragma omp taskwait
		x += 10 * y * z;
#pragma omp task detach(later)
		y++;
		pthread_create(&thread, NULL, fulfill, &later);
#pragma omp taskwait
		x += 100 * y;
	}
	pthread_join(thread, NULL);
	printf("by others: %d %d %d\n", x, y, z);
}

/* Each after the one before, whose event another task fulfills. */
static void in_order(void)
{
	omp_event_handle_t event[NR];
	int n = 0, i;

#pragma omp parallel
#pragma omp single
	for (i = 0; i < NR; i++) {
		omp_event_handle_t now;

#pragma omp task detach(now) depend(inout : n) firstprivate(i)
		n = n * 3 + i;
		event[i] = now;
#pragma omp task firstprivate(i)
		omp_fulfill_event(event[i]);
	}
	printf("in order: %d\n", n);
}

/* The barrier and the group wait, too; fulfilled by themselves, and at once. */
static void groups(void)
{
	int n = 0, early = 0, i;

#pragma omp parallel private(i)
	{
#pragma omp single
		{
#pragma omp taskgroup
			for (i = 0; i < NR; i++) {
				omp_event_handle_t own;

#pragma omp task detach(own) if (i % 3)
				{
#pragma omp atomic
					n++;
					omp_fulfill_event(own);
				}
			}
			early = n;
		}
#pragma omp single nowait
		for (i = 0; i < 3 * NR; i++) {
			omp_event_handle_t now;

#pragma omp task detach(now)
#pragma omp atomic
			n++;
			omp_fulfill_event(now);
		}
#pragma omp barrier
#pragma omp single
		early += n;
	}
	printf("groups: %d %d\n", n, early);
}

int main(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		by_others();
		in_order();
		groups();
	}
	return 0;
}
