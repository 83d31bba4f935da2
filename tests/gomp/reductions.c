/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Reductions of OpenMP's tasks: each line is the same with libgomp. */
#include <omp.h>
#include <stdio.h>

/* A matrix: products depend on their order, so these all commute. */
struct turn {
	unsigned long a, b;
};

static void add_turn(struct turn *to, const struct turn *more)
{
	to->a += more->a;
	to->b ^= more->b;
}

static void start_turn(struct turn *t, const struct turn *original)
{
	t->a = original->a & 1;
	t->b = 0;
}

#pragma omp declare reduction(turn                           \
			      : struct turn                  \
			      : add_turn(&omp_out, &omp_in)) \
	initializer(start_turn(&omp_priv, &omp_orig))

static void tree(int n, long *sum, double *product)
{
	if (!n)
		return;
#pragma omp task in_reduction(+ : sum[0]) in_reduction(* : product[0])
	{
		sum[0] += n;
		product[0] *= n % 3 ? 1 : 2;
		tree(n - 1, sum, product);
		sum[0] += 1000;
	}
#pragma omp task in_reduction(+ : sum[0])
	sum[0] += n * n;
}

static void groups(void)
{
	long sum = 7, inner = 1;
	double product = 1;
	struct turn t = { 2, 9 };
	int i, k;

#pragma omp parallel
#pragma omp single
	{
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(* : product)
		tree(12, &sum, &product);
#pragma omp taskgroup task_reduction(turn : t) task_reduction(max : inner)
		for (i = 0; i < 50; i++) {
#pragma omp task in_reduction(turn : t) firstprivate(i)
			{
				t.a += (unsigned long)i;
				t.b ^= 1ul << i;
			}
#pragma omp task in_reduction(max : inner) firstprivate(i)
			if (i * i % 41 > inner)
				inner = i * i % 41;
		}
	}
	printf("groups: %ld %g, %lu %lx, %ld\n", sum, product, t.a, t.b, inner);
	inner = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
	for (i = 0; i < 5; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i) private(k)
		{
#pragma omp taskgroup task_reduction(+ : inner, sum)
			for (k = 0; k < 6; k++) {
#pragma omp task in_reduction(+ : inner, sum)
				{
					inner += k;
					sum += i;
				}
			}
			sum += 100;
		}
	}
	printf("group in group: %ld %ld\n", sum, inner);
}

#define NR 10

static void arrays(int nr)
{
	int a[NR] = { 1, 2, 3 }, b[nr], i, sum = 0;

	for (i = 0; i < nr; i++)
		b[i] = -i;
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : a, b [0:nr])
	for (i = 0; i < 200; i++) {
#pragma omp task in_reduction(+ : a) in_reduction(+ : b [0:nr])
		{
			a[i % NR] += i;
			b[i % nr] += 2 * i;
		}
	}
	for (i = 0; i < nr; i++)
		sum = sum * 3 + b[i];
	for (i = 0; i < NR; i++)
		sum = sum * 3 + a[i];
	printf("arrays: %d\n", sum);
}

static void loops(void)
{
	long sum = 0, other = 5;
	unsigned long long u;
	int i;

#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp taskloop reduction(+ : sum) grainsize(7)
		for (i = 0; i < 500; i++)
			sum += i;
#pragma omp taskloop reduction(* : other) num_tasks(4)
		for (i = 9; i < 9; i++)
			other *= 0;
#pragma omp taskgroup task_reduction(+ : other)
#pragma omp taskloop in_reduction(+ : other) nogroup
		for (u = 100; u > 50; u -= 5)
			other += (long)u;
#pragma omp taskloop reduction(+ : sum, other)
		for (u = 0; u < 40; u++) {
			sum++;
#pragma omp task in_reduction(+ : other)
			other += 10;
		}
	}
#pragma omp parallel master taskloop reduction(+ : sum) num_threads(2)
	for (i = 0; i < 30; i++)
		sum += i;
	printf("taskloops: %ld %ld\n", sum, other);
}

/* Constructs of all threads, each of which makes tasks. */
static void shared_work(void)
{
	long sum = 0, product = 1, u_sum = 0;
	int i;

#pragma omp parallel reduction(task, + : sum) num_threads(3)
	{
#pragma omp task in_reduction(+ : sum)
		sum += 10;
		sum++;
#pragma omp barrier
#pragma omp task in_reduction(+ : sum)
		sum += 100;
	}
#pragma omp parallel num_threads(3)
	{
		int round;

		for (round = 0; round < 3; round++) {
#pragma omp for reduction(task, + : sum)
			for (i = 0; i < 40; i++) {
#pragma omp task in_reduction(+ : sum)
				sum += 3;
				sum += i;
			}
#pragma omp for reduction(task, * : product) schedule(dynamic, 2)
			for (i = 0; i < 5; i++) {
#pragma omp task in_reduction(* : product)
				product *= 2;
				product *= 3;
			}
#pragma omp for reduction(task, + : u_sum) schedule(guided)
			for (unsigned long long u = 90; u > 10; u -= 4) {
#pragma omp task in_reduction(+ : u_sum)
				u_sum += (long)u;
			}
		}
#pragma omp sections reduction(task, + : sum)
		{
#pragma omp section
			{
#pragma omp task in_reduction(+ : sum)
				sum += 1000;
			}
#pragma omp section
			sum += 2000;
		}
#pragma omp scope reduction(task, + : sum)
		{
#pragma omp task in_reduction(+ : sum)
			sum += 5;
			sum++;
		}
	}
#pragma omp parallel for reduction(task, + : sum) num_threads(2)
	for (i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : sum)
		sum += i;
	}
#pragma omp parallel sections reduction(task, + : sum) num_threads(2)
	{
#pragma omp section
		sum += 7;
#pragma omp section
		{
#pragma omp task in_reduction(+ : sum)
			sum += 8;
		}
	}
	printf("shared: %ld %ld %ld\n", sum, product, u_sum);
}

/* A region of one thread, and one inside another. */
static void few_threads(void)
{
	int sum = 0;

#pragma omp parallel num_threads(1) reduction(task, + : sum)
	{
#pragma omp task in_reduction(+ : sum)
		sum += 5;
	}
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(task, + : sum)
	{
#pragma omp task in_reduction(+ : sum)
		sum += 50;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
		{
#pragma omp task in_reduction(+ : sum)
			sum += 500;
		}
	}
	omp_set_max_active_levels(1);
	printf("few: %d\n", sum);
}

/* A program whose next region has several threads ends in libgomp by a fault.
 */
static void outside(void)
{
	int sum = 0, i;

	for (i = 0; i < 50; i++) {
#pragma omp taskgroup task_reduction(+ : sum)
		{
#pragma omp task in_reduction(+ : sum)
			sum += i;
		}
#pragma omp parallel num_threads(3) reduction(task, + : sum)
		{
#pragma omp task in_reduction(+ : sum)
			sum++;
		}
	}
	printf("outside: %d\n", sum);
}

int main(int argc, char **argv)
{
	int i;

	(void)argv;
	for (i = 0; i < 3; i++) {
		groups();
		arrays(13);
		loops();
		shared_work();
		few_threads();
	}
	if (argc > 1)
		outside();
	return 0;
}
