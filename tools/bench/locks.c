/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "bench/locks.h"
#include "bench/bench.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls of a body: some microseconds alone. */
#define NR_CALLS 128
#define HELD_STEPS 5
#define PART_HELD 100
#define PART_OUTSIDE 400
#define PART_CALLS 8
#define LEAF_STEPS 4000
#define BLOCK 2000

const char *const lock_names[NR_LOCKS] = {
	[LOCK_RANDOM] = "random", [LOCK_RAND] = "rand",
	[LOCK_FPUTC] = "fputc",	  [LOCK_SEM] = "sem_t",
	[LOCK_MALLOC] = "malloc", [LOCK_MUTEX] = "mutex",
	[LOCK_PI] = "PI mutex",	  [LOCK_RWLOCK] = "rwlock",
	[LOCK_SPIN] = "spin",	  [LOCK_NONE] = "none",
	[LOCK_PART] = "100:400",
};

const char *const mode_names[NR_MODES] = {
	[MODE_SEALED] = "sealed",	[MODE_FRESH] = "fresh",
	[MODE_SUBMITTED] = "submitted", [MODE_SPAWNED] = "spawned",
	[MODE_JOINED] = "joined",	[MODE_LOOP] = "loop",
	[MODE_HIGH] = "high",		[MODE_GOES_ON] = "goes-on",
	[MODE_LIMITED] = "limited",
};

/* ---- locks --------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, heir;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_flag spin = ATOMIC_FLAG_INIT;
static char buffer[1 << 16];
static sem_t sem;
static FILE *file;

static void compute(unsigned nr)
{
	volatile unsigned x = 1;

	while (nr--)
		x = x * 5 + 1;
}

static void call_random(void)
{
	random();
}

static void call_rand(void)
{
	rand();
}

static void call_fputc(void)
{
	fputc('x', file);
}

static void call_sem(void)
{
	while (sem_wait(&sem))
		continue;
	compute(HELD_STEPS);
	sem_post(&sem);
}

static void call_malloc(void)
{
	void *volatile p = malloc(BLOCK);

	free(p);
}

static void hold(pthread_mutex_t *m, unsigned nr)
{
	pthread_mutex_lock(m);
	compute(nr);
	pthread_mutex_unlock(m);
}

static void call_mutex(void)
{
	hold(&mutex, HELD_STEPS);
}

static void call_heir(void)
{
	hold(&heir, HELD_STEPS);
}

static void call_rwlock(void)
{
	pthread_rwlock_wrlock(&rwlock);
	compute(HELD_STEPS);
	pthread_rwlock_unlock(&rwlock);
}

static void call_spin(void)
{
	while (atomic_flag_test_and_set_explicit(&spin, memory_order_acquire))
		continue;
	compute(HELD_STEPS);
	atomic_flag_clear_explicit(&spin, memory_order_release);
}

static void call_none(void)
{
	compute(4 * HELD_STEPS);
}

static void call_part(void)
{
	hold(&mutex, PART_HELD);
	compute(PART_OUTSIDE);
}

static const struct {
	void (*call)(void);
	unsigned nr;
} sorts[NR_LOCKS] = {
	[LOCK_RANDOM] = { call_random, NR_CALLS },
	[LOCK_RAND] = { call_rand, NR_CALLS },
	[LOCK_FPUTC] = { call_fputc, NR_CALLS },
	[LOCK_SEM] = { call_sem, NR_CALLS },
	[LOCK_MALLOC] = { call_malloc, NR_CALLS },
	[LOCK_MUTEX] = { call_mutex, NR_CALLS },
	[LOCK_PI] = { call_heir, NR_CALLS },
	[LOCK_RWLOCK] = { call_rwlock, NR_CALLS },
	[LOCK_SPIN] = { call_spin, NR_CALLS },
	[LOCK_NONE] = { call_none, NR_CALLS },
	[LOCK_PART] = { call_part, PART_CALLS },
};

static atomic_int chosen;

void locks_choose(enum lock_sort lock)
{
	atomic_store(&chosen, (int)lock);
}

int locks_open(void)
{
	pthread_mutexattr_t a;

	/* Threads that are made from now on share one. */
	mallopt(M_ARENA_MAX, 1);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&heir, &a);
	pthread_mutexattr_destroy(&a);
	sem_init(&sem, 0, 1);
	file = fopen("/dev/null", "we");
	if (!file)
		return bench_fail(-errno, "cannot open /dev/null");
	setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	return 0;
}

