/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program with a hidden lock, to be looked at with lkdf futex: a tree of
 * tasks that all call something which takes one, again and again. With --lock
 * none they compute as long and take none, with --lock long they sleep in it,
 * with --lock held they hold it while they compute, so others sleep on any
 * machine, and with --kinds 2 the leaves are of another kind.
 *
 *   cc convoy.c -llkdf -lpthread -o convoy
 */
#include <lkdf/lkdf.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEVELS 12
#define CALLS 64
#define LOCK_AT 320 /* bytes into the block */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static atomic_flag spin = ATOMIC_FLAG_INIT;
static pthread_mutex_t *in_block; /* of memory with or without a label */
static struct lkdf_kind *node, *leaf;
static int nr_kinds = 1;

static void compute(unsigned steps)
{
	volatile unsigned x = 1;

	while (steps--)
		x = x * 5 + 1;
}

static void call_none(void)
{
	compute(20);
}

static void call_random(void)
{
	random();
}

static void call_mutex(void)
{
	pthread_mutex_lock(&mutex);
	compute(5);
	pthread_mutex_unlock(&mutex);
}

/* The body holds the lock over all calls, longer than a wake-up takes. */
static void call_held(void)
{
	compute(1000);
}

/* Others wait for as long, asleep. */
static void call_long(void)
{
	struct timespec t = { 0, 1000000 };

	pthread_mutex_lock(&mutex);
	nanosleep(&t, NULL);
	pthread_mutex_unlock(&mutex);
}

static void call_block(void)
{
	pthread_mutex_lock(in_block);
	compute(5);
	pthread_mutex_unlock(in_block);
}

static void call_sem(void)
{
	sem_wait(&semaphore);
	compute(5);
	sem_post(&semaphore);
}

/* Larger than what a thread keeps for itself, so the arena's lock is taken. */
static void call_malloc(void)
{
	void *volatile p = malloc(2000);

	free(p);
}

static void call_stdio(void)
{
	putchar(' ');
}

static void call_spin(void)
{
	while (atomic_flag_test_and_set_explicit(&spin, memory_order_acquire))
		;
	compute(5);
	atomic_flag_clear_explicit(&spin, memory_order_release);
}

static const struct {
	const char *name;
	void (*fn)(void);
} locks[] = {
	{ "none", call_none },	   { "random", call_random },
	{ "mutex", call_mutex },   { "sem", call_sem },
	{ "malloc", call_malloc }, { "stdio", call_stdio },
	{ "spin", call_spin },	   { "block", call_block },
	{ "heap", call_block },	   { "long", call_long },
	{ "held", call_held },
};

static void (*lock_call)(void) = call_random;
static const char *label; /* of the block */

/* Its argument is its level: above the leaves it has two children. */
static int visit(struct lkdf_ctx *c, void *arg)
{
	int level = *(const int *)arg - 1, i, rc = 0;
	struct lkdf_kind *below = level > 1 ? node : leaf;
	bool is_held = lock_call == call_held;

	for (i = 0; i < 2 && level > 0 && !rc; i++)
		rc = lkdf_spawn(c, below, &level);
	if (is_held)
		pthread_mutex_lock(&mutex);
	for (i = 0; i < CALLS; i++)
		lock_call();
	if (is_held)
		pthread_mutex_unlock(&mutex);
	return rc;
}

static int run_tree(struct lkdf *rt)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = node };
	struct lkdf_event done;
	int levels = LEVELS, rc;

	t.arg = &levels;
	rc = lkdf_submit(rt, NULL, &t, &done);
	return rc ? rc : lkdf_event_wait(done, -1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The lock is in the middle of a block, as where a table has one in a row. */
static int make_block(struct lkdf *rt)
{
	void *block;
	int rc;

	rc = lkdf_alloc(lkdf_place_node(rt, 0), LKDF_MEM_OWN, 4096, 0, label,
			&block);
	if (rc)
		return rc;
	in_block = (pthread_mutex_t *)((char *)block + LOCK_AT);
	pthread_mutex_init(in_block, NULL);
	return 0;
}

static int run(double seconds)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };
	double start = now();
	struct lkdf *rt;
	int rc, nr = 0;

	rc = lkdf_open(NULL, &rt);
	if (rc)
		return rc;
	attr.name = "node";
	attr.fn = visit;
	attr.arg_size = sizeof(int);
	rc = lkdf_kind_create(rt, &attr, &node);
	if (nr_kinds > 1)
		attr.name = "leaf";
	if (!rc)
		rc = lkdf_kind_create(rt, &attr, &leaf);
	if (!rc)
		rc = make_block(rt);
	while (!rc && now() < start + seconds) {
		rc = run_tree(rt);
		nr++;
	}
	fprintf(stderr, "%d trees, %.2f ms each\n", nr,
		(now() - start) * 1000 / (nr ? nr : 1));
	lkdf_free(rt, in_block ? (char *)in_block - LOCK_AT : NULL);
	lkdf_kind_put(leaf);
	lkdf_kind_put(node);
	lkdf_close(rt);
	return rc;
}

static int usage(FILE *f)
{
	unsigned i;

	fprintf(f, "usage: convoy [--lock NAME] [--kinds 1|2] [--seconds S]\n"
		   "locks:");
	for (i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
		fprintf(f, " %s", locks[i].name);
	fprintf(f, "\n");
	return f == stdout ? 0 : 2;
}

static int choose(const char *name)
{
	unsigned i;

	for (i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
		if (strcmp(name, locks[i].name))
			continue;
		lock_call = locks[i].fn;
		label = strcmp(name, "block") ? NULL : "lock table";
		return 0;
	}
	return 1;
}

/* The value as a number from least to most; false: it is none. */
static bool read_number(const char *value, double least, double most,
			double *out)
{
	char *end;

	*out = strtod(value, &end);
	return *value && !*end && *out >= least && *out <= most;
}

static bool set_option(const char *name, const char *value, double *seconds)
{
	double number;

	if (!strcmp(name, "--lock"))
		return !choose(value);
	if (!strcmp(name, "--seconds"))
		return read_number(value, 0, 86400, seconds);
	if (strcmp(name, "--kinds") || !read_number(value, 1, 2, &number))
		return false;
	nr_kinds = (int)number;
	return true;
}

int main(int argc, char **argv)
{
	double seconds = 5;
	int i;

	for (i = 1; i < argc; i += 2) {
		if (!strcmp(argv[i], "--help"))
			return usage(stdout);
		if (i + 1 < argc && set_option(argv[i], argv[i + 1], &seconds))
			continue;
		fprintf(stderr, "convoy: %s%s%s: not understood\n", argv[i],
			i + 1 < argc ? " " : "",
			i + 1 < argc ? argv[i + 1] : "");
		return usage(stderr);
	}
	sem_init(&semaphore, 0, 1);
	if (run(seconds)) {
		fprintf(stderr, "convoy: %s\n", lkdf_errmsg());
		return 1;
	}
	return 0;
}
