/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * max_tasks of a scope: never more live in it, whoever submits waits its turn,
 * a body is told instead, and a cancel ends the wait.
 */
#include "tests/api/late.h"

#include <pthread.h>
#include <sys/resource.h>

#define MAX 8
#define MANY 100 /* so many that a quarter is waited for, see room.c */

static struct lkdf_scope *limited(struct lkdf *rt, struct lkdf_scope *parent,
				  uint64_t max)
{
	struct lkdf_scope *s;

	must(lkdf_scope_create(
		rt, ATTR(lkdf_scope_attr, .parent = parent, .max_tasks = max),
		&s));
	return s;
}

/* Tasks are live from before submit returns until their argument is dropped. */
static atomic_int nr_live, most_live, nr_ran;

static int live_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
	return 0;
}

static int begin_live(struct lkdf_ctx *c, void *arg)
{
	int live = atomic_fetch_add(&nr_live, 1) + 1;
	int most = atomic_load(&most_live);

	while (live > most &&
	       !atomic_compare_exchange_weak(&most_live, &most, live))
		;
	return live_body(c, arg);
}

static void end_live(void *arg)
{
	(void)arg;
	atomic_fetch_sub(&nr_live, 1);
}

/* Copies a byte, so that it has something to drop. */
static struct lkdf_kind *live_kind(struct lkdf *rt)
{
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "live",
				   .fn = begin_live, .arg_size = 1,
				   .flags = LKDF_BLOCKING, .drop = end_live),
			      &k));
	return k;
}

struct thread {
	pthread_t id;
	struct lkdf *rt;
	struct lkdf_scope *s;
	struct lkdf_kind *k;
	const struct lkdf_event *after; /* of submit_one() */
	int nr, nr_each, rc;
};

static void *submit_all(void *arg)
{
	struct thread *t = arg;
	const struct lkdf_task *task = ATTR(lkdf_task, .kind = t->k, .arg = "");
	const struct lkdf_task *many[MAX] = { task, task, task, task };
	int i;

	for (i = 0; i < t->nr && !t->rc; i++)
		t->rc = t->nr_each == 1
				? lkdf_submit(t->rt, t->s, task, NULL)
				: lkdf_submit_many(t->rt, t->s, many,
						   (unsigned)t->nr_each, NULL);
	return NULL;
}

/* Bodies count what has begun and not ended: a lower bound of what lives. */
static void never_more_live(const char *options, int max, int nr_each)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_scope *outer = limited(rt, NULL, (uint64_t)max);
	struct lkdf_scope *inner = limited(rt, outer, (uint64_t)max - 2);
	struct lkdf_kind *k = live_kind(rt);
	struct thread t[4];
	int i, rc = 0;

	nr_live = most_live = nr_ran = 0;
	for (i = 0; i < 4; i++) {
		t[i] = (struct thread){ .rt = rt,
					.k = k,
					.nr = 500,
					.s = i % 2 ? inner : outer,
					.nr_each = nr_each };
		pthread_create(&t[i].id, NULL, submit_all, &t[i]);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(t[i].id, NULL);
		rc = rc ? rc : t[i].rc;
	}
	is(rc, 0, "%s, %d, %d each: all are submitted", options, max, nr_each);
	is(lkdf_scope_wait(rt, outer, -1), 0, "%s: they end", options);
	is(nr_ran, 4 * 500 * nr_each, "%s: all have run", options);
	ok(most_live <= max, "%s: at most %d at a time", options, most_live);
	lkdf_scope_put(inner);
	lkdf_scope_put(outer);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