void locks_close(void)
{
	if (file)
		fclose(file);
	file = NULL;
	sem_destroy(&sem);
	pthread_mutex_destroy(&heir);
}

/* ---- bodies -------------------------------------------------------------- */

static int node(struct lkdf_ctx *c, void *arg)
{
	int lock = atomic_load_explicit(&chosen, memory_order_relaxed);
	unsigned i;

	(void)c;
	(void)arg;
	for (i = 0; i < sorts[lock].nr; i++)
		sorts[lock].call();
	return 0;
}

static int leaf(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	compute(LEAF_STEPS);
	return 0;
}

/* A tree of so many levels below it. */
struct branch {
	struct lkdf_kind *kind;
	unsigned nr_levels;
};

static int branch(struct lkdf_ctx *c, void *arg)
{
	struct branch b = *(struct branch *)arg;
	int rc = 0;

	if (b.nr_levels) {
		b.nr_levels--;
		rc = lkdf_spawn(c, b.kind, &b);
		if (!rc)
			rc = lkdf_spawn(c, b.kind, &b);
	}
	return rc ? rc : node(c, arg);
}

/* ---- forms of work ------------------------------------------------------- */

static int goes_on(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_event none = { 0 };

	(void)arg;
	return lkdf_then(c, node, none);
}

static int join_nodes(struct lkdf_ctx *c, void *arg)
{
	const struct lock_load *l = *(struct lock_load **)arg;
	unsigned i;
	int rc = 0;

	for (i = 0; i < l->nr_tasks && !rc; i++)
		rc = lkdf_spawn(c, l->node, NULL);
	return rc ? rc : lkdf_join(c);
}

static int run_block(uint64_t begin, uint64_t end, void *u)
{
	for (; begin < end; begin++)
		node(NULL, u);
	return 0;
}

/* The kind of the mode's tasks, where it is not that of all. */
static int open_form(struct lock_load *l)
{
	struct lkdf_limit_use use = { .tokens = 1 };
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = "form",
				    .fn = node };
	int rc = 0;

	switch (l->mode) {
	case MODE_JOINED:
		a.fn = join_nodes;
		a.arg_size = sizeof(l);
		break;
	case MODE_HIGH:
		a.prio = LKDF_HIGH;
		break;
	case MODE_GOES_ON:
		a.fn = goes_on;
		break;
	case MODE_LIMITED:
		rc = lkdf_limit_create(l->rt, l->nr_tasks, &l->limit);
		use.limit = l->limit;
		a.limit = &use;
		a.nr_limit = 1;
		break;
	default:
		return 0;
	}
	return rc ? rc : lkdf_kind_create(l->rt, &a, &l->form);
}

/* ---- loads --------------------------------------------------------------- */

static int make_kind(struct lkdf *rt, const char *name, lkdf_fn fn,
		     uint32_t arg_size, struct lkdf_kind **out)
{
	struct lkdf_kind_attr a = {
		.size = sizeof(a), .name = name, .fn = fn, .arg_size = arg_size
	};

	return lkdf_kind_create(rt, &a, out);
}

static int add_tasks(struct lock_load *l, struct lkdf_graph *g)
{
	struct lkdf_kind *k;
	int i, rc = 0, nr = (int)l->nr_tasks;

	for (i = 0; i < nr && rc >= 0; i++) {
		k = l->is_mixed && i >= nr / 2 ? l->leaf : l->node;
		rc = lkdf_graph_add(g, k, NULL, NULL, 0);
		if (rc >= 0 && i)
			rc = lkdf_graph_order(g, (i - 1) / 2, i);
	}
	return rc < 0 ? rc : lkdf_graph_seal(g, NULL);
}

