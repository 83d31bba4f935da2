/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Many threads, as if they ran on different nodes: blocks never change their
 * memory, none is out twice, bins of threads that end go home, and the child
 * of a fork finds a heap that works. An argument is the seed.
 */
#include "tests/unit/heap.h"

#include <pthread.h>
#include <sys/wait.h>

#define NR_THREADS 4

static uint64_t seed = 20260101;

static void run_threads(void *(*fn)(void *), void *arg, size_t size)
{
	pthread_t thread[NR_THREADS];
	int i;

	for (i = 0; i < NR_THREADS; i++)
		if (pthread_create(&thread[i], NULL, fn,
				   (char *)arg + (size_t)i * size))
			abort();
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
}

/*
 * A table of blocks that all threads share: each puts a block of its own in
 * and frees the one it finds there, mostly of another thread's node. The
 * first words of a block say who made it and of which memory.
 */
#define NR_PLACES 4096

static struct heap *heap;
static _Atomic(uint64_t *) place[NR_PLACES];

struct player {
	int id;
	uint64_t seed, nr, nr_foreign, nr_changed, nr_failed;
	unsigned size_bits;
};

static void check_and_free(struct player *w, struct cache *c, uint64_t *p)
{
	w->nr_changed += p[0] != ~(uintptr_t)p;
	w->nr_foreign += heap_memory_of(heap, p) != (int)p[2];
	w->nr_failed += heap_free(heap, c, p) != 0;
}

static void *play(void *arg)
{
	struct player *w = arg;
	struct cache *c = heap_cache_create(heap, w->id);
	unsigned memory, mine = (unsigned)w->id % NR_NODES;
	uint64_t i, *p;

	for (i = 0; i < w->nr; i++) {
		/* One of 16 for another node. */
		memory = random_next(&w->seed) % 16
				 ? mine
				 : random_next(&w->seed) % NR_NODES;
		p = take(heap, c, memory,
			 24 + random_next(&w->seed) %
					 ((size_t)1 << (5 + i % w->size_bits)));
		if (!p) {
			w->nr_failed++;
			continue;
		}
		p[0] = ~(uintptr_t)p;
		p[2] = memory;
		w->nr_foreign += heap_memory_of(heap, p) != (int)memory;
		/* [place] its words; pairs with itself. */
		p = a_xchg(&place[random_next(&w->seed) % NR_PLACES], p,
			   acq_rel);
		if (p)
			check_and_free(w, c, p);
	}
	heap_cache_destroy(c);
	return NULL;
}

static void empty_places(struct player *w)
{
	uint64_t *p;
	int i;

	for (i = 0; i < NR_PLACES; i++) {
		p = a_xchg(&place[i], NULL, acq_rel);
		if (p)
			check_and_free(w, NULL, p);
	}
}

static void play_all(const char *what, uint64_t nr, unsigned size_bits)
{
	struct player w[NR_THREADS];
	uint64_t foreign = 0, changed = 0, failed = 0, remote = 0;
	int i;

	heap = plain_heap();
	for (i = 0; i < NR_THREADS; i++)
		w[i] = (struct player){ .id = i,
					.seed = seed + (uint64_t)i * 7919,
					.nr = nr / NR_THREADS,
					.size_bits = size_bits };
	run_threads(play, w, sizeof(w[0]));
	empty_places(&w[0]);
	for (i = 0; i < NR_THREADS; i++) {
		foreign += w[i].nr_foreign;
		changed += w[i].nr_changed;
		failed += w[i].nr_failed;
		remote += stat_of(heap, (unsigned)i).remote_frees;
	}
	is(foreign, 0, "%s: %llu blocks, none of a foreign memory", what,
	   (unsigned long long)nr);
	is(changed, 0, "%s: none was out twice", what);
	is(failed, 0, "%s: none was refused or not freed", what);
	ok(remote > 1000, "%s: some were freed on another node", what);
	is(used_in_all(heap), 0, "%s: nothing is used at the end", what);
	heap_trim(heap, true);
	is(mapped_in_all(heap), 0, "%s: nothing is mapped after a trim", what);
	heap_destroy(heap);
}

/* One makes, one frees, of another node, through a ring. */
#define RING 1024
#define NR_HANDED 200000

static _Atomic(uint64_t *) ring[RING];
static uint64_t nr_bad;

static void *consume(void *arg)
{
	struct cache *c = heap_cache_create(heap, 1);
	uint64_t i, *p;

	(void)arg;
	for (i = 0; i < NR_HANDED; i++) {
		/* [ring.take] its words; pairs with [ring.put]. */
		while (!(p = a_xchg(&ring[i % RING], NULL, acq_rel)))
			sched_yield();
		nr_bad += p[0] != i || heap_memory_of(heap, p) != 0;
		nr_bad += heap_free(heap, c, p) != 0;
	}
	heap_cache_destroy(c);
	return NULL;
}

