/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Deadlines of tasks and scopes: what has not started does not start, what
 * runs is told, and nothing is left of deadlines that nobody needed. How soon
 * is not asked: only that it comes while everybody sleeps, and while everybody
 * is busy.
 */
#include "tests/api/late.h"

#include <pthread.h>

/* Behind a body that has the only worker. */
static void a_task_that_did_not_start(void)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf *rt = api_open("workers=1");
	struct late l;
	struct lkdf_event done;

	late_init(&l, rt);
	late_block(&l);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .deadline_ns = MS),
			 &done));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .deadline_ns = HOUR),
			 NULL));
	api_nap_ns(3 * MS);
	late_unblock(&l);
	while (lkdf_event_error(done, &e) == 1)
		api_nap_ns(MS);
	is(e.err, -ETIME, "its error tells");
	is(e.nr_cancelled, 1, "that it was cancelled");
	has(e.why, "deadline", "and why: %s", e.why);
	is(lkdf_event_wait(done, -1), -ETIME, "its event has that error");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "which told it");
	is(l.ran, 1, "another one with time left has run");
	must(lkdf_scope_error(rt, NULL, &e));
	is(e.nr_cancelled, 1, "one is counted as cancelled");
	is(api_call(rt, l.count, &l.ran), 0, "the scope goes on");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "without an error");
	late_fini(&l);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static int until_cancelled(struct lkdf_ctx *c, void *arg)
{
	atomic_store((atomic_int *)arg, 1);
	while (!lkdf_cancelled(c))
		api_nap_ns(MS / 10);
	return lkdf_cancelled(c);
}

struct parent {
	struct lkdf_kind *child;
	atomic_int entered, ran, saw;
};

/* Its children are cancelled like itself. */
static int spawn_late(struct lkdf_ctx *c, void *arg)
{
	struct parent *p = arg;

	until_cancelled(c, &p->entered);
	must(lkdf_spawn(c, p->child, &p->ran));
	p->saw = lkdf_join(c);
	return 0;
}

static void a_running_body_sees_it(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "polls", until_cancelled, 0, 0);
	struct lkdf_kind *spawns = api_kind(rt, "spawns", spawn_late, 0, 0);
	struct parent p = { .child = api_kind(rt, "count", api_count, 0, 0) };
	atomic_int entered;

	is(late_start(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &entered),
		      &entered),
	   -ETIME, "%s: a body is told", options);
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "%s: its event has told what it returned", options);
	is(late_start(rt, NULL, ATTR(lkdf_task, .kind = spawns, .arg = &p),
		      &p.entered),
	   0, "%s: what a body makes of it counts", options);
	is(p.saw, -ETIME, "%s: its child is cancelled", options);
	is(p.ran, 0, "%s: and does not run", options);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: not for the scope", options);
	lkdf_kind_put(k);
	lkdf_kind_put(spawns);
	lkdf_kind_put(p.child);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

/* Nobody does anything meanwhile: idle workers keep the time. */
static void a_body_that_blocks_is_kicked(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct sleeper s = { 0 };
	struct lkdf_kind *k = sleeper_kind(rt);
	struct sleeper other = { 0 };
	struct lkdf_scope *scope, *others;
	struct lkdf_event done;
	int i;

	is(late_start(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &s),
		      &s.entered),
	   0, "%s: it ends", options);
	is(s.kicks, 1, "%s: kicked once", options);
	/* A later one first: an earlier one must shorten the sleep. */
	s = (struct sleeper){ 0 };
	must(lkdf_scope_create(rt, NULL, &scope));
	must(lkdf_scope_create(rt, NULL, &others));
	must(lkdf_submit(rt, scope,
			 ATTR(lkdf_task, .kind = k, .arg = &s,
			      .deadline_ns = HOUR),
			 &done));
	api_until(&s.entered);
	for (i = 0; i < 20; i++) {
		atomic_store(&other.kicks, 0);
		must(late_start(rt, others,
				ATTR(lkdf_task, .kind = k, .arg = &other),
				&other.entered));
	}
	is(s.kicks, 0, "%s: others' deadlines do not kick it", options);
	must(lkdf_scope_cancel(rt, scope, -EINTR));
	is(lkdf_event_wait(done, -1), 0, "%s: a cancel does", options);
	is(lkdf_scope_wait(rt, scope, -1), -EINTR, "%s: with its own error",
	   options);
	lkdf_scope_put(others);
	lkdf_scope_put(scope);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

/* A scope and one below it in which a body sleeps until the deadline. */
static int sleep_below(struct lkdf *rt, int64_t ns, struct sleeper *sleeper,
		       struct lkdf_scope **s, struct lkdf_scope **below)
{
	struct lkdf_kind *k = sleeper_kind(rt);
	int rc;

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .deadline_ns = ns),
			       s));
	rc = lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .parent = *s), below);
	if (rc == -ECANCELED)
		*below = NULL;
	else if (!must(rc))
		lkdf_submit(rt, *below,
			    ATTR(lkdf_task, .kind = k, .arg = sleeper), NULL);
	rc = lkdf_scope_wait(rt, *s, -1);
	lkdf_kind_put(k);
	return rc;
}

