/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph that has run is warm for every thread: the first run and the first
 * event of a thread allocate nothing in the library, one thread after the other
 * and many at a time, though they are its first calls at all.
 */
#include "tests/api/api.h"
#include "tests/faults/inject.h"

#define NR_TURNS 100
#define NR_THREADS 31 /* and the one that opened */

static struct lkdf_graph *graph;
static atomic_int nr_wrong;
static pthread_barrier_t barrier;

static void run_once(void)
{
	struct lkdf_event done;

	if (lkdf_graph_run(graph, NULL, NULL, &done) ||
	    lkdf_event_wait(done, -1))
		atomic_fetch_add(&nr_wrong, 1);
}

static void *run_in_turn(void *unused)
{
	(void)unused;
	inject(INT_MAX);
	run_once();
	return NULL;
}

/* Events of the warm-up are back in the runtime with the threads that end. */
static void one_after_the_other(void)
{
	pthread_t thread;
	int i, nr = 0;

	for (i = 0; i < NR_TURNS; i++) {
		if (pthread_create(&thread, NULL, run_in_turn, NULL))
			abort();
		pthread_join(thread, NULL);
		/* The first ones fill the runtime's pools. */
		nr += i >= NR_TURNS / 2 ? atomic_load(&inject_nr) : 0;
		inject(0);
	}
	is(nr, 0, "the first run of a thread allocates nothing");
}

static void *run_together(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	run_once();
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* How often all of them allocate. */
static int run_all(void)
{
	pthread_t thread[NR_THREADS];
	int i, nr;

	for (i = 0; i < NR_THREADS; i++)
		if (pthread_create(&thread[i], NULL, run_together, NULL))
			abort();
	pthread_barrier_wait(&barrier);
	inject(INT_MAX);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	nr = atomic_load(&inject_nr);
	inject(0);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	return nr;
}

static void many_at_a_time(void)
{
	int nr;

	pthread_barrier_init(&barrier, NULL, NR_THREADS + 1);
	run_all();
	run_all();
	nr = run_all();
	is(nr, 0, "nor do the first runs of %d threads at a time", NR_THREADS);
	pthread_barrier_destroy(&barrier);
}

int main(void)
{
	struct lkdf_kind *kind;
	struct lkdf *rt;
	atomic_int nr = 0;

	tap_start(60);
	if (!inject_init((void *)lkdf_graph_run)) {
		skip("a thread's first run", "allocations are not seen here");
		return tap_end();
	}
	/* The thread that opens has made no task and no event. */
	rt = api_open("workers=1");
	kind = api_kind(rt, "count", api_count, 0, LKDF_SHARED);
	graph = api_graph(rt, NR_THREADS);
	must(lkdf_graph_add(graph, kind, &nr, NULL, 0));
	must(lkdf_graph_seal(graph, NULL));
	run_once();
	one_after_the_other();
	many_at_a_time();
	is(atomic_load(&nr_wrong), 0, "all runs end well");
	is(atomic_load(&nr), 1 + NR_TURNS + 3 * NR_THREADS, "each counts once");
	lkdf_graph_put(graph);
	lkdf_kind_put(kind);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
