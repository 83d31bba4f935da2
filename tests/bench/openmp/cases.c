/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * cases CASE NR: NR times a piece of work with OpenMP, after one that is not
 * measured; prints ns of wall time and of CPU time for one of them, and what it
 * has computed. The same program runs with libgomp and with liblkdf-gomp.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NR_ROWS 200000
#define NR_VALUES 4096
#define FIB 24
#define NR_EMPTY 2000

/* About 0.2 ms each. */
#define SHORT_FIB 17
#define SHORT_ROWS 4000
#define NR_SHORT 50

static double values[NR_VALUES], sums[NR_ROWS];

/* A row of a sparse matrix: 20 to 80 products, read all over an array. */
static double sum_row(unsigned row)
{
	unsigned nr = 20 + row * 7919 % 61, at = row * 31, i;
	double sum = 0;

	for (i = 0; i < nr; i++, at += 769)
		sum += values[at % NR_VALUES] * (double)i;
	return sum;
}

static void run_static(void)
{
#pragma omp parallel for schedule(static)
	for (unsigned i = 0; i < NR_ROWS; i++)
		sums[i] = sum_row(i);
}

static void run_dynamic(void)
{
#pragma omp parallel for schedule(dynamic, 1)
	for (unsigned i = 0; i < NR_ROWS; i++)
		sums[i] = sum_row(i);
}

static void run_dynamic50(void)
{
#pragma omp parallel for schedule(dynamic, 50)
	for (unsigned i = 0; i < NR_ROWS; i++)
		sums[i] = sum_row(i);
}

static void run_guided(void)
{
#pragma omp parallel for schedule(guided)
	for (unsigned i = 0; i < NR_ROWS; i++)
		sums[i] = sum_row(i);
}

static uint64_t find_fib(unsigned n)
{
	uint64_t left, right;

	if (n < 2)
		return n;
#pragma omp task shared(left)
	left = find_fib(n - 1);
	right = find_fib(n - 2);
#pragma omp taskwait
	return left + right;
}

static void run_tasks(void)
{
#pragma omp parallel
#pragma omp single
	sums[0] = (double)find_fib(FIB);
}

static void run_empty(void)
{
	for (unsigned i = 0; i < NR_EMPTY; i++) {
#pragma omp parallel
		__asm__ volatile("");
	}
}

/* A region of 0.2 ms after as long without one: its team sleeps by then. */
static void run_short(void)
{
	for (unsigned i = 0; i < NR_SHORT; i++) {
		for (unsigned row = 0; row < SHORT_ROWS; row++)
			sums[row] = sum_row(row);
#pragma omp parallel
#pragma omp single
		sums[i] = (double)find_fib(SHORT_FIB);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
	unsigned parts; /* what one is told in */
} cases[] = {
	{ "static", run_static, 1 },	   { "dynamic", run_dynamic, 1 },
	{ "dynamic50", run_dynamic50, 1 }, { "guided", run_guided, 1 },
	{ "tasks", run_tasks, 1 },	   { "short", run_short, NR_SHORT },
	{ "empty", run_empty, NR_EMPTY },
};

static double ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned nr = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0, i, k;
	double wall, cpu, sum = 0;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc > 1 && !strcmp(cases[i].name, argv[1]))
			break;
	if (!nr || i == sizeof(cases) / sizeof(cases[0]))
		return 2;
	for (k = 0; k < NR_VALUES; k++)
		values[k] = sqrt(k);
	cases[i].run();
	wall = ns_of(CLOCK_MONOTONIC);
	cpu = ns_of(CLOCK_PROCESS_CPUTIME_ID);
	for (k = 0; k < nr; k++)
		cases[i].run();
	cpu = (ns_of(CLOCK_PROCESS_CPUTIME_ID) - cpu) / nr / cases[i].parts;
	wall = (ns_of(CLOCK_MONOTONIC) - wall) / nr / cases[i].parts;
	for (k = 0; k < NR_ROWS; k++)
		sum += sums[k];
	printf("%.1f %.1f %.17g\n", wall, cpu, sum);
	return 0;
}
