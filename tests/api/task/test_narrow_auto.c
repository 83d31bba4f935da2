/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option narrow=auto with bodies that do meet: in a mutex, in a spin lock, in a
 * lock of libc, from two runtimes in one process at once; bodies of several
 * lengths; a convoy every tenth time; submitted, spawned and joined; kinds that
 * end meanwhile; a cancel and a close while bodies may lie aside. Whether any
 * kind is narrowed is the machine's affair: each body runs once, and what is
 * told agrees with itself.
 */
#include "tests/api/api.h"

#include <lkdf/signals.h>
#include <pthread.h>

#define NR 2000u
#define ROUNDS 6

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_flag spin = ATOMIC_FLAG_INIT;
static atomic_uint nr_run, round_now;

static void compute(unsigned nr)
{
	volatile unsigned x = 1;

	while (nr--)
		x = x * 5 + 1;
}

static void in_mutex(unsigned nr)
{
	pthread_mutex_lock(&mutex);
	compute(nr);
	pthread_mutex_unlock(&mutex);
}

static int meet(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < 20; i++)
		in_mutex(50);
	atomic_fetch_add(&nr_run, 1);
	return 0;
}

static int turn(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < 20; i++) {
		while (atomic_flag_test_and_set(&spin))
			sched_yield();
		compute(50);
		atomic_flag_clear(&spin);
	}
	atomic_fetch_add(&nr_run, 1);
	return 0;
}

/* From a microsecond to a millisecond, and more. */
static int vary(struct lkdf_ctx *c, void *arg)
{
	unsigned nr = atomic_fetch_add(&nr_run, 1);

	(void)c;
	(void)arg;
	in_mutex(nr % 500 ? 300 : 300000);
	return 0;
}

static int tenth(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < 20; i++)
		if (atomic_load(&round_now) % 10)
			compute(50);
		else
			in_mutex(50);
	atomic_fetch_add(&nr_run, 1);
	return 0;
}

static int join_some(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *k = *(struct lkdf_kind **)arg;
	int i;

	for (i = 0; i < 8; i++) {
		must(lkdf_spawn(c, k, NULL));
		if (i == 3)
			must(lkdf_join(c));
	}
	return lkdf_join(c);
}

static struct lkdf *open_auto(int workers)
{
	char options[64];

	snprintf(options, sizeof(options), "workers=%d,narrow=auto,final",
		 workers);
	return api_open(options);
}

static void submit(struct lkdf *rt, struct lkdf_kind *k, void *arg, unsigned nr)
{
	while (nr--)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = arg), NULL));
}

static void each_runs_once(const char *name, lkdf_fn fn, int workers)
{
	struct lkdf *rt = open_auto(workers);
	struct lkdf_kind *k = api_kind(rt, name, fn, 0, 0);
	unsigned i;

	atomic_store(&nr_run, 0);
	for (i = 0; i < ROUNDS; i++) {
		atomic_store(&round_now, i);
		submit(rt, k, NULL, NR);
		must(lkdf_scope_wait(rt, NULL, -1));
	}
	is(atomic_load(&nr_run), ROUNDS * NR, "%s, %d workers: each runs once",
	   name, workers);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "and the runtime closes");
}

static void joins_end(void)
{
	struct lkdf *rt = open_auto(4);
	struct lkdf_kind *k = api_kind(rt, "meet", meet, 0, 0);
	struct lkdf_kind *above =
		api_kind(rt, "above", join_some, sizeof(struct lkdf_kind *), 0);

	atomic_store(&nr_run, 0);
	submit(rt, above, &k, NR / 4);
	must(lkdf_scope_wait(rt, NULL, -1));
	is(atomic_load(&nr_run), NR / 4 * 8, "children that are joined");
	lkdf_kind_put(k);
	lkdf_kind_put(above);
	is(lkdf_close(rt), 0, "and the runtime closes");
}

/* One lock, two runtimes, each with its own windows and gates. */
static void two_runtimes_meet(void)
{
	struct lkdf *a = open_auto(2), *b = open_auto(3);
	struct lkdf_kind *of_a = api_kind(a, "meet", meet, 0, 0);
	struct lkdf_kind *of_b = api_kind(b, "meet", meet, 0, 0);
	int i;

	atomic_store(&nr_run, 0);
	for (i = 0; i < ROUNDS; i++) {
		submit(a, of_a, NULL, NR);
		submit(b, of_b, NULL, NR);
		must(lkdf_scope_wait(a, NULL, -1));
		must(lkdf_scope_wait(b, NULL, -1));
	}
	is(atomic_load(&nr_run), 2 * ROUNDS * NR, "two runtimes in one lock");
	lkdf_kind_put(of_a);
	lkdf_kind_put(of_b);
	is(lkdf_close(a) + lkdf_close(b), 0, "and both close");
}

static void kinds_come_and_go(void)
{
	struct lkdf *rt = open_auto(4);
	struct lkdf_kind *k;
	int i;

	atomic_store(&nr_run, 0);
	for (i = 0; i < 4 * ROUNDS; i++) {
		k = api_kind(rt, "meet", meet, 0, 0);
		submit(rt, k, NULL, NR / 4);
		lkdf_kind_put(k);
		if (i % 2)
			must(lkdf_scope_wait(rt, NULL, -1));
	}
	is(atomic_load(&nr_run), ROUNDS * NR, "kinds of one name, in a row");
	is(lkdf_close(rt), 0, "and the runtime closes");
}

static void cancelled_ones_end(void)
{
	struct lkdf *rt = open_auto(4);
	struct lkdf_kind *k = api_kind(rt, "meet", meet, 0, 0);
	struct lkdf_scope *s;
	unsigned i;

	atomic_store(&nr_run, 0);
	must(lkdf_scope_create(rt, NULL, &s));
	for (i = 0; i < 4 * NR; i++)
		must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k), NULL));
	lkdf_scope_cancel(rt, s, -ECANCELED);
	lkdf_scope_wait(rt, s, -1);
	ok(atomic_load(&nr_run) <= 4 * NR, "a cancel ends the rest, after %u",
	   atomic_load(&nr_run));
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "and the runtime closes");
}

static void facts_agree(void)
{
	struct lkdf_facts f = { .size = sizeof(f) };
	struct lkdf *rt = open_auto(2);
	struct lkdf_kind *k = api_kind(rt, "meet", meet, 0, 0);

	submit(rt, k, NULL, NR);
	must(lkdf_scope_wait(rt, NULL, -1));
	must(lkdf_signals(rt, -1, &f));
	ok(f.active_workers >= 1 && f.active_workers <= 2 &&
		   (f.nr_narrow > 0) == (f.active_workers < 2),
	   "%u of 2 workers, %u sets", f.active_workers, f.nr_narrow);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
	rt = api_open("workers=2,narrow=off,final");
	must(lkdf_signals(rt, -1, &f));
	is(f.active_workers + f.nr_narrow, 0,
	   "without the option nobody knows");
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(300);
	each_runs_once("meet", meet, 4);
	each_runs_once("turn", turn, 2);
	each_runs_once("vary", vary, 3);
	each_runs_once("tenth", tenth, 2);
	each_runs_once("meet", meet, 1);
	joins_end();
	two_runtimes_meet();
	kinds_come_and_go();
	cancelled_ones_end();
	facts_agree();
	return tap_end();
}
