/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Constructs whose names tools show; the test looks for the lines of loops. */
#include <stdio.h>

#define NR 2000

static long sum[NR];

static void fill(long nr)
{
#pragma omp parallel for
	for (long i = 0; i < nr; i++)
		sum[i] = i;
}

static long grow(int depth)
{
	long left = 0, right = 0;

	if (depth == 0)
		return 1;
#pragma omp task shared(left)
	left = grow(depth - 1);
	right = grow(depth - 1);
#pragma omp taskwait
	return left + right;
}

static void halve(void)
{
#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 7) nowait /* the first loop */
		for (int i = 0; i < NR / 2; i++)
			sum[i] /= 2;
#pragma omp for schedule(guided) /* the second loop */
		for (int i = NR / 2; i < NR; i++)
			sum[i] /= 2;
	}
}

int main(void)
{
	long all = 0;

	fill(NR);
	for (int k = 0; k < 10; k++)
		halve();
#pragma omp parallel
#pragma omp single
	all = grow(8);
	for (int i = 0; i < NR; i++)
		all += sum[i];
	printf("%ld\n", all);
	return 0;
}
