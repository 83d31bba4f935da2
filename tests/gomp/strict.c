/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How a taskloop is cut: where each task begins. gcc before 12 does not know
 * the word strict; there the clauses are as without it.
 */
#include <stdio.h>
#include <string.h>

#define MOST 120

#if __GNUC__ >= 12
#define STRICT \
	strict:
#else
#define STRICT
#endif

static char begins[MOST];

static void note(int i, int *is_first)
{
	if (*is_first)
		begins[i] = 1;
	*is_first = 0;
}

static void print_cuts(const char *what, int nr, int asked)
{
	int i;

	printf("%s %d of %d:", what, asked, nr);
	for (i = 0; i < MOST; i++)
		if (begins[i])
			printf(" %d", i);
	printf("\n");
	memset(begins, 0, sizeof(begins));
}

static void cut_up(int nr, int asked)
{
	int i, is_first = 1;

#pragma omp taskloop grainsize(STRICT asked) firstprivate(is_first)
	for (i = 0; i < nr; i++)
		note(i, &is_first);
	print_cuts("strict grains of", nr, asked);
#pragma omp taskloop num_tasks(STRICT asked) firstprivate(is_first)
	for (i = 0; i < nr; i++)
		note(i, &is_first);
	print_cuts("strict tasks", nr, asked);
#pragma omp taskloop grainsize(asked) firstprivate(is_first)
	for (i = 0; i < nr; i++)
		note(i, &is_first);
	print_cuts("grains of", nr, asked);
#pragma omp taskloop num_tasks(asked) firstprivate(is_first)
	for (i = 0; i < nr; i++)
		note(i, &is_first);
	print_cuts("tasks", nr, asked);
}

static void cut_down(unsigned long long nr, int asked)
{
	unsigned long long i;
	int is_first = 1;

#pragma omp taskloop grainsize(STRICT asked) firstprivate(is_first)
	for (i = nr; i > 0; i--)
		note((int)i - 1, &is_first);
	print_cuts("downward", (int)nr, asked);
#pragma omp taskloop grainsize(STRICT asked) firstprivate(is_first)
	for (i = 0; i < nr; i += 3)
		note((int)i, &is_first);
	print_cuts("by threes", (int)nr, asked);
}

int main(void)
{
	static const int asked[] = { 1, 3, 7, 50, 99, 100, 101, 1000 };
	int nr, i;

#pragma omp parallel
#pragma omp single
	for (nr = 1; nr <= 100; nr += 33)
		for (i = 0; i < 8; i++) {
			cut_up(nr, asked[i]);
			cut_down((unsigned long long)nr, asked[i]);
		}
	return 0;
}
