/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A runtime whose CPUs are taken away and given back while it runs tasks: its
 * threads, and tasks until a counter says that the runtime has followed.
 */
#ifndef TESTS_API_RT_SEATS_H
#define TESTS_API_RT_SEATS_H

#include "tests/api/api.h"
#include "tests/threads.h"

#include <sched.h>

#define NR_TASKS 500
#define MAX_WORKERS 1024
#define MAX_THREADS (2 * MAX_WORKERS) /* of the library */

static struct {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	atomic_int nr_ran;
	int nr_submitted;
	pid_t tid[MAX_WORKERS];
	cpu_set_t own[MAX_WORKERS];
	int nr;
	uint64_t nodes; /* a bit each */
} job;

/* The threads that are called lkdf/NODE.WORKER now are the job's. */
static void find_workers(void)
{
	struct found_thread t[MAX_THREADS];
	int nr_threads = threads_find("lkdf/", t, MAX_THREADS), node, id, i;

	job.nr = 0;
	job.nodes = 0;
	for (i = 0; i < nr_threads && job.nr < MAX_WORKERS; i++) {
		if (sscanf(t[i].name, "lkdf/%d.%d", &node, &id) != 2)
			continue;
		job.tid[job.nr++] = t[i].tid;
		job.nodes |= 1ull << (node % 64);
	}
}

static int work(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < 20000; i++)
		__asm__ volatile("" ::: "memory");
	atomic_fetch_add(&job.nr_ran, 1);
	return 0;
}

static int nap(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	api_nap_ns(1000000);
	return 0;
}

/*
 * Some naps for each worker, on its node. Who sleeps follows nothing, and tasks
 * alone may leave a worker asleep for as long as others are as fast without it.
 */
static void wake_all(void)
{
	struct lkdf_kind *k = api_kind(job.rt, "nap", nap, 0, 0);
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = k,
			       .flags = LKDF_PINNED };
	int node, i;

	for (node = 0; node < 64; node++) {
		if (!(job.nodes >> node & 1))
			continue;
		t.place = lkdf_place_node(job.rt, node);
		for (i = 0; i < job.nr; i++)
			must(lkdf_submit(job.rt, NULL, &t, NULL));
	}
	must(lkdf_scope_wait(job.rt, NULL, -1));
	lkdf_kind_put(k);
}

static void run_some(void)
{
	int i;

	for (i = 0; i < NR_TASKS; i++)
		must(lkdf_submit(job.rt, NULL,
				 ATTR(lkdf_task, .kind = job.kind), NULL));
	job.nr_submitted += NR_TASKS;
	must(lkdf_scope_wait(job.rt, NULL, -1));
}

/* The counter; ends the program where there is none of this name. */
static uint64_t stat_of(const char *name)
{
	uint64_t value = 0;

	must(lkdf_stat(job.rt, name, &value));
	return value;
}

static void run_until_above(const char *name, uint64_t value)
{
	while (stat_of(name) <= value) {
		run_some();
		wake_all();
	}
}

/* With fewer CPUs. One worker stays on each node: elsewhere none leaves. */
static void run_until_followed(uint64_t quota, uint64_t benched)
{
	run_until_above("lkdf.quota", quota);
	if (job.nr > __builtin_popcountll(job.nodes))
		run_until_above("lkdf.standby", benched);
}

#endif
