/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One measurement of whatever malloc() this process was started with, for
 * alloc_driver.c:
 *
 *	alloc same SIZE	  64 allocations, a byte touched in each, 64 frees
 *	alloc pair SIZE	  one thread allocates, the other frees
 *	alloc mix	  threads that come and go, with blocks of each other
 *
 * Prints ns per allocation, and for mix also VmHWM and VmRSS in kB. The first
 * are times of the thread where it is alone: others share the CPUs.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NR_HELD 64
#define BATCHES 5
#define RING 1024

static double clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void touch(void *p)
{
	if (!p) {
		fprintf(stderr, "alloc: no memory\n");
		exit(1);
	}
	*(volatile char *)p = 1;
}

static double same_batch(size_t size, long rounds)
{
	double start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	void *p[NR_HELD];
	long r;
	int i;

	for (r = 0; r < rounds; r++) {
		for (i = 0; i < NR_HELD; i++) {
			p[i] = malloc(size);
			touch(p[i]);
		}
		for (i = 0; i < NR_HELD; i++)
			free(p[i]);
	}
	return (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) /
	       (double)(rounds * NR_HELD);
}

/* The best of a few: the first ones fault pages in. */
static double same(size_t size)
{
	long rounds = size <= 4096 ? 4000 : size <= 1 << 20 ? 150 : 20;
	double best = same_batch(size, rounds), t;
	int i;

	for (i = 1; i < BATCHES; i++) {
		t = same_batch(size, rounds);
		best = t < best ? t : best;
	}
	return best;
}

static struct {
	_Alignas(64) _Atomic(void *) slot[RING];
	long nr;
} ring;

static void relax(int *nr)
{
	if (++*nr % 1000 == 0)
		sched_yield();
#if defined(__x86_64__)
	else
		__builtin_ia32_pause();
#endif
}

static void *consume(void *arg)
{
	_Atomic(void *) *slot;
	int spins = 0;
	void *p;
	long i;

	for (i = 0; i < ring.nr; i++) {
		slot = &ring.slot[i % RING];
		while (!(p = atomic_load_explicit(slot, memory_order_acquire)))
			relax(&spins);
		atomic_store_explicit(slot, NULL, memory_order_release);
		free(p);
	}
	return arg;
}

static double pair_batch(size_t size)
{
	double start = clock_ns(CLOCK_MONOTONIC);
	_Atomic(void *) *slot;
	pthread_t t;
	int spins = 0;
	void *p;
	long i;

	if (pthread_create(&t, NULL, consume, NULL))
		exit(1);
	for (i = 0; i < ring.nr; i++) {
		slot = &ring.slot[i % RING];
		while (atomic_load_explicit(slot, memory_order_acquire))
			relax(&spins);
		p = malloc(size);
		touch(p);
		atomic_store_explicit(slot, p, memory_order_release);
	}
	pthread_join(t, NULL);
	return (clock_ns(CLOCK_MONOTONIC) - start) / (double)ring.nr;
}

static double pair(size_t size)
{
	double best, t;
	int i;

	ring.nr = size <= 4096 ? 100000 : size <= 1 << 20 ? 20000 : 1000;
	best = pair_batch(size);
	for (i = 1; i < BATCHES; i++) {
		t = pair_batch(size);
		best = t < best ? t : best;
	}
	return best;
}

/*
 * Mixed: four lines of threads. A thread replaces blocks in its line's table
 * and in one that all share, then ends, and the next of its line goes on with
 * what it finds.
 */
#define NR_LINES 4
#define NR_GENERATIONS 12
#define NR_OWN 1500
#define NR_SHARED 2000
#define NR_STEPS 40000

struct line {
	uint64_t random;
	void *own[NR_OWN];
};

static struct line line[NR_LINES];
static _Atomic(void *) shared[NR_SHARED];

static uint32_t next(uint64_t *x)
{
	*x ^= *x >> 12;
	*x ^= *x << 25;
	*x ^= *x >> 27;
	return (uint32_t)((*x * 2685821657736338717ull) >> 32);
}

/* Most are small, few are large: up to 512 B, 16 KiB, 256 KiB. */
static size_t any_size(uint64_t *x)
{
	uint32_t kind = next(x) % 1000;

	if (kind < 900)
		return 16 + next(x) % 497;
	if (kind < 995)
		return 513 + next(x) % 15872;
	return 16384 + next(x) % 245760;
}

static void *block(uint64_t *x)
{
	size_t size = any_size(x), i;
	char *p = malloc(size);

	touch(p);
	for (i = 0; i < size; i += 256)
		p[i] = 1;
	return p;
}

static void *live(void *arg)
{
	struct line *l = arg;
	uint32_t k;
	int i;

	for (i = 0; i < NR_STEPS; i++) {
		k = next(&l->random);
		if (k % 4) {
			k = k / 4 % NR_OWN;
			free(l->own[k]);
			l->own[k] = block(&l->random);
		} else {
			free(atomic_exchange(&shared[k / 4 % NR_SHARED],
					     block(&l->random)));
		}
	}
	return NULL;
}

static void *live_line(void *arg)
{
	pthread_t t;
	int i;

	for (i = 0; i < NR_GENERATIONS; i++) {
		if (pthread_create(&t, NULL, live, arg))
			exit(1);
		pthread_join(t, NULL);
	}
	return NULL;
}

static long status_kb(const char *name)
{
	char text[128];
	FILE *f = fopen("/proc/self/status", "r");
	long kb = 0;

	while (f && fgets(text, sizeof(text), f))
		if (!strncmp(text, name, strlen(name)))
			kb = strtol(text + strlen(name) + 1, NULL, 10);
	if (f)
		fclose(f);
	return kb;
}

static void mix(void)
{
	double start = clock_ns(CLOCK_PROCESS_CPUTIME_ID), ns;
	pthread_t t[NR_LINES];
	int i;

	for (i = 0; i < NR_LINES; i++) {
		line[i].random = 88172645463325252ull + (uint64_t)i;
		if (pthread_create(&t[i], NULL, live_line, &line[i]))
			exit(1);
	}
	for (i = 0; i < NR_LINES; i++)
		pthread_join(t[i], NULL);
	ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
	printf("%.3f %ld %ld\n",
	       ns / ((double)NR_LINES * NR_GENERATIONS * NR_STEPS),
	       status_kb("VmHWM:"), status_kb("VmRSS:"));
}

int main(int argc, char **argv)
{
	size_t size = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (argc > 2 && !strcmp(argv[1], "same"))
		printf("%.3f\n", same(size));
	else if (argc > 2 && !strcmp(argv[1], "pair"))
		printf("%.3f\n", pair(size));
	else if (argc > 1 && !strcmp(argv[1], "mix"))
		mix();
	else
		return 2;
	return 0;
}
