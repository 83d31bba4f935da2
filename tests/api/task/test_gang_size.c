/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A gang is one thread's at a time, and tasks of its members run on as many
 * workers as its size says.
 */
#include "tests/api/api.h"
#include "tests/tap.h"

#include <lkdf/lkdf.h>
#include <pthread.h>
#include <stdatomic.h>

#define WORKERS 4

/* ---- one thread at a time ----------------------------------------------- */

struct user {
	struct lkdf_gang *gang;
	atomic_uint nr_runs;
	int in_own, other;
};

static void count(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct user *user = u;

	(void)c;
	(void)num;
	user->nr_runs++;
}

static void *run_too(void *u)
{
	struct user *user = u;

	user->other = lkdf_gang_run(user->gang, 1, count, user);
	return NULL;
}

/* Member 0 stays until another thread has tried. */
static void try_too(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct user *user = u;
	pthread_t thread;

	(void)c;
	if (num)
		return;
	pthread_create(&thread, NULL, run_too, user);
	pthread_join(thread, NULL);
}

static void *resize_too(void *u)
{
	struct user *user = u;

	user->other = lkdf_gang_resize(user->gang, 1);
	return NULL;
}

static void try_resize(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct user *user = u;
	pthread_t thread;

	(void)c;
	if (num)
		return;
	pthread_create(&thread, NULL, resize_too, user);
	pthread_join(thread, NULL);
	user->in_own = lkdf_gang_resize(user->gang, 1);
}

static void test_busy(struct lkdf_gang *g)
{
	struct user user = { .gang = g };

	is(lkdf_gang_run(g, 2, try_too, &user), 0, "while one thread runs it");
	is(user.other, -EBUSY, "another one does not");
	ok(!user.nr_runs, "nor does its function");
	is(lkdf_gang_run(g, 2, try_resize, &user), 0,
	   "while one thread runs it");
	is(user.other, -EBUSY, "its size stays");
	is(user.in_own, -EDEADLK, "for its members, too");
	is(lkdf_gang_run(g, 1, count, &user), 0, "afterwards it runs");
}

/* ---- size --------------------------------------------------------------- */

#define MANY 400
#define NR_SIZES 8

struct seen {
	struct lkdf_kind *kind;
	atomic_uint workers, nr;
};

/* Long enough that workers without a task look for one. */
static int note_where(struct lkdf_ctx *c, void *arg)
{
	struct seen *s = *(struct seen **)arg;
	volatile int i;

	for (i = 0; i < 5000; i++)
		;
	atomic_fetch_or(&s->workers, 1u << lkdf_worker(c));
	s->nr++;
	return 0;
}

static void spread(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct seen *s = u;
	int i;

	for (i = 0; !num && i < MANY; i++)
		lkdf_spawn(c, s->kind, &s);
	lkdf_gang_barrier(c);
}

/* Tasks of a gang of nr run on its first nr workers, whatever it was before. */
static void test_size(struct lkdf *rt, struct lkdf_gang *g)
{
	static const unsigned sizes[NR_SIZES] = { 2, 1, 3, 4, 1, 4, 2, 3 };
	struct seen s = { 0 };
	unsigned i, nr_wrong = 0;

	lkdf_kind_create(rt,
			 LKDF_KIND(.name = "note", .fn = note_where,
				   .arg_size = sizeof(void *)),
			 &s.kind);
	for (i = 0; i < 5 * NR_SIZES; i++) {
		unsigned nr = sizes[i % NR_SIZES];

		s.workers = s.nr = 0;
		if (lkdf_gang_resize(g, nr) || lkdf_gang_run(g, nr, spread, &s))
			nr_wrong++;
		nr_wrong += s.nr != MANY || s.workers >> nr;
	}
	is(nr_wrong, 0, "tasks run on the workers that are members");
	is(lkdf_gang_run(g, 4, spread, &s), -EINVAL, "a run above its size");
	is(lkdf_gang_resize(g, 0), -EINVAL, "a size of none");
	is(lkdf_gang_resize(g, WORKERS + 1), -EINVAL, "above the workers");
	is(lkdf_gang_resize(NULL, 1), -EINVAL, "of no gang");
	is(lkdf_gang_resize(g, WORKERS), 0, "it is as large as before");
	lkdf_kind_put(s.kind);
}

int main(void)
{
	struct lkdf *rt = NULL;
	struct lkdf_gang *g = NULL;

	tap_start(120);
	ok(!lkdf_open("workers=4,topology=\"numa:1 core:4\"", &rt),
	   "a runtime");
	ok(!lkdf_gang_create(rt, &g), "and its gang");
	test_busy(g);
	test_size(rt, g);
	lkdf_gang_put(g);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
