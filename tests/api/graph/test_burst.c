/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * More tasks wait than a deque holds: none is lost, joins among them end, the
 * urgent one does not wait behind the others, and those run oldest first.
 */
#include "tests/api/api.h"

#include <sched.h>
#include <semaphore.h>

#define NR_TASKS 20000
#define NR_CHILDREN 3

static const int worker_counts[] = { 1, 2, 8 };

/* One or two workers wait until the tasks have been submitted, more do not. */
struct hold {
	struct lkdf_kind *kind;
	int nr_workers;
	atomic_int nr_in;
	sem_t go;
};

static int wait_inside(struct lkdf_ctx *c, void *arg)
{
	struct hold *h = arg;

	(void)c;
	atomic_fetch_add(&h->nr_in, 1);
	while (sem_wait(&h->go))
		;
	return 0;
}

static void hold(struct lkdf *rt, struct hold *h, int nr_workers)
{
	int i;

	h->kind = api_kind(rt, "hold", wait_inside, 0, LKDF_SHARED);
	h->nr_workers = nr_workers > 2 ? 0 : nr_workers;
	atomic_store(&h->nr_in, 0);
	if (sem_init(&h->go, 0, 0))
		abort();
	for (i = 0; i < h->nr_workers; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = h->kind, .arg = h),
				 NULL));
	while (atomic_load(&h->nr_in) < h->nr_workers)
		sched_yield();
}

static void release(struct lkdf *rt, struct hold *h)
{
	int i;

	for (i = 0; i < h->nr_workers; i++)
		sem_post(&h->go);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end well");
	lkdf_kind_put(h->kind);
	sem_destroy(&h->go);
}

static atomic_int nr_begun, nr_disorder, last_number;
static atomic_int begun_before_urgent;

static int note_order(struct lkdf_ctx *c, void *arg)
{
	int number = *(int *)arg;

	(void)c;
	atomic_fetch_add(&nr_begun, 1);
	if (atomic_exchange(&last_number, number) > number)
		atomic_fetch_add(&nr_disorder, 1);
	return 0;
}

static int note_urgent(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&begun_before_urgent, atomic_load(&nr_begun));
	return 0;
}

static void submit(struct lkdf *rt, struct lkdf_kind *k, void *arg, int prio)
{
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = arg, .prio = prio),
			 NULL));
}

static void a_burst_runs_in_turn(struct lkdf *rt, int nr_workers)
{
	struct lkdf_kind *k =
		api_kind(rt, "order", note_order, sizeof(int), LKDF_SHARED);
	struct lkdf_kind *urgent = api_kind(rt, "urgent", note_urgent, 0, 0);
	struct hold h;
	int i;

	atomic_store(&nr_begun, 0);
	atomic_store(&nr_disorder, 0);
	atomic_store(&last_number, 0);
	atomic_store(&begun_before_urgent, -1);
	hold(rt, &h, nr_workers);
	submit(rt, urgent, NULL, LKDF_URGENT);
	for (i = 0; i < NR_TASKS; i++)
		submit(rt, k, &i, LKDF_NORMAL);
	release(rt, &h);
	is(nr_begun, NR_TASKS, "each task runs once");
	ok(begun_before_urgent >= 0, "the urgent one runs");
	if (nr_workers == 1) {
		is(begun_before_urgent, 0, "and first, though it is oldest");
		ok(nr_disorder < NR_TASKS / 64,
		   "%d times one runs after a younger one", nr_disorder);
	}
	lkdf_kind_put(k);
	lkdf_kind_put(urgent);
}

static struct lkdf_kind *leaf_kind;

static int fork_and_join(struct lkdf_ctx *c, void *arg)
{
	atomic_int nr = 0;
	int i;

	for (i = 0; i < NR_CHILDREN; i++)
		must(lkdf_spawn(c, leaf_kind, &(atomic_int *){ &nr }));
	must(lkdf_join(c));
	atomic_fetch_add((atomic_int *)arg, nr == NR_CHILDREN);
	return 0;
}

static int leaf(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(*(atomic_int **)arg, 1);
	return 0;
}

static void joins_in_a_burst_end(struct lkdf *rt, int nr_workers)
{
	struct lkdf_kind *k =
		api_kind(rt, "fork", fork_and_join, 0, LKDF_SHARED);
	atomic_int nr = 0;
	struct hold h;
	int i;

	leaf_kind =
		api_kind(rt, "leaf", leaf, sizeof(atomic_int *), LKDF_SHARED);
	hold(rt, &h, nr_workers);
	for (i = 0; i < NR_TASKS; i++)
		submit(rt, k, &nr, LKDF_NORMAL);
	release(rt, &h);
	is(nr, NR_TASKS, "each join sees its children");
	lkdf_kind_put(leaf_kind);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		a_burst_runs_in_turn(rt, worker_counts[i]);
		joins_in_a_burst_end(rt, worker_counts[i]);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