static void a_consumer_sends_blocks_home(size_t size)
{
	uint64_t i, *p, *none;
	struct cache *c;
	pthread_t t;

	heap = plain_heap();
	c = heap_cache_create(heap, 0);
	nr_bad = 0;
	if (pthread_create(&t, NULL, consume, NULL))
		abort();
	for (i = 0; i < NR_HANDED; i++) {
		p = take(heap, c, 0, size);
		p[0] = i;
		none = NULL;
		/* [ring.put] its words; pairs with [ring.take]. */
		while (!a_cas(&ring[i % RING], &none, p, acq_rel, relaxed)) {
			none = NULL;
			sched_yield();
		}
	}
	pthread_join(t, NULL);
	is(nr_bad, 0, "%zu bytes: all arrive, of the producer's node", size);
	ok(stat_of(heap, 0).mapped <= (RING * size * 2 + 8 * SEGMENT_SIZE),
	   "%zu bytes: the producer gets blocks back", size);
	is(stat_of(heap, 0).remote_frees, NR_HANDED,
	   "%zu bytes: each free was a remote one", size);
	heap_cache_destroy(c);
	is(used_in_all(heap), 0, "%zu bytes: nothing is used", size);
	heap_destroy(heap);
}

/* Threads that leave filled bins behind, one generation after another. */
static void *live_shortly(void *arg)
{
	struct cache *c = heap_cache_create(heap, *(int *)arg % NR_NODES);
	void *p[100];
	int i, k;

	for (k = 0; k < NR_NODES; k++) {
		for (i = 0; i < 100; i++)
			p[i] = take(heap, c, (unsigned)k, 16 + (size_t)i * 40);
		for (i = 0; i < 100; i++)
			heap_free(heap, c, p[i]);
	}
	heap_cache_destroy(c);
	return NULL;
}

static void threads_come_and_go(void)
{
	int id[NR_THREADS] = { 0, 1, 2, 3 }, i;
	uint64_t mapped = 0;

	heap = plain_heap();
	for (i = 0; i < 100; i++) {
		run_threads(live_shortly, id, sizeof(id[0]));
		if (i == 20)
			mapped = mapped_in_all(heap);
	}
	is(used_in_all(heap), 0, "400 threads: nothing stays behind");
	ok(mapped_in_all(heap) <= mapped + 2 * SEGMENT_SIZE,
	   "the last 300 map nothing more");
	heap_trim(heap, true);
	is(mapped_in_all(heap), 0, "nothing is mapped after a trim");
	heap_destroy(heap);
}

/* The thread's own cache ends with it, and heaps may end first. */
static void *use_thread_cache(void *arg)
{
	struct heap *first = plain_heap();
	void *p;
	int i;

	for (i = 0; i < 200; i++) {
		p = take(heap, heap_thread_cache(heap), 1, 100);
		heap_free(heap, heap_thread_cache(heap), p);
		p = take(first, heap_thread_cache(first), 1, 100);
		heap_free(first, heap_thread_cache(first), p);
	}
	take(heap, heap_thread_cache(heap), 2, 100);
	heap_destroy(first);
	(void)arg;
	return NULL;
}

static void thread_caches_end_with_threads(void)
{
	heap = plain_heap();
	run_threads(use_thread_cache, NULL, 0);
	is(used_in_all(heap), NR_THREADS * 112, "only what was kept is used");
	ok(list_is_empty(&heap->caches), "no cache is left");
	heap_destroy(heap);
}

static void many_heaps_in_a_thread(void)
{
	struct heap *h[9];
	void *p[9];
	int i, k, bad = 0;

	for (i = 0; i < 9; i++)
		h[i] = plain_heap();
	for (k = 0; k < 5; k++) {
		for (i = 0; i < 9; i++)
			p[i] = take(h[i], heap_thread_cache(h[i]), 0, 64);
		for (i = 0; i < 9; i++)
			bad += heap_free(h[i], heap_thread_cache(h[i]), p[i]);
	}
	is(bad, 0, "nine heaps in one thread");
	for (i = 0; i < 9; i++)
		bad += used_in_all(h[i]) != 0;
	is(bad, 0, "nothing is used in any");
	for (i = 0; i < 9; i++)
		heap_destroy(h[i]);
}