static void a_scope_ends_in_time(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_scope *s, *below;
	struct sleeper sleeper = { 0 };
	int64_t ns = 2 * MS;
	struct late l;
	int rc;

	late_init(&l, rt);
	rc = sleep_below(rt, ns, &sleeper, &s, &below);
	while (!sleeper.entered) {
		lkdf_scope_put(below);
		lkdf_scope_put(s);
		ns *= 2;
		rc = sleep_below(rt, ns, &sleeper, &s, &below);
	}
	is(rc, -ETIME, "%s: the scope ends with it", options);
	is(sleeper.kicks, 1, "%s: what blocked below it was kicked", options);
	is(lkdf_scope_wait(rt, below, -1), -ETIME, "%s: the one below knows",
	   options);
	is(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = l.count, .arg = &l.ran),
		       NULL),
	   0, "%s: after the wait it is usable again", options);
	is(lkdf_scope_wait(rt, s, -1), 0, "%s: without a deadline", options);
	is(l.ran, 1, "%s: its task has run", options);
	lkdf_scope_put(below);
	lkdf_scope_put(s);
	/* One that is over before anybody enters. */
	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .deadline_ns = 1),
			       &s));
	api_nap_ns(MS);
	is(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = l.count), NULL),
	   -ECANCELED, "%s: nothing enters one that is over", options);
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "%s: its wait says why",
	   options);
	lkdf_scope_put(s);
	late_fini(&l);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

/* Has a body of it begun before its deadline was over? */
static bool begins_in(struct late *l, struct lkdf_scope *s)
{
	struct lkdf_event done;
	int rc;

	atomic_store(&l->at.entered, 0);
	atomic_store(&l->at.open, 0);
	rc = lkdf_submit(l->rt, s,
			 ATTR(lkdf_task, .kind = l->gate, .arg = &l->at),
			 &done);
	if (rc == -ECANCELED || must(rc))
		return false;
	do
		rc = lkdf_event_wait(done, MS / 10);
	while (rc == 1 && !atomic_load(&l->at.entered));
	if (rc == 1)
		lkdf_event_put(done);
	return atomic_load(&l->at.entered);
}

static void a_cancel_comes_first(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_scope *s;
	int64_t ns = 5 * MS;
	struct late l;
	int rc;

	late_init(&l, rt);
	for (;; ns *= 2, lkdf_scope_put(s)) {
		must(lkdf_scope_create(
			rt, ATTR(lkdf_scope_attr, .deadline_ns = ns), &s));
		if (!begins_in(&l, s))
			continue;
		must(lkdf_scope_cancel(rt, s, -EINTR));
		api_nap_ns(2 * ns);
		late_unblock(&l);
		rc = lkdf_scope_wait(rt, s, -1);
		/* The deadline may have been over before the cancel. */
		if (rc != -ETIME)
			break;
	}
	is(rc, -EINTR, "the first error stays");
	lkdf_scope_put(s);
	late_fini(&l);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* The parent joins them and deals with the error. */
static int spawn_some(struct lkdf_ctx *c, void *arg)
{
	struct late *l = arg;
	struct lkdf_event done;

	must(lkdf_spawn_task(c,
			     ATTR(lkdf_task, .kind = l->count, .arg = &l->ran,
				  .deadline_ns = 1),
			     &done));
	lkdf_event_put(done);
	must(lkdf_spawn_task(c,
			     ATTR(lkdf_task, .kind = l->count, .arg = &l->ran,
				  .deadline_ns = HOUR),
			     NULL));
	api_nap_ns(MS);
	return lkdf_join(c) == -ETIME ? 0 : -EINVAL;
}

static void children_and_groups_have_them_too(void)
{
	struct lkdf *rt = api_open("workers=1");
	const struct lkdf_task *many[3];
	struct lkdf_kind *k = api_kind(rt, "spawns", spawn_some, 0, 0);
	struct lkdf_kind *always;
	struct lkdf_event done;
	struct late l;

	late_init(&l, rt);
	is(api_call(rt, k, &l), 0, "a join has the error of a late child");
	is(l.ran, 1, "the other child ran");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "nobody else is told");
	many[0] = ATTR(lkdf_task, .kind = l.count, .arg = &l.ran);
	many[1] = ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
		       .deadline_ns = 1);
	many[2] = many[0];
	late_block(&l);
	must(lkdf_submit_many(rt, NULL, many, 3, &done));
	api_nap_ns(MS);
	late_unblock(&l);
	is(lkdf_event_wait(done, -1), -ETIME, "one of many is late");
	is(l.ran, 3, "the others ran");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "which was told");
	always = api_kind(rt, "always", api_count, 0, LKDF_ALWAYS);
	late_block(&l);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = always, .arg = &l.ran,
			      .deadline_ns = 1),
			 &done));
	api_nap_ns(MS);
	late_unblock(&l);
	is(lkdf_event_wait(done, -1), 0,
	   "a kind with ALWAYS runs all the same");
	is(l.ran, 4, "once");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "and the scope has no error");
	lkdf_kind_put(k);
	lkdf_kind_put(always);
	late_fini(&l);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* Whoever should have written did not: readers are skipped. */