static void memory_does_not_grow(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_scope *s = limited(rt, NULL, 64);
	struct rusage before, after;
	struct thread t = { .rt = rt, .s = s, .nr = 100000, .nr_each = 1 };

	t.k = api_kind(rt, "nothing", api_nothing, 0, 0);
	t.nr = 1000;
	submit_all(&t);
	getrusage(RUSAGE_SELF, &before);
	t.nr = 200000;
	submit_all(&t);
	getrusage(RUSAGE_SELF, &after);
	is(t.rc, 0, "200,000 tasks through a scope of 64");
	if (HAS_SANITIZER)
		skip("memory", "the sanitizer's grows");
	else
		ok(after.ru_maxrss - before.ru_maxrss < 2048,
		   "take %ld KiB more", after.ru_maxrss - before.ru_maxrss);
	is(lkdf_scope_wait(rt, s, -1), 0, "they end");
	lkdf_scope_put(s);
	lkdf_kind_put(t.k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

struct seen {
	struct lkdf_scope *s;
	struct lkdf_kind *k;
	struct lkdf_graph *g;
	int one, many, run;
};

static int submit_in_body(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_task *many[2];
	struct seen *seen = arg;

	many[0] = many[1] = ATTR(lkdf_task, .kind = seen->k);
	seen->one = lkdf_submit(lkdf_runtime(c), seen->s, many[0], NULL);
	seen->many = lkdf_submit_many(lkdf_runtime(c), seen->s, many, 2, NULL);
	seen->run = lkdf_graph_run(seen->g, seen->s, NULL, NULL);
	return 0;
}

/* In the scope whose only room is its own. */
static void a_body_is_told(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct seen seen = { .s = limited(rt, NULL, 2) };
	struct lkdf_kind *k = api_kind(rt, "submits", submit_in_body, 0, 0);
	struct lkdf_event never;

	seen.k = api_kind(rt, "nothing", api_nothing, 0, 0);
	seen.g = api_graph(rt, 1);
	must(lkdf_graph_add(seen.g, seen.k, NULL, NULL, 0));
	must(lkdf_graph_seal(seen.g, NULL));
	must(lkdf_event_create(rt, 1, 0, &never));
	must(lkdf_submit(rt, seen.s,
			 ATTR(lkdf_task, .kind = seen.k, .after = &never,
			      .nr_after = 1),
			 NULL));
	must(lkdf_submit(rt, seen.s, ATTR(lkdf_task, .kind = k, .arg = &seen),
			 NULL));
	is(lkdf_scope_wait(rt, seen.s, 0), 1, "%s: one waits", options);
	must(lkdf_event_signal(never, 0));
	lkdf_event_put(never);
	is(lkdf_scope_wait(rt, seen.s, -1), 0, "%s: all end", options);
	is(seen.one, -EAGAIN, "%s: no room for one from a body", options);
	is(seen.many, -EAGAIN, "%s: nor for two", options);
	is(seen.run, -EAGAIN, "%s: nor for a run", options);
	is(lkdf_graph_run(seen.g, seen.s,
			  ATTR(lkdf_run, .flags = LKDF_RUN_NOWAIT), NULL),
	   0, "%s: afterwards there is", options);
	is(lkdf_scope_wait(rt, seen.s, -1), 0, "%s: it ends", options);
	lkdf_graph_put(seen.g);
	lkdf_scope_put(seen.s);
	lkdf_kind_put(k);
	lkdf_kind_put(seen.k);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

static void more_than_there_is_room_is_refused(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_scope *s = limited(rt, NULL, 3);
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	const struct lkdf_task *many[4];
	int i;

	many[0] = ATTR(lkdf_task, .kind = k);
	for (i = 1; i < 4; i++)
		many[i] = many[0];
	is(lkdf_submit_many(rt, s, many, 4, NULL), -E2BIG, "4 where 3 fit");
	has(lkdf_errmsg(), "4 tasks", "which the text says: %s", lkdf_errmsg());
	is(lkdf_submit_many(rt, s, many, 3, NULL), 0, "3 fit");
	is(lkdf_submit_many(rt, s, many, 3, NULL), 0, "and after them 3 more");
	is(lkdf_scope_wait(rt, s, -1), 0, "they end");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void *submit_one(void *arg)
{
	struct thread *t = arg;

	t->rc = lkdf_submit(t->rt, t->s,
			    ATTR(lkdf_task, .kind = t->k, .after = t->after,
				 .nr_after = t->after != NULL),
			    NULL);
	return NULL;
}

/* How the wait ends: a cancel of the scope, of the one above, a deadline. */
static void a_wait_ends_with(int how)
{
	static const char *const name[] = { "a cancel", "a cancel above",
					    "its deadline", "room" };
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_scope *top, *outer, *s;
	struct lkdf_event never;
	struct thread t = { .rt = rt };
	int want = how == 3 ? 0 : -ECANCELED;

	must(lkdf_scope_create(rt, NULL, &top));
	/* The room is above the scope that is submitted to. */
	outer = limited(rt, top, 1);
	must(lkdf_scope_create(rt,
			       ATTR(lkdf_scope_attr, .parent = outer,
				    .deadline_ns = how == 2 ? 5 * MS : 0),
			       &s));
	t.s = s;
	t.k = api_kind(rt, "nothing", api_nothing, 0, 0);
	must(lkdf_event_create(rt, 1, 0, &never));
	must(lkdf_submit(rt, outer,
			 ATTR(lkdf_task, .kind = t.k, .after = &never,
			      .nr_after = 1),
			 NULL));
	pthread_create(&t.id, NULL, submit_one, &t);
	api_nap_ns(3 * MS);
	if (how < 2)
		must(lkdf_scope_cancel(rt, how ? top : s, -EINTR));
	if (how == 3)
		must(lkdf_event_signal(never, 0));
	pthread_join(t.id, NULL);
	is(t.rc, want, "a wait for room ends with %s", name[how]);
	if (how != 3)
		must(lkdf_event_signal(never, 0));
	lkdf_event_put(never);
	is(lkdf_scope_wait(rt, top, -1), how == 1 ? -EINTR : 0,
	   "%s: the scope ends", name[how]);
	lkdf_scope_put(s);
	lkdf_scope_put(outer);
	lkdf_scope_put(top);
	lkdf_kind_put(t.k);
	is(lkdf_close(rt), 0, "%s: the runtime closes", name[how]);
}

/*
 * All of a large scope wait for events of their own; one after the other ends,
 * and each time a new one gets its room, although no quarter is free.
 */
static void each_room_is_taken(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_scope *s = limited(rt, NULL, MANY);
	struct lkdf_event end[2 * MANY];
	struct thread t = { .rt = rt, .s = s };
	int i, rc = 0;

	t.k = api_kind(rt, "nothing", api_nothing, 0, 0);
	for (i = 0; i < 2 * MANY; i++) {
		must(lkdf_event_create(rt, 1, 0, &end[i]));
		t.after = &end[i];
		pthread_create(&t.id, NULL, submit_one, &t);
		if (i % 2)
			api_nap_ns(MS);
		if (i >= MANY)
			must(lkdf_event_signal(end[i - MANY], 0));
		pthread_join(t.id, NULL);
		rc = rc ? rc : t.rc;
	}
	is(rc, 0, "one of %d ends, and the next one gets in", MANY);
	for (i = 0; i < 2 * MANY; i++) {
		if (i >= MANY)
			must(lkdf_event_signal(end[i], 0));
		lkdf_event_put(end[i]);
	}
	is(lkdf_scope_wait(rt, s, -1), 0, "they end");
	lkdf_scope_put(s);
	lkdf_kind_put(t.k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	int how;

	tap_start(60);
	never_more_live("workers=2,blocking=12", MAX, 1);
	never_more_live("workers=2,blocking=12", MAX, 4);
	never_more_live("workers=2,blocking=12", MANY, 1);
	never_more_live("workers=2,blocking=12", MANY, 4);
	never_more_live("serial=yes", MAX, 1);
	never_more_live("serial=yes", MANY, 1);
	memory_does_not_grow();
	a_body_is_told("workers=1");
	a_body_is_told("serial=yes");
	more_than_there_is_room_is_refused();
	each_room_is_taken();
	for (how = 0; how < 4; how++)
		a_wait_ends_with(how);
	return tap_end();
}