/* A tree, in which each task comes behind the one above it. */
static int make_graph(struct lock_load *l, struct lkdf_graph **out)
{
	struct lkdf_graph_attr a = { .size = sizeof(a), .name = "tree" };
	int rc = lkdf_graph_create(l->rt, &a, out);

	return rc ? rc : add_tasks(l, *out);
}

int lock_load_open(struct lock_load *l, int nr_workers, const char *options)
{
	int rc = bench_open(nr_workers, options, &l->rt);

	if (rc)
		return rc;
	rc = make_kind(l->rt, "node", node, 0, &l->node);
	if (!rc)
		rc = make_kind(l->rt, "leaf", leaf, 0, &l->leaf);
	if (!rc)
		rc = make_kind(l->rt, "branch", branch, sizeof(struct branch),
			       &l->branch);
	if (!rc)
		rc = open_form(l);
	if (!rc && l->mode == MODE_SEALED)
		rc = make_graph(l, &l->g);
	return rc ? bench_fail(rc, "policy: %s", lkdf_errmsg()) : 0;
}

void lock_load_close(struct lock_load *l)
{
	if (!l->rt)
		return;
	lkdf_graph_put(l->g);
	lkdf_kind_put(l->node);
	lkdf_kind_put(l->leaf);
	lkdf_kind_put(l->branch);
	lkdf_kind_put(l->form);
	lkdf_limit_put(l->limit);
	lkdf_close(l->rt);
	memset(l, 0, sizeof(*l));
}

static int run_graph(struct lkdf_graph *g)
{
	struct lkdf_event e;
	int rc = lkdf_graph_run(g, NULL, NULL, &e);

	return rc ? rc : lkdf_event_wait(e, -1);
}

static int submit_all(struct lock_load *l)
{
	bool is_one = l->mode == MODE_JOINED;
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = l->form ? l->form : l->node,
			       .arg = is_one ? &l : NULL };
	unsigned i;
	int rc = 0;

	for (i = 0; i < (is_one ? 1 : l->nr_tasks) && !rc; i++)
		rc = lkdf_submit(l->rt, NULL, &t, NULL);
	return rc ? rc : lkdf_scope_wait(l->rt, NULL, -1);
}

static int spawn_all(struct lock_load *l)
{
	struct branch b = { .kind = l->branch };
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = l->branch,
			       .arg = &b };
	int rc;

	while ((2u << b.nr_levels) - 1 < l->nr_tasks)
		b.nr_levels++;
	rc = lkdf_submit(l->rt, NULL, &t, NULL);
	return rc ? rc : lkdf_scope_wait(l->rt, NULL, -1);
}

static int run_loop(struct lock_load *l)
{
	struct lkdf_range r = { 0, l->nr_tasks, 1 };

	return lkdf_for(l->rt, r, run_block, NULL);
}

static int run_tasks(struct lock_load *l, struct lkdf_graph *g)
{
	switch (l->mode) {
	case MODE_SEALED:
	case MODE_FRESH:
		return run_graph(g);
	case MODE_SPAWNED:
		return spawn_all(l);
	case MODE_LOOP:
		return run_loop(l);
	default:
		return submit_all(l);
	}
}

int64_t lock_load_run(struct lock_load *l)
{
	struct lkdf_graph *g = l->g;
	int rc = l->mode == MODE_FRESH ? make_graph(l, &g) : 0;
	int64_t from = bench_now_ns();

	if (!rc)
		rc = run_tasks(l, g);
	from = bench_now_ns() - from;
	if (l->mode == MODE_FRESH)
		lkdf_graph_put(g);
	return rc ? bench_fail(rc, "policy: %s", lkdf_errmsg()) : from;
}