/* A thread of ours, which works with the first heap before all others. */
static void *keep_first(void *arg)
{
	struct thread record = { .keeps_first = false }, other = record;
	struct heap **h = arg;
	struct cache *c;
	int i, k;

	thread_adopt(&record);
	is((uintptr_t)heap_thread_keep(h[0], &other), 0,
	   "no other thread's cache is kept");
	c = heap_thread_cache(h[0]);
	heap_thread_cache(h[1]);
	heap_thread_cache(h[2]);
	ok(c && heap_thread_keep(h[0], &record) == c,
	   "this thread's is, though others came later");
	ok(heap_thread_cache(h[1]) && heap_thread_cache(h[2]) != c,
	   "which are still known");
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 9; i++)
			heap_free(h[i], heap_thread_cache(h[i]),
				  take(h[i], heap_thread_cache(h[i]), 0, 64));
		ok(heap_cache_of(h[0], &record) == c,
		   "it is there after nine heaps");
	}
	ok(heap_thread_keep(h[0], &record) == c, "and is kept again");
	is((uintptr_t)heap_thread_keep(h[1], &record), 0,
	   "a thread keeps one heap's");
	thread_retire();
	ok(!record.keeps_first, "a thread that ended keeps nothing");
	return NULL;
}

static void one_heap_is_kept(void)
{
	struct heap *h[9];
	pthread_t thread;
	int i, bad = 0;

	for (i = 0; i < 9; i++)
		h[i] = plain_heap();
	if (pthread_create(&thread, NULL, keep_first, (void *)h))
		abort();
	pthread_join(thread, NULL);
	for (i = 0; i < 9; i++)
		bad += used_in_all(h[i]) != 0;
	is(bad, 0, "nothing is used in any");
	for (i = 0; i < 9; i++)
		heap_destroy(h[i]);
}

/* Others allocate all the time; the child must not find a lock taken. */
#define NR_FORKS 60

static _Atomic(int) is_over;

static void *churn(void *arg)
{
	struct cache *c = heap_cache_create(heap, *(int *)arg);
	uint64_t random = seed + (uint64_t) * (int *)arg;
	void *p[64] = { NULL };
	unsigned i;

	while (!a_load(&is_over, relaxed)) {
		i = random_next(&random) % 64;
		if (p[i])
			heap_free(heap, c, p[i]);
		p[i] = take(heap, c, random_next(&random) % NR_NODES,
			    (size_t)16 << (random_next(&random) % 18));
	}
	for (i = 0; i < 64; i++)
		if (p[i])
			heap_free(heap, c, p[i]);
	heap_cache_destroy(c);
	return NULL;
}

static _Noreturn void be_child(struct cache *c)
{
	char *p[200];
	int i, round, bad = 0;

	watchdog_set(20);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 200; i++) {
			p[i] = take(heap, c, (unsigned)i % NR_NODES,
				    (size_t)16 << (i % 18));
			bad += !p[i];
			if (p[i])
				p[i][20 % (16 << (i % 18))] = 1;
		}
		for (i = 0; i < 200; i++)
			bad += p[i] && heap_free(heap, c, p[i]);
	}
	heap_trim(heap, true);
	_exit(bad != 0);
}

static void children_have_a_heap_that_works(void)
{
	int id[NR_THREADS] = { 0, 1, 2, 3 }, i, status, bad = 0;
	pthread_t thread[NR_THREADS];
	struct cache *c;
	pid_t pid;

	heap = plain_heap();
	c = heap_cache_create(heap, 0);
	for (i = 0; i < NR_THREADS; i++)
		if (pthread_create(&thread[i], NULL, churn, &id[i]))
			abort();
	for (i = 0; i < NR_FORKS; i++) {
		pid = fork();
		if (!pid)
			be_child(c);
		bad += waitpid(pid, &status, 0) != pid || status;
	}
	a_store(&is_over, 1, relaxed);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	is(bad, 0, "%d children allocate and free while threads did", NR_FORKS);
	heap_cache_destroy(c);
	is(used_in_all(heap), 0, "nothing is used in the parent");
	heap_destroy(heap);
}

int main(int argc, char **argv)
{
	bool is_slow = HAS_SANITIZER;

	tap_start(280);
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	printf("# seed %llu\n", (unsigned long long)seed);
	play_all("small", is_slow ? 1000000 : 10000000, 5);
	play_all("all sizes", is_slow ? 20000 : 200000, 17);
	a_consumer_sends_blocks_home(64);
	a_consumer_sends_blocks_home(4000);
	a_consumer_sends_blocks_home(65536);
	threads_come_and_go();
	thread_caches_end_with_threads();
	many_heaps_in_a_thread();
	one_heap_is_kept();
	children_have_a_heap_that_works();
	return tap_end();
}
