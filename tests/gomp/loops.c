/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops of OpenMP of every schedule, in a region of their own and in one with
 * more statements, for gcc makes other calls of them: each line says how often
 * iterations ran, and their sum. libgomp prints the same.
 */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define MANY 5000

static int seen[MANY];

/* Iterations that did not run once. */
static int wrong(int nr)
{
	int i, n = 0;

	for (i = 0; i < MANY; i++)
		n += seen[i] != (i < nr);
	memset(seen, 0, sizeof(seen));
	return n;
}

#define DO(...) _Pragma(#__VA_ARGS__)

#define WHOLE(name, ...)                                                  \
	{                                                                 \
		long sum = 0;                                             \
		DO(omp parallel for reduction(+ : sum) __VA_ARGS__)       \
		for (int i = 0; i < nr; i++) {                            \
			DO(omp atomic)                                    \
			seen[i]++;                                        \
			sum += i;                                         \
		}                                                         \
		printf("%s %d: %d wrong, sum %ld\n", name, nr, wrong(nr), \
		       sum);                                              \
	}

#define INSIDE(name, ...)                                                     \
	{                                                                     \
		long sum = 0;                                                 \
		int nr_threads = 0;                                           \
		DO(omp parallel reduction(+ : sum, nr_threads))               \
		{                                                             \
			nr_threads++;                                         \
			DO(omp for __VA_ARGS__)                               \
			for (int i = 0; i < nr; i++) {                        \
				DO(omp atomic)                                \
				seen[i]++;                                    \
				sum += i;                                     \
			}                                                     \
			nr_threads += 100;                                    \
		}                                                             \
		printf("%s %d: %d wrong, sum %ld, %d\n", name, nr, wrong(nr), \
		       sum, nr_threads);                                      \
	}

static void all_schedules(int nr)
{
	WHOLE("static", schedule(static))
	WHOLE("static,3", schedule(static, 3))
	WHOLE("dynamic", schedule(dynamic))
	WHOLE("dynamic,50", schedule(dynamic, 50))
	WHOLE("monotonic", schedule(monotonic : dynamic, 2))
	WHOLE("guided", schedule(guided))
	WHOLE("guided,7", schedule(guided, 7))
	WHOLE("monotonic guided", schedule(monotonic : guided))
	WHOLE("auto", schedule(auto))
	WHOLE("runtime", schedule(runtime))
	WHOLE("monotonic runtime", schedule(monotonic : runtime))
	INSIDE("in static", schedule(static))
	INSIDE("in static,3 nowait", schedule(static, 3) nowait)
	INSIDE("in dynamic", schedule(dynamic))
	INSIDE("in dynamic,9 nowait", schedule(dynamic, 9) nowait)
	INSIDE("in monotonic", schedule(monotonic : dynamic))
	INSIDE("in guided", schedule(guided))
	INSIDE("in guided monotonic", schedule(monotonic : guided, 5))
	INSIDE("in auto", schedule(auto))
	INSIDE("in runtime", schedule(runtime))
	INSIDE("in runtime monotonic", schedule(monotonic : runtime))
}

/* Bounds that a signed difference, or one iteration more, would not hold. */
static void odd_bounds(void)
{
	unsigned long long n = 0, sum = 0, u, top = ULLONG_MAX;
	long m = 0, low = LONG_MIN, high = LONG_MAX, l, last = 0;

#pragma omp parallel for schedule(dynamic, 3) reduction(+ : m)
	for (l = low; l < high - LONG_MAX / 7; l += LONG_MAX / 7)
		m++;
	printf("whole long: %ld\n", m);
	m = 0;
#pragma omp parallel for schedule(guided) reduction(+ : m)
	for (l = 100; l > -100; l -= 3)
		m += l;
	printf("down: %ld\n", m);
#pragma omp parallel for schedule(dynamic, 5) reduction(+ : n)
	for (u = top - 17; u < top - 1; u += 2)
		n++;
	printf("top: %llu\n", n);
	n = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : n, sum)
	for (u = top; u > top / 2; u -= top / 9) {
		n++;
		sum += u;
	}
	printf("down from the top: %llu, %llu\n", n, sum);
	n = 0;
