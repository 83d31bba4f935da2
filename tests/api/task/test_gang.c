/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Gangs: members are the same threads each time, barriers hold all of them and
 * show what each has done, tasks of members end with the run, and worker 0
 * comes back.
 */
#include "tests/api/api.h"
#include "tests/tap.h"

#include <lkdf/lkdf.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 4
#define ROUNDS 200
#define DEEP 12

static _Thread_local unsigned nr_here;

struct shared {
	struct lkdf_kind *kind;
	atomic_uint nr_runs, nr_wrong, nr_tasks;
	unsigned nr, value[WORKERS];
	pthread_t thread[WORKERS];
};

static unsigned sum_of(const struct shared *s)
{
	unsigned i, sum = 0;

	for (i = 0; i < s->nr; i++)
		sum += s->value[i];
	return sum;
}

/* Each member writes its value, and after a barrier each sees all. */
static void meet(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct shared *s = u;
	unsigned i;

	s->nr_runs++;
	for (i = 1; i <= ROUNDS; i++) {
		s->value[num] = i;
		if (lkdf_gang_barrier(c) || sum_of(s) != i * s->nr)
			s->nr_wrong++;
		if (lkdf_gang_barrier(c))
			s->nr_wrong++;
	}
}

static void test_barriers(struct lkdf_gang *g)
{
	struct shared s;
	unsigned nr;

	for (nr = 1; nr <= WORKERS; nr++) {
		s = (struct shared){ .nr = nr };
		ok(!lkdf_gang_run(g, nr, meet, &s), "%u members run", nr);
		ok(s.nr_runs == nr, "each of %u once", nr);
		ok(!s.nr_wrong, "barriers of %u hold all", nr);
	}
}

static void stay(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct shared *s = u;

	(void)c;
	if (!s->thread[num])
		s->thread[num] = pthread_self();
	else if (!pthread_equal(s->thread[num], pthread_self()))
		s->nr_wrong++;
	if (nr_here++ != s->value[num]++)
		s->nr_wrong++;
}

static void test_threads(struct lkdf_gang *g)
{
	struct shared s = { .nr = WORKERS };
	unsigned i;

	for (i = 0; i < ROUNDS; i++)
		lkdf_gang_run(g, i % 7 ? WORKERS : WORKERS / 2, stay, &s);
	ok(!s.nr_wrong, "a member is the same thread in each run");
	ok(pthread_equal(s.thread[0], pthread_self()), "the first the caller");
}

/* Counts itself and spawns two below, down to depth 0. */
static int grow(struct lkdf_ctx *c, void *arg)
{
	struct {
		struct shared *s;
		unsigned depth;
	} *a = arg, below;

	a->s->nr_tasks++;
	if (!a->depth)
		return 0;
	below.s = a->s;
	below.depth = a->depth - 1;
	return lkdf_spawn(c, a->s->kind, &below)
		       ?: lkdf_spawn(c, a->s->kind, &below);
}

/* Only one has tasks, and all of them are done after the barrier. */
static void plant(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct shared *s = u;
	struct {
		struct shared *s;
		unsigned depth;
	} a = { s, DEEP };

	if (num == s->value[0] && lkdf_spawn(c, s->kind, &a))
		s->nr_wrong++;
	if (lkdf_gang_barrier(c) || s->nr_tasks != (2u << DEEP) - 1)
		s->nr_wrong++;
	lkdf_gang_barrier(c);
	if (num == s->value[1] && lkdf_spawn(c, s->kind, &a))
		s->nr_wrong++;
}

static void test_tasks(struct lkdf *rt, struct lkdf_gang *g)
{
	struct shared s = { .nr = WORKERS };
	unsigned i;

	lkdf_kind_create(rt,
			 LKDF_KIND(.name = "grow", .fn = grow, .arg_size = 16),
			 &s.kind);
	for (i = 0; i < WORKERS; i++) {
		s.nr_tasks = 0;
		s.value[0] = i;
		s.value[1] = WORKERS - 1 - i;
		ok(!lkdf_gang_run(g, WORKERS, plant, &s), "tasks of member %u",
		   i);
		ok(!s.nr_wrong, "end before its barrier does");
		ok(s.nr_tasks == 2 * ((2u << DEEP) - 1),
		   "and those of its end before the run does");
	}
	lkdf_kind_put(s.kind);
}

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EDOM, "as it is told to");
}

static void spawn_bad(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct shared *s = u;

	if (num != s->value[0])
		return;
	lkdf_spawn(c, s->kind, NULL);
	if (s->value[1] && lkdf_gang_barrier(c) != -EDOM)
		s->nr_wrong++;
}

