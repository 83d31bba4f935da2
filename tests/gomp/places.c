/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Where threads are, as they see it and as the system does; by thread number.
 */
#include <omp.h>
#include <sched.h>
#include <stdio.h>

#define MOST 64
#define ROOM 512

static char lines[MOST][ROOM];

static int put_cpus(char *to)
{
	cpu_set_t set;
	int i, used = 0;

	sched_getaffinity(0, sizeof(set), &set);
	for (i = 0; i < CPU_SETSIZE && used < ROOM / 4; i++)
		if (CPU_ISSET(i, &set))
			used += sprintf(to + used, " %d", i);
	return used;
}

static void put_self(char *to, const char *what)
{
	int nums[CPU_SETSIZE], i, nr = omp_get_partition_num_places();
	int used = sprintf(to, "%s %d: bind %d, place %d of", what,
			   omp_get_thread_num(), omp_get_proc_bind(),
			   omp_get_place_num());

	omp_get_partition_place_nums(nums);
	for (i = 0; i < nr && i < 16; i++)
		used += sprintf(to + used, " %d", nums[i]);
	used += sprintf(to + used, "; CPUs");
	put_cpus(to + used);
}

static void show(int nr)
{
	for (int i = 0; i < nr; i++)
		puts(lines[i]);
}

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
/* A region with those clauses. */
#define REGION(what, ...)                                                 \
	do {                                                              \
		int nr_here = 0;                                          \
		PRAGMA(omp parallel reduction(max : nr_here) __VA_ARGS__) \
		{                                                         \
			put_self(lines[omp_get_thread_num()], what);      \
			nr_here = omp_get_num_threads();                  \
		}                                                         \
		show(nr_here);                                            \
	} while (0)

static void nest(void)
{
	char text[4][ROOM], inner[4][2][ROOM];

#pragma omp parallel num_threads(2)
	{
		int num = omp_get_thread_num();

		put_self(text[num], "outer");
#pragma omp parallel num_threads(2)
		put_self(inner[num][omp_get_thread_num()], "inner");
	}
	for (int i = 0; i < 2; i++) {
		puts(text[i]);
		puts(inner[i][0]);
		puts(inner[i][1]);
	}
}

static void list_places(void)
{
	int place, nr, cpu[CPU_SETSIZE], i;

	printf("%d CPUs, %d places\n", omp_get_num_procs(),
	       omp_get_num_places());
	for (place = 0; place < omp_get_num_places(); place++) {
		nr = omp_get_place_num_procs(place);
		omp_get_place_proc_ids(place, cpu);
		printf("place %d:", place);
		for (i = 0; i < nr; i++)
			printf(" %d", cpu[i]);
		puts("");
	}
}

/* One region for each process: libgomp's threads of an earlier one may be at
 * other places than it says. */
int main(int argc, char **argv)
{
	list_places();
	put_self(lines[0], "before");
	show(1);
	switch (argc > 1 ? argv[1][0] : 0) {
	case 'r':
		REGION("region", );
		break;
	case 't':
		REGION("three", num_threads(3));
		break;
	case 'c':
		REGION("close", num_threads(5) proc_bind(close));
		break;
	case 's':
		REGION("spread", num_threads(2) proc_bind(spread));
		break;
	case 'm':
		REGION("many", num_threads(5) proc_bind(spread));
		break;
	case 'p':
		REGION("primary", num_threads(3) proc_bind(master));
		break;
	case 'n':
		omp_set_max_active_levels(2);
		nest();
		break;
	default:
		return 2;
	}
	put_self(lines[0], "after");
	show(1);
	return 0;
}
