/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops of OpenMP whose iterations wait for others by number: sums over grids
 * that are wrong where an iteration comes too early. libgomp prints the same.
 * No type is unsigned, for gcc 12 takes the step back to an iteration for one
 * of almost 2^64 then.
 */
#include <omp.h>
#include <stdio.h>

#define SIDE 48

static unsigned long a[SIDE][SIDE], row[3 * SIDE];

#define DO(...) _Pragma(#__VA_ARGS__)

/* Each number out of the one before. */
#define CHAIN(type, ...)                                                    \
	{                                                                   \
		row[0] = 1;                                                 \
		DO(omp parallel for ordered(1) __VA_ARGS__)                 \
		for (type i = 1; i < 3 * SIDE; i++) {                       \
			DO(omp ordered depend(sink : i - 1))                \
			row[i] = row[i - 1] * 3 + (unsigned long)i;         \
			DO(omp ordered depend(source))                      \
		}                                                           \
		printf("chain " #type " " #__VA_ARGS__ ": %lu\n", row[77]); \
	}

/* A wave from two sides, of which each point needs three. */
#define WAVE(type, ...)                                                        \
	{                                                                      \
		for (int i = 0; i < SIDE; i++)                                 \
			for (int k = 0; k < SIDE; k++)                         \
				a[i][k] = (unsigned long)(i + k);              \
		DO(omp parallel)                                               \
		{                                                              \
			DO(omp for ordered(2) __VA_ARGS__)                     \
			for (type i = 1; i < SIDE; i++)                        \
				for (type k = 1; k < SIDE; k += 2) {           \
					DO(omp ordered depend(                 \
						sink                           \
						: i - 1, k) depend(sink        \
								   : i, k - 2) \
						   depend(sink                 \
							  : i - 1, k - 2))     \
					a[i][k] = a[i - 1][k] * 3 +            \
						  (k > 2 ? a[i][k - 2] : 1);   \
					DO(omp ordered depend(source))         \
				}                                              \
		}                                                              \
		printf("wave " #type " " #__VA_ARGS__ ": %lu\n",               \
		       a[SIDE - 1][SIDE - 1]);                                 \
	}

/* Downwards, of three loops, with iterations that wait for later rows. */
static void down(void)
{
	static unsigned long b[12][9][7];
	int i, k, l;

#pragma omp parallel for ordered(3) schedule(dynamic, 2) private(k, l)
	for (i = 10; i >= 0; i -= 2)
		for (k = 0; k < 9; k += 2)
			for (l = 6; l > 0; l--) {
#pragma omp ordered depend(sink                                 \
			   : i + 2, k, l) depend(sink           \
						 : i, k - 2, l) \
	depend(sink                                             \
	       : i, k, l + 1)
				b[i][k][l] = (i < 10 ? b[i + 2][k][l] : 3) +
					     (k > 1 ? b[i][k - 2][l] : 5) * 7 +
					     (l < 6 ? b[i][k][l + 1] : 1) * 31;
#pragma omp ordered depend(source)
			}
	printf("down: %lu\n", b[0][8][1]);
}

/* Sums of all iterations, two loops as one, and none at all. */
static void others(void)
{
	unsigned long sum = 0;
	int nr = 0;

#pragma omp parallel reduction(+ : nr)
	{
#pragma omp for ordered(2) collapse(1) reduction(+ : sum) schedule(dynamic)
		for (int i = 0; i < 30; i++)
			for (int k = 0; k < 4; k++) {
#pragma omp ordered depend(sink : i - 2, k)
				sum += (unsigned long)(i * k);
#pragma omp ordered depend(source)
			}
#pragma omp for ordered(1)
		for (int i = 9; i < 9; i++) {
#pragma omp ordered depend(sink : i - 1)
			nr++;
#pragma omp ordered depend(source)
		}
#pragma omp for ordered(1) schedule(dynamic, 3)
		for (int i = 0; i < 40; i++) {
			/* Far iterations, so several go on at a time. */
#pragma omp ordered depend(sink : i - 5)
			nr++;
#pragma omp ordered depend(source)
		}
	}
	printf("others: %lu %d\n", sum, nr);
}

int main(void)
{
	CHAIN(int, schedule(static))
	CHAIN(int, schedule(static, 5))
	CHAIN(long, schedule(dynamic))
	CHAIN(short, schedule(dynamic, 7))
	CHAIN(long long, schedule(guided))
	CHAIN(long long, schedule(runtime))
	CHAIN(long long, schedule(guided, 3))
	WAVE(int, schedule(static))
	WAVE(int, schedule(static, 2))
	WAVE(long, schedule(dynamic))
	WAVE(long, schedule(guided, 2))
	WAVE(long long, schedule(dynamic, 3))
	WAVE(long long, schedule(static))
	WAVE(int, schedule(runtime))
	omp_set_schedule(omp_sched_static, 0);
	WAVE(int, schedule(runtime))
	CHAIN(long long, schedule(runtime))
	down();
	others();
	return 0;
}