static void test_errors(struct lkdf *rt, struct lkdf_gang *g)
{
	struct shared s = { .nr = WORKERS };
	struct lkdf_gang *other = NULL;

	lkdf_kind_create(rt, LKDF_KIND(.name = "fail", .fn = fail), &s.kind);
	is(lkdf_gang_run(g, 2, spawn_bad, &s), -EDOM,
	   "the error of a task of the first");
	s.value[0] = 1;
	is(lkdf_gang_run(g, 2, spawn_bad, &s), -EDOM, "or of another");
	s.value[0] = 0;
	s.value[1] = 1;
	is(lkdf_gang_run(g, 1, spawn_bad, &s), 0,
	   "none that a barrier has returned");
	ok(!s.nr_wrong, "which it has");
	lkdf_kind_put(s.kind);
	is(lkdf_gang_create(rt, &other), -EBUSY, "a second gang");
	is(lkdf_gang_create(NULL, &other), -EINVAL, "no runtime");
	is(lkdf_gang_create(rt, NULL), -EINVAL, "no place for it");
	is(lkdf_gang_run(NULL, 1, meet, &s), -EINVAL, "no gang");
	is(lkdf_gang_run(g, 0, meet, &s), -EINVAL, "no member");
	is(lkdf_gang_run(g, WORKERS + 1, meet, &s), -EINVAL,
	   "more than there are workers");
	is(lkdf_gang_run(g, 1, NULL, &s), -EINVAL, "no function");
	is(lkdf_gang_barrier(NULL), -EINVAL, "a barrier of nobody");
	lkdf_gang_put(NULL);
	is(lkdf_close(rt), -EBUSY, "the runtime does not close");
}

struct inner {
	struct lkdf_gang *gang, *own;
	struct shared s;
	int in_own, other;
};

static void nest(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct inner *in = u;

	if (num == 1) {
		in->in_own = lkdf_gang_run(in->own, 1, meet, &in->s);
		in->other = lkdf_gang_run(in->gang, in->s.nr, meet, &in->s);
	}
	lkdf_gang_barrier(c);
}

static void test_nested(struct lkdf_gang *g)
{
	struct inner in = { .own = g, .s.nr = 2 };
	struct lkdf *rt = NULL;

	ok(!lkdf_open("workers=2", &rt) && !lkdf_gang_create(rt, &in.gang),
	   "a gang of another runtime");
	ok(!lkdf_gang_run(g, WORKERS, nest, &in), "members run it");
	is(in.other, 0, "it runs");
	ok(in.s.nr_runs == 2 && !in.s.nr_wrong, "whole");
	is(in.in_own, -EDEADLK, "not their own");
	lkdf_gang_put(in.gang);
	is(lkdf_close(rt), 0, "and closes");
}

static void *run_too(void *u)
{
	struct inner *in = u;

	in->other = lkdf_gang_run(in->gang, in->s.nr, meet, &in->s);
	return NULL;
}

/* Another thread than the one that made it, with a stack of its own. */
static void test_guests(struct lkdf_gang *g)
{
	struct inner in = { .gang = g, .s.nr = WORKERS };
	pthread_t thread;

	pthread_create(&thread, NULL, run_too, &in);
	pthread_join(thread, NULL);
	ok(!in.other && in.s.nr_runs == WORKERS && !in.s.nr_wrong,
	   "another thread runs it");
}

static void test_fork(struct lkdf_gang *g)
{
	struct shared s = { .nr = 1 };
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(lkdf_gang_run(g, 1, meet, &s) == -EOWNERDEAD ? 0 : 1);
	waitpid(pid, &status, 0);
	is(status, 0, "a forked child has none");
}

/* ---- a join does not run members ---------------------------------------- */

struct late {
	struct lkdf_kind *child;
	sem_t in_child, in_join; /* it has begun, and its parent may join */
	atomic_bool has_begun, is_early;
};

/*
 * On another worker than its parent: gives a member the time to come early. A
 * member that is late for another reason is not told from one that waits.
 */
static int linger(struct lkdf_ctx *c, void *arg)
{
	struct late *l = *(struct late **)arg;
	int i;

	(void)c;
	sem_post(&l->in_join);
	sem_post(&l->in_child);
	for (i = 0; i < 100 && !l->has_begun; i++)
		usleep(1000);
	l->is_early = l->has_begun;
	return 0;
}

static int join_below(struct lkdf_ctx *c, void *arg)
{
	struct late *l = *(struct late **)arg;

	if (lkdf_spawn(c, l->child, arg))
		return -ENOMEM;
	sem_wait(&l->in_join);
	return lkdf_join(c);
}

static void begin(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct late *l = u;

	if (num)
		l->has_begun = true;
	lkdf_gang_barrier(c);
}

/*
 * A member waits for others, who may wait for what is below the join: it begins
 * after the body that its worker is in.
 */