static void a_late_writer_poisons(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_event write, read, heal;
	struct lkdf_data *x;
	struct lkdf_use use = { .mode = LKDF_WRITE };
	struct late l;

	late_init(&l, rt);
	must(lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = 8), &x));
	use.data = x;
	late_block(&l);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .use = &use, .nr_use = 1, .deadline_ns = 1),
			 &write));
	use.mode = LKDF_READ;
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .use = &use, .nr_use = 1, .deadline_ns = HOUR),
			 &read));
	use.mode = LKDF_WRITE;
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = l.count, .arg = &l.ran,
			      .use = &use, .nr_use = 1),
			 &heal));
	api_nap_ns(MS);
	late_unblock(&l);
	is(lkdf_event_wait(write, -1), -ETIME, "the writer is late");
	is(lkdf_event_wait(read, -1), -ETIME, "the reader is skipped");
	is(lkdf_event_wait(heal, -1), 0, "the next writer heals");
	is(l.ran, 1, "and only it has run");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "which was told");
	lkdf_data_put(x);
	late_fini(&l);
	is(lkdf_close(rt), 0, "the runtime closes");
}

#define NR_RANDOM 2500
#define NR_THREADS 4

struct thread {
	pthread_t id;
	struct lkdf *rt;
	struct late *l;
	unsigned seed;
	int late, bad;
};

static void *submit_random(void *arg)
{
	static const int64_t ns[] = { 0, 1, 20000, 200000, MS, HOUR };
	struct thread *t = arg;
	struct lkdf_event *done = calloc(NR_RANDOM, sizeof(*done));
	int i, rc;

	for (i = 0; i < NR_RANDOM; i++) {
		t->seed = t->seed * 1103515245u + 12345u;
		must(lkdf_submit(t->rt, NULL,
				 ATTR(lkdf_task, .kind = t->l->count,
				      .arg = &t->l->ran,
				      .deadline_ns = ns[t->seed / 65536 % 6]),
				 &done[i]));
	}
	for (i = 0; i < NR_RANDOM; i++) {
		rc = lkdf_event_wait(done[i], -1);
		t->late += rc == -ETIME;
		t->bad += rc && rc != -ETIME;
	}
	free(done);
	return NULL;
}

static void many_random_ones_come_out_even(int workers)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf *rt = api_open_workers(workers);
	struct thread t[NR_THREADS];
	int i, late = 0, bad = 0;
	struct late l;

	late_init(&l, rt);
	for (i = 0; i < NR_THREADS; i++) {
		t[i] = (struct thread){ .rt = rt,
					.l = &l,
					.seed = (unsigned)i + 1 };
		pthread_create(&t[i].id, NULL, submit_random, &t[i]);
	}
	for (i = 0; i < NR_THREADS; i++) {
		pthread_join(t[i].id, NULL);
		late += t[i].late;
		bad += t[i].bad;
	}
	is(bad, 0, "%d workers: no other error", workers);
	is(late + l.ran, NR_RANDOM * NR_THREADS,
	   "%d workers: each ran or was late (%d)", workers, late);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%d workers: their events told it",
	   workers);
	must(lkdf_scope_error(rt, NULL, &e));
	is(e.nr_cancelled, late, "%d workers: and its count", workers);
	late_fini(&l);
	is(lkdf_close(rt), 0, "%d workers: the runtime closes", workers);
}

static void what_makes_no_sense_is_refused(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	struct lkdf_scope *s;

	is(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .deadline_ns = -1),
		       NULL),
	   -EINVAL, "a task's deadline in the past");
	is(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .deadline_ns = -1), &s),
	   -EINVAL, "a scope's");
	is(lkdf_graph_add_task(g,
			       ATTR(lkdf_task, .kind = k, .deadline_ns = HOUR)),
	   -EINVAL, "one of a task in a graph");
	has(lkdf_errmsg(), "lkdf_run", "which names what there is instead");
	is(lkdf_submit(rt, NULL,
		       ATTR(lkdf_task, .kind = k, .deadline_ns = INT64_MAX),
		       NULL),
	   0, "the longest is for ever");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "and its task runs");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	tap_start(60);
	a_task_that_did_not_start();
	a_running_body_sees_it("workers=1");
	a_running_body_sees_it("workers=2");
	a_running_body_sees_it("serial=yes");
	a_body_that_blocks_is_kicked("workers=1");
	a_body_that_blocks_is_kicked("workers=4");
	a_scope_ends_in_time("workers=1");
	a_scope_ends_in_time("workers=4");
	a_cancel_comes_first();
	children_and_groups_have_them_too();
	a_late_writer_poisons();
	many_random_ones_come_out_even(1);
	many_random_ones_come_out_even(4);
	what_makes_no_sense_is_refused();
	return tap_end();
}
