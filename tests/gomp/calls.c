/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calls that gcc 12 does not make, as programs of older compilers do, and loops
 * of unsigned type whose iterations wait for others: each line is the same with
 * libgomp.
 */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>

typedef unsigned long long ull;

void GOMP_parallel_start(void (*fn)(void *), void *data, unsigned nr);
void GOMP_parallel_end(void);
#define OLD_LOOP(name)                                                         \
	void GOMP_parallel_loop_##name##_start(void (*fn)(void *), void *data, \
					       unsigned nr, long begin,        \
					       long end, long step,            \
					       long chunk);                    \
	bool GOMP_loop_##name##_next(long *first, long *last)
OLD_LOOP(static);
OLD_LOOP(dynamic);
OLD_LOOP(guided);
void GOMP_parallel_loop_runtime_start(void (*fn)(void *), void *data,
				      unsigned nr, long begin, long end,
				      long step);
bool GOMP_loop_runtime_next(long *first, long *last);
void GOMP_parallel_sections_start(void (*fn)(void *), void *data, unsigned nr,
				  unsigned nr_sections);
unsigned GOMP_sections_next(void);
void GOMP_loop_end_nowait(void);
void GOMP_sections_end_nowait(void);
void GOMP_parallel(void (*fn)(void *), void *data, unsigned nr, unsigned flags);
bool GOMP_loop_ull_doacross_static_start(unsigned nr, ull *count, ull chunk,
					 ull *first, ull *last);
bool GOMP_loop_ull_static_next(ull *first, ull *last);
bool GOMP_loop_ull_doacross_dynamic_start(unsigned nr, ull *count, ull chunk,
					  ull *first, ull *last);
bool GOMP_loop_ull_dynamic_next(ull *first, ull *last);
void GOMP_doacross_ull_post(ull *at);
void GOMP_doacross_ull_wait(ull first, ...);
void GOMP_loop_end(void);

#define NR 200

static int sum, nested;
static unsigned row[NR + 1];

static void add(int n)
{
	__atomic_add_fetch(&sum, n, __ATOMIC_RELAXED);
}

/* Once for each thread, divided by how many there are. */
static void region(void *u)
{
	(void)u;
	add(840 / omp_get_num_threads());
	if (omp_get_level() != 1)
		__atomic_add_fetch(&nested, 1, __ATOMIC_RELAXED);
}

#define LOOP(name)                                             \
	static void name##_loop(void *u)                       \
	{                                                      \
		long first, last;                              \
                                                               \
		(void)u;                                       \
		while (GOMP_loop_##name##_next(&first, &last)) \
			for (; first < last; first += 3)       \
				add((int)first);               \
		GOMP_loop_end_nowait();                        \
	}

LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(runtime)

static void sections(void *u)
{
	unsigned n;

	(void)u;
	while ((n = GOMP_sections_next()) != 0)
		add((int)n);
	GOMP_sections_end_nowait();
}

static void old_calls(void)
{
	GOMP_parallel_start(region, NULL, 4);
	region(NULL);
	GOMP_parallel_end();
	printf("region: %d, %d wrong, level %d\n", sum, nested,
	       omp_get_level());
	GOMP_parallel_loop_static_start(static_loop, NULL, 3, 0, NR, 3, 0);
	static_loop(NULL);
	GOMP_parallel_end();
	GOMP_parallel_loop_dynamic_start(dynamic_loop, NULL, 3, 0, NR, 3, 2);
	dynamic_loop(NULL);
	GOMP_parallel_end();
	GOMP_parallel_loop_guided_start(guided_loop, NULL, 3, 0, NR, 3, 1);
	guided_loop(NULL);
	GOMP_parallel_end();
	GOMP_parallel_loop_runtime_start(runtime_loop, NULL, 3, 0, NR, 3);
	runtime_loop(NULL);
	GOMP_parallel_end();
	printf("loops: %d\n", sum);
	GOMP_parallel_sections_start(sections, NULL, 3, 9);
	sections(NULL);
	GOMP_parallel_end();
	printf("sections: %d\n", sum);
}

static void step(ull i)
{
	if (i)
		GOMP_doacross_ull_wait(i - 1);
	row[i + 1] = row[i] * 3 + (unsigned)(i % 7);
	GOMP_doacross_ull_post(&i);
}

#define CHAIN(name, chunk)                                                  \
	static void name##_chain(void *u)                                   \
	{                                                                   \
		ull count = NR, first, last;                                \
                                                                            \
		(void)u;                                                    \
		if (GOMP_loop_ull_doacross_##name##_start(1, &count, chunk, \
							  &first, &last))   \
			do                                                  \
				for (; first < last; first++)               \
					step(first);                        \
			while (GOMP_loop_ull_##name##_next(&first, &last)); \
		GOMP_loop_end();                                            \
	}

CHAIN(static, 0)
CHAIN(dynamic, 3)

int main(void)
{
	old_calls();
	row[0] = 1;
	GOMP_parallel(static_chain, NULL, 3, 0);
	printf("chain: %u\n", row[NR]);
	row[0] = 2;
	GOMP_parallel(dynamic_chain, NULL, 0, 0);
	printf("chain: %u\n", row[NR]);
	return 0;
}