static void test_late(struct lkdf *rt, struct lkdf_gang *g)
{
	struct late l = { 0 }, *arg = &l;
	struct lkdf_kind *parent;
	struct lkdf_place *node, *part;
	struct lkdf_task t = { .size = sizeof(t),
			       .arg = &arg,
			       .flags = LKDF_PINNED };

	lkdf_kind_create(rt,
			 LKDF_KIND(.name = "linger", .fn = linger,
				   .arg_size = sizeof(arg)),
			 &l.child);
	lkdf_kind_create(rt,
			 LKDF_KIND(.name = "below", .fn = join_below,
				   .arg_size = sizeof(arg)),
			 &parent);
	lkdf_places(rt, LKDF_PLACE_NODE, &node, 1);
	lkdf_place_part(node, 1, WORKERS, &part);
	t.kind = parent;
	t.place = part;
	sem_init(&l.in_child, 0, 0);
	sem_init(&l.in_join, 0, 0);
	lkdf_submit(rt, NULL, &t, NULL);
	sem_wait(&l.in_child);
	is(lkdf_gang_run(g, 2, begin, &l), 0, "a worker is in a join");
	ok(l.has_begun && !l.is_early, "its member begins after that body");
	lkdf_kind_put(parent);
	lkdf_kind_put(l.child);
}

static int note_worker(struct lkdf_ctx *c, void *arg)
{
	atomic_fetch_or((atomic_uint *)*(void **)arg, 1u << lkdf_worker(c));
	return 0;
}

/* After the gang each worker runs tasks that are bound to it. */
static void test_after(struct lkdf *rt)
{
	atomic_uint seen = 0;
	void *arg = &seen;
	struct lkdf_kind *kind = NULL;
	struct lkdf_place *node, *part;
	unsigned i;

	lkdf_kind_create(rt,
			 LKDF_KIND(.name = "note", .fn = note_worker,
				   .arg_size = sizeof(arg)),
			 &kind);
	lkdf_places(rt, LKDF_PLACE_NODE, &node, 1);
	for (i = 0; i < WORKERS; i++) {
		struct lkdf_task t = { .size = sizeof(t),
				       .kind = kind,
				       .arg = &arg,
				       .flags = LKDF_PINNED };

		lkdf_place_part(node, i, WORKERS, &part);
		t.place = part;
		lkdf_submit(rt, NULL, &t, NULL);
	}
	lkdf_scope_wait(rt, NULL, -1);
	ok(seen == (1u << WORKERS) - 1, "all workers are back");
	lkdf_kind_put(kind);
}

/* ---- names -------------------------------------------------------------- */

static void name_within(struct lkdf_ctx *c, unsigned num, void *u)
{
	struct lkdf_gang **g = u;

	(void)c;
	if (num == 0 && g)
		is(lkdf_gang_name(*g, "other"), -EBUSY,
		   "a gang that runs keeps its name");
}

static void test_names(struct lkdf_gang *g)
{
	char text[200];
	int i, rc = 0;

	is(lkdf_gang_name(NULL, "name"), -EINVAL, "no gang has no name");
	is(lkdf_gang_name(g, NULL), -EINVAL, "a name is to be there");
	is(lkdf_gang_name(g, ""), -EINVAL, "and not empty");
	is(lkdf_gang_run(g, WORKERS, name_within, &g), 0, "a run");
	for (i = 0; i < 1000 && !rc; i++) {
		snprintf(text, sizeof(text), "%d%0100d", i, i);
		rc = lkdf_gang_name(g, text);
		if (!rc)
			rc = lkdf_gang_run(g, 2, name_within, NULL);
	}
	is(rc, 0, "1000 long names");
}

int main(void)
{
	struct lkdf *rt = NULL, *serial = NULL;
	struct lkdf_gang *g = NULL;

	tap_start(120);
	ok(!lkdf_open("workers=4,topology=\"numa:1 core:4\"", &rt),
	   "a runtime");
	ok(!lkdf_gang_create(rt, &g), "and its gang");
	test_names(g);
	test_barriers(g);
	test_threads(g);
	test_tasks(rt, g);
	test_nested(g);
	test_guests(g);
	test_late(rt, g);
	test_fork(g);
	test_errors(rt, g);
	lkdf_gang_put(g);
	test_after(rt);
	ok(!lkdf_gang_create(rt, &g), "another one");
	test_barriers(g);
	is(lkdf_gang_resize(g, 2), 0, "which has become smaller");
	lkdf_gang_put(g);
	test_after(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	ok(!lkdf_open("serial=yes", &serial), "a serial one");
	is(lkdf_gang_create(serial, &g), -EOPNOTSUPP, "has none");
	is(lkdf_close(serial), 0, "and closes");
	return tap_end();
}
