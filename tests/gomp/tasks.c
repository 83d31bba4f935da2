/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tasks of OpenMP: each line is the same with libgomp. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int fib(int n)
{
	int a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fib(n - 1);
#pragma omp task shared(b)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

static void trees(void)
{
	int n = 0, i;

#pragma omp parallel
#pragma omp single
	n = fib(20);
	printf("fib: %d\n", n);
	/* Each thread makes some, and the barrier waits for all of them. */
	for (i = n = 0; i < 20; i++) {
#pragma omp parallel num_threads(4)
		{
#pragma omp task
#pragma omp atomic
			n++;
#pragma omp barrier
#pragma omp atomic
			n += 100;
#pragma omp task
			{
#pragma omp task
#pragma omp atomic
				n += 10000;
			}
		}
	}
	printf("barriers: %d\n", n);
}

struct large {
	char bytes[20000];
};

/* Arguments of all sizes, and one whose bytes must be aligned. */
static void arguments(void)
{
	struct large large;
	_Alignas(64) char aligned[64];
	int bad = 0, i;

	memset(&large, 3, sizeof(large));
	memset(aligned, 4, sizeof(aligned));
#pragma omp parallel num_threads(3)
#pragma omp single
	for (i = 0; i < 50; i++) {
		char some[i * 20 + 1];

		memset(some, i, sizeof(some));
#pragma omp task firstprivate(large, i)
		{
			if (large.bytes[i] != 3 || large.bytes[19999] != 3) {
#pragma omp atomic
				bad++;
			}
		}
#pragma omp task firstprivate(aligned)
		{
			if ((uintptr_t)aligned % 64 || aligned[63] != 4) {
#pragma omp atomic
				bad++;
			}
		}
#pragma omp task firstprivate(some, i)
		{
			if (some[0] != i || some[i * 20] != i) {
#pragma omp atomic
				bad++;
			}
		}
		memset(some, 99, sizeof(some));
	}
	printf("arguments: %d wrong\n", bad);
}

/* In the order that depend says. */
static void dependences(void)
{
	int x = 1, y = 0, log[64], nr = 0, i;

#pragma omp parallel num_threads(4)
#pragma omp single
	{
		for (i = 0; i < 10; i++) {
#pragma omp task depend(inout : x)
			x = x * 3 + 1;
		}
#pragma omp task depend(in : x) depend(out : y)
		y = x;
#pragma omp task depend(in : y) depend(out : x)
		x = y + 5;
#pragma omp taskwait depend(in : x)
		log[nr++] = x;
#pragma omp task if (0) depend(in : x)
		log[nr++] = x;
	}
	printf("depend: %d %d %d %d\n", x, y, nr, log[1]);
}

#define WIDE 24

/* A wave over a square, and more readers before a writer than fit one task. */
static void wave(void)
{
	static unsigned long a[WIDE + 1][WIDE + 1];
	unsigned long sum = 0, x = 1;
	int i, k;

	for (i = 0; i <= WIDE; i++)
		a[i][0] = a[0][i] = (unsigned long)i;
#pragma omp parallel num_threads(4)
#pragma omp single
	{
		for (i = 1; i <= WIDE; i++)
			for (k = 1; k <= WIDE; k++) {
#pragma omp task depend(in                                            \
			: a[i - 1][k], a[i][k - 1]) depend(out        \
							   : a[i][k]) \
	firstprivate(i, k)
				a[i][k] = a[i - 1][k] * 3 + a[i][k - 1];
			}
		for (i = 0; i < 1500; i++) {
#pragma omp task depend(in : x)
#pragma omp atomic
			sum += x;
		}
#pragma omp task depend(inout : x)
		x = sum;
#pragma omp task depend(mutexinoutset : x)
		x += 7;
	}
	printf("wave: %lu, readers %lu\n", a[WIDE][WIDE], x);
}

static void loops(void)
{
	long sum = 0;
	int n = 0;

#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp taskloop grainsize(7)
		for (int i = 5; i < 1000; i += 3) {
#pragma omp atomic
			sum += i;
		}
#pragma omp taskloop num_tasks(9) nogroup
		for (unsigned long long u = 1000; u > 100; u -= 100) {
#pragma omp atomic
			sum += (long)u;
		}
#pragma omp taskgroup
		{
#pragma omp task
			{
#pragma omp task
#pragma omp atomic
				n++;
			}
		}
		n += 10 * (n == 1);
	}
	printf("taskloops: %ld, group %d\n", sum, n);
}

/* More than wait at a time, some of them final, some at once. */
static void many(void)
{
	int n = 0, i, finals = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
	for (i = 0; i < 20000; i++) {
#pragma omp task if (i % 5) untied
#pragma omp atomic
		n++;
#pragma omp task final(i % 4 == 0) mergeable priority(3)
		if (omp_in_final()) {
#pragma omp task
#pragma omp atomic
			finals += omp_in_final();
		}
#pragma omp taskyield
	}
	printf("many: %d, final %d\n", n, finals);
}

/* Its number is that of a thread of the team, after a larger team, too. */
static void numbers(void)
{
	int i, nr = 0, bad = 0;

#pragma omp parallel num_threads(8) reduction(+ : nr)
	nr++;
	for (i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2)
#pragma omp single
		for (int k = 0; k < 200; k++) {
#pragma omp task
			{
				for (volatile int n = 0; n < 5000; n++)
					;
				if (omp_get_thread_num() > 1) {
#pragma omp atomic
					bad++;
				}
			}
		}
	}
	printf("numbers: %d, %d wrong\n", nr, bad);
}

/* A task begins with what its creator has set, and sets it for itself only. */
static void settings(void)
{
	int seen[5] = { 0 }, before = omp_get_max_threads();

#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task shared(seen)
		seen[0] = omp_get_max_threads();
		omp_set_num_threads(7);
#pragma omp task shared(seen)
		{
			seen[1] = omp_get_max_threads();
			omp_set_num_threads(3);
#pragma omp task shared(seen)
			seen[2] = omp_get_max_threads();
#pragma omp taskwait
		}
#pragma omp taskwait
		seen[3] = omp_get_max_threads();
#pragma omp task shared(seen) if (0)
		omp_set_num_threads(5);
		seen[4] = omp_get_max_threads();
	}
	printf("settings: %d %d %d %d, as before: %d\n", seen[1], seen[2],
	       seen[3], seen[4], seen[0] == before);
}

static void outside(void)
{
	int n = 0;

#pragma omp task shared(n)
	n++;
#pragma omp taskwait
#pragma omp taskloop shared(n)
	for (int i = 0; i < 10; i++)
		n++;
	printf("outside: %d\n", n);
}

int main(void)
{
	trees();
	arguments();
	dependences();
	wave();
	loops();
	many();
	numbers();
	settings();
	outside();
	return 0;
}
