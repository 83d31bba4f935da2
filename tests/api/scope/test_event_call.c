/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Functions that are called when an event fires: once, with its error, on
 * which thread, and what they may do.
 */
#include "tests/api/api.h"

#include <pthread.h>

#define MANY 1000

struct call {
	struct lkdf *rt;
	struct lkdf_kind *k;
	struct lkdf_graph *g;
	struct lkdf_event e;
	atomic_int nr, err;
	pthread_t thread;
	atomic_int count;
};

static void note(void *u, int err)
{
	struct call *c = u;

	c->thread = pthread_self();
	atomic_store(&c->err, err);
	atomic_fetch_add(&c->nr, 1);
}

static struct lkdf_event make(struct lkdf *rt)
{
	struct lkdf_event e;

	must(lkdf_event_create(rt, 1, 0, &e));
	return e;
}

static void it_is_called_once(struct lkdf *rt)
{
	struct lkdf_event e = make(rt);
	struct call c = { 0 }, late = { 0 };

	is(lkdf_event_call(e, note, &c), 0, "a call is asked for");
	is(c.nr, 0, "and waits");
	must(lkdf_event_signal(e, -EUCLEAN));
	is(c.nr, 1, "it is called");
	is(c.err, -EUCLEAN, "with the error");
	ok(pthread_equal(c.thread, pthread_self()), "on the thread that fires");
	is(lkdf_event_call(e, note, &late), 0, "another one comes later");
	is(late.nr, 1, "it is called at once");
	is(late.err, -EUCLEAN, "with the error");
	lkdf_event_put(e);
	is(c.nr, 1, "nobody calls twice");
}

static void many_are_called(struct lkdf *rt)
{
	struct lkdf_event e = make(rt);
	struct call c = { 0 };
	int i;

	for (i = 0; i < MANY; i++)
		must(lkdf_event_call(e, note, &c));
	/* The calls keep it. */
	must(lkdf_event_signal(e, 0));
	lkdf_event_put(e);
	is(c.nr, MANY, "%d calls of one event", MANY);
	is(lkdf_event_call(e, note, &c), -ESTALE, "then it is gone");
}

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -ENOANO, "there is none");
}

static void ask(void *u, int err)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct call *c = u;

	if (!lkdf_event_error(c->e, &e) && strstr(e.why, "there is none"))
		atomic_store(&c->err, err);
	atomic_store(&c->nr, 1);
}

static void the_story_is_there(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "fails", fail, 0, 0);
	struct lkdf_event go = make(rt);
	struct call c = { 0 };
	int rc;

	must(lkdf_submit(
		rt, NULL,
		ATTR(lkdf_task, .kind = k, .after = &go, .nr_after = 1), &c.e));
	must(lkdf_event_call(c.e, ask, &c));
	lkdf_event_put(c.e);
	must(lkdf_event_signal(go, 0));
	lkdf_event_put(go);
	rc = lkdf_scope_wait(rt, NULL, -1);
	/* Either of the two is the one that is told. */
	ok(!rc || rc == -ENOANO, "a task fails");
	api_until(&c.nr);
	is(c.err, -ENOANO, "a call may ask why");
	lkdf_kind_put(k);
}

/* A graph that runs again and again without a thread that waits for it. */
static void run_again(void *u, int err)
{
	struct call *c = u;
	struct lkdf_event e;

	if (err || atomic_fetch_add(&c->nr, 1) >= 100) {
		atomic_store(&c->err, err ? err : 1);
		return;
	}
	if (lkdf_graph_run(c->g, NULL, NULL, &e) ||
	    lkdf_event_call(e, run_again, c))
		atomic_store(&c->err, -1);
	lkdf_event_put(e);
}