#pragma omp parallel for schedule(guided, 2) reduction(+ : n)
	for (u = 5; u < 5; u++)
		n++;
	printf("none: %llu\n", n);
#pragma omp parallel for schedule(dynamic, 4) lastprivate(last)
	for (l = 3; l < 100; l += 4)
		last = l;
	printf("last: %ld\n", last);
	m = 0;
#pragma omp parallel for collapse(2) schedule(dynamic, 3) reduction(+ : m)
	for (int i = 0; i < 13; i++)
		for (int k = 9; k > 0; k -= 2)
			m += i * k;
	printf("two: %ld\n", m);
}

static void in_order(void)
{
	int i;

#pragma omp parallel for ordered schedule(dynamic, 2)
	for (i = 0; i < 20; i++) {
#pragma omp ordered
		printf("%d ", i);
	}
#pragma omp parallel
	{
#pragma omp for ordered schedule(static, 3)
		for (int k = 9; k >= 0; k--) {
			if (k % 3)
				continue;
#pragma omp ordered
			printf("%d ", k);
		}
#pragma omp for ordered schedule(guided)
		for (unsigned long long u = 0; u < 30; u += 3) {
#pragma omp ordered
			printf("%llu ", u);
		}
#pragma omp for ordered schedule(runtime)
		for (int k = 0; k < 7; k++) {
#pragma omp ordered
			printf("%d ", k);
		}
	}
	printf("\n");
}

/* Many constructs in a row without a barrier: threads are far apart. */
static void far_apart(void)
{
	long sum = 0;

#pragma omp parallel reduction(+ : sum)
	for (int round = 0; round < 300; round++) {
#pragma omp for schedule(dynamic, 1) nowait
		for (int i = 0; i < 5; i++)
			sum += i;
#pragma omp single nowait
		sum += 1000;
#pragma omp sections nowait
		{
#pragma omp section
			sum += 100000;
#pragma omp section
			sum += 200000;
		}
	}
	printf("far apart: %ld\n", sum);
}

/* Running sums, whose memory the construct gives. */
static void scan_sums(void)
{
	int a[100], sum = 0, i;

#pragma omp parallel for reduction(inscan, + : sum)
	for (i = 0; i < 100; i++) {
		sum += i;
#pragma omp scan inclusive(sum)
		a[i] = sum;
	}
	printf("scan: %d %d\n", a[50], a[99]);
}

/* Threads are in several loops at a time. */
static void in_a_row(void)
{
	int nr_seen[200] = { 0 }, bad = 0, k;

#pragma omp parallel private(k)
	for (k = 0; k < 200; k++) {
#pragma omp for schedule(dynamic, 1) nowait
		for (int i = 0; i < 300 + k; i++) {
#pragma omp atomic
			nr_seen[k] += i;
		}
	}
	for (k = 0; k < 200; k++)
		bad += nr_seen[k] != (300 + k) * (299 + k) / 2;
	printf("in a row: %d wrong\n", bad);
}

/* The last value that was written, by the order of iterations. */
static void last_written(void)
{
	int x = -1;

#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 2) lastprivate(conditional : x)
		for (int i = 0; i < 100; i++)
			if (i % 7 == 3)
				x = i;
	}
	printf("last written: %d\n", x);
}

int main(void)
{
	static const int sizes[] = { 0, 1, 2, 15, 1000, MANY };
	unsigned i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		all_schedules(sizes[i]);
	omp_set_schedule(omp_sched_guided, 4);
	all_schedules(777);
	odd_bounds();
	in_order();
	far_apart();
	scan_sums();
	in_a_row();
	last_written();
	return 0;
}