static void it_may_start_what_comes_next(struct lkdf *rt)
{
	struct call c = { .rt = rt };

	c.k = api_kind(rt, "count", api_count, 0, 0);
	c.g = api_graph(rt, 1);
	must(lkdf_graph_add(c.g, c.k, &c.count, NULL, 0));
	must(lkdf_graph_seal(c.g, NULL));
	c.e = make(rt);
	must(lkdf_event_call(c.e, run_again, &c));
	must(lkdf_event_signal(c.e, 0));
	lkdf_event_put(c.e);
	while (!c.err)
		api_nap_ns(100000);
	is(c.err, 1, "a call may run a graph, whose end is a call");
	is(c.count, 100, "100 times");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "nothing failed");
	lkdf_graph_put(c.g);
	lkdf_kind_put(c.k);
}

static void pass_on(void *u, int err)
{
	struct lkdf_event *e = u;

	must(lkdf_event_signal(*e, err));
}

static void it_may_signal(struct lkdf *rt)
{
	struct lkdf_event a = make(rt), b = make(rt);

	must(lkdf_event_call(a, pass_on, &b));
	must(lkdf_event_signal(a, -EBADE));
	is(lkdf_event_wait(b, 0), -EBADE, "a call may signal the next event");
	lkdf_event_put(a);
}

static void what_cannot_be_is_refused(struct lkdf *rt)
{
	struct lkdf_event e = make(rt);

	is(lkdf_event_call(e, NULL, NULL), -EINVAL, "no function");
	is(lkdf_event_call((struct lkdf_event){ 0 }, note, NULL), -EINVAL,
	   "{ 0 }");
	must(lkdf_event_signal(e, 0));
	lkdf_event_put(e);
	is(lkdf_event_call(e, note, NULL), -ESTALE, "an event that is gone");
}

/* ---- many threads ------------------------------------------------------- */

struct race {
	pthread_barrier_t start;
	struct lkdf_event e;
	atomic_int nr;
};

static void add_one(void *u, int err)
{
	struct race *r = u;

	atomic_fetch_add(&r->nr, err == -ETXTBSY);
}

static void *ask_many(void *arg)
{
	struct race *r = arg;
	int i;

	pthread_barrier_wait(&r->start);
	for (i = 0; i < MANY; i++)
		must(lkdf_event_call(r->e, add_one, r));
	pthread_barrier_wait(&r->start);
	return NULL;
}

static void threads_ask_while_it_fires(struct lkdf *rt)
{
	struct race r = { .e = make(rt) };
	pthread_t thread[3];
	int i;

	pthread_barrier_init(&r.start, NULL, 4);
	for (i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, ask_many, &r);
	pthread_barrier_wait(&r.start);
	must(lkdf_event_signal(r.e, -ETXTBSY));
	pthread_barrier_wait(&r.start);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	is(r.nr, 3 * MANY, "three threads ask while a fourth one signals");
	lkdf_event_put(r.e);
	pthread_barrier_destroy(&r.start);
}

static void count(void *u, int err)
{
	atomic_fetch_add((atomic_int *)u, err == 0);
}

static void tasks_call(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	struct lkdf_event e;
	atomic_int nr = 0;
	int i;

	for (i = 0; i < MANY; i++) {
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), &e));
		must(lkdf_event_call(e, count, &nr));
		lkdf_event_put(e);
	}
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%d tasks", MANY);
	while (nr < MANY)
		api_nap_ns(100000);
	is(nr, MANY, "each has called");
	lkdf_kind_put(k);
}

static void close_does_not_call(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_event e = make(rt);
	struct call c = { 0 };
	int i;

	for (i = 0; i < 10; i++)
		must(lkdf_event_call(e, note, &c));
	is(lkdf_close(rt), 0, "close with ten calls that wait");
	is(c.nr, 0, "which never come");
}

static void run(const char *options)
{
	struct lkdf *rt = api_open(options);

	printf("# %s\n", options);
	it_is_called_once(rt);
	many_are_called(rt);
	the_story_is_there(rt);
	it_may_start_what_comes_next(rt);
	it_may_signal(rt);
	what_cannot_be_is_refused(rt);
	threads_ask_while_it_fires(rt);
	tasks_call(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	close_does_not_call(options);
}

int main(void)
{
	tap_start(60);
	run("workers=2");
	run("serial=yes");
	return tap_end();
}
