/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A cancel lets tasks go that wait for an event after their body: lkdf_then()
 * with an event, lkdf_hold(). Those of kind ALWAYS wait on, and so do those
 * that wait for another task.
 */
#include "tests/api/api.h"

#include <pthread.h>

static const int worker_counts[] = { 1, 2, 8 };

#define NR_RACES 400

struct wait {
	struct lkdf_event event;
	atomic_int has_left, steps;
	int error, cancelled;
};

static struct lkdf_scope *make_scope(struct lkdf *rt, int64_t deadline_ns)
{
	struct lkdf_scope *s = NULL;

	must(lkdf_scope_create(
		rt, ATTR(lkdf_scope_attr, .deadline_ns = deadline_ns), &s));
	return s;
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct wait *w = arg;

	w->error = lkdf_input_error(c, 0);
	w->cancelled = lkdf_cancelled(c);
	atomic_fetch_add(&w->steps, 1);
	return 0;
}

static int leave(struct lkdf_ctx *c, void *arg)
{
	struct wait *w = arg;

	must(lkdf_then(c, go_on, w->event));
	atomic_store(&w->has_left, 1);
	return 0;
}

static int hold(struct lkdf_ctx *c, void *arg)
{
	struct wait *w = arg;

	must(lkdf_hold(c, &w->event));
	atomic_store(&w->has_left, 1);
	return 0;
}

static void submit(struct lkdf *rt, struct lkdf_scope *s, struct lkdf_kind *k,
		   struct wait *w)
{
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = w), NULL));
}

static void a_cancel_lets_go_who_left(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "leaves", leave, 0, 0);
	struct lkdf_scope *s = make_scope(rt, 0);
	struct wait w = { .error = 1 };

	must(lkdf_event_create(rt, 1, 0, &w.event));
	submit(rt, s, k, &w);
	api_until(&w.has_left);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(lkdf_scope_wait(rt, s, 60 * SECOND), -EINTR,
	   "a task that left for an event is let go by a cancel");
	is(w.steps, 1, "its function is called");
	is(w.error, -EINTR, "with the cancel as its input's error");
	is(w.cancelled, -EINTR, "and is told of the cancel");
	is(lkdf_event_signal(w.event, 0), 0, "the event can be signalled");
	is(w.steps, 1, "which nobody waits for any more");
	must(lkdf_event_create(rt, 1, 0, &w.event));
	must(lkdf_event_signal(w.event, 0));
	submit(rt, s, k, &w);
	is(lkdf_scope_wait(rt, s, -1), 0, "the scope is usable again");
	ok(w.steps == 2 && w.error == 0, "as if nothing had been");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

static void a_cancel_lets_go_who_holds(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "holds", hold, 0, 0);
	struct lkdf_scope *s = make_scope(rt, 0);
	struct lkdf_event done;
	struct wait w = { 0 };

	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &w), &done));
	api_until(&w.has_left);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(lkdf_event_wait(done, 60 * SECOND), -EINTR,
	   "a task that holds ends with the cancel's error");
	is(lkdf_scope_wait(rt, s, 60 * SECOND), -EINTR, "so does its scope");
	is(lkdf_event_signal(w.event, -EIO), 0, "the event can be signalled");
	is(lkdf_scope_wait(rt, s, -1), 0, "and nobody hears of it");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

static void a_run_is_let_go(struct lkdf *rt)
{
	struct lkdf_kind *leaves = api_kind(rt, "leaves", leave, 0, 0);
	struct lkdf_kind *holds = api_kind(rt, "holds", hold, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_scope *s = make_scope(rt, 0);
	struct wait w[2] = { { .error = 1 }, { .error = 1 } };

	must(lkdf_event_create(rt, 1, 0, &w[0].event));
	must(lkdf_graph_add(g, leaves, &w[0], NULL, 0));
	must(lkdf_graph_add(g, holds, &w[1], NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, s, NULL, NULL));
	api_until(&w[0].has_left);
	api_until(&w[1].has_left);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(lkdf_scope_wait(rt, s, 60 * SECOND), -EINTR,
	   "tasks of a graph are let go, too");
	is(w[0].error, -EINTR, "with the cancel's error");
	must(lkdf_event_signal(w[0].event, 0));
	must(lkdf_event_signal(w[1].event, 0));
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	lkdf_kind_put(leaves);
	lkdf_kind_put(holds);
}

static void a_deadline_lets_go(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "leaves", leave, 0, 0);
	struct lkdf_scope *s = make_scope(rt, SECOND / 50);
	struct wait w = { .error = 1 };
	int rc;

	must(lkdf_event_create(rt, 1, 0, &w.event));
	rc = lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &w), NULL);
	is(lkdf_scope_wait(rt, s, 60 * SECOND), -ETIME,
	   "a deadline ends the waiting for an event");
	/* The deadline may be over before the task comes. */
	ok(rc || w.steps <= 1, "as a cancel does");
	must(lkdf_event_signal(w.event, 0));
	lkdf_scope_put(s);
	lkdf_kind_put(k);
}

static void who_runs_always_waits_on(struct lkdf *rt)
{
	struct lkdf_kind *leaves =
		api_kind(rt, "leaves", leave, 0, LKDF_ALWAYS);
	struct lkdf_kind *holds = api_kind(rt, "holds", hold, 0, LKDF_ALWAYS);
	struct lkdf_scope *s = make_scope(rt, 0);
	struct wait w[2] = { { .error = 1 }, { .error = 1 } };

	must(lkdf_event_create(rt, 1, 0, &w[0].event));
	submit(rt, s, leaves, &w[0]);
	submit(rt, s, holds, &w[1]);
	api_until(&w[0].has_left);
	api_until(&w[1].has_left);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(lkdf_scope_wait(rt, s, 0), 1, "tasks of kind ALWAYS wait on");
	must(lkdf_event_signal(w[0].event, -EIO));
	is(lkdf_scope_wait(rt, s, 0), 1, "each for its event");
	must(lkdf_event_signal(w[1].event, 0));
	is(lkdf_scope_wait(rt, s, -1), -EINTR, "the scope was cancelled");
	is(w[0].error, -EIO, "the error is that of the event");
	lkdf_scope_put(s);
	lkdf_kind_put(leaves);
	lkdf_kind_put(holds);
}

/* It uses what the task that waits for it may free. */
static void another_task_is_waited_for(struct lkdf *rt)
{
	struct lkdf_kind *leaves = api_kind(rt, "leaves", leave, 0, 0);
	struct lkdf_kind *gate =
		api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	struct lkdf_scope *s = make_scope(rt, 0);
	struct wait w = { .error = 1 };
	struct gate g = { 0 };

	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = gate, .arg = &g),
			 &w.event));
	api_until(&g.entered);
	submit(rt, s, leaves, &w);
	api_until(&w.has_left);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(w.steps, 0, "who waits for a running task goes on after it");
	atomic_store(&g.open, 1);
	is(lkdf_scope_wait(rt, s, -1), -EINTR, "the scope was cancelled");
	ok(w.steps == 1 && w.error == 0, "once, with its end (%d)", w.error);
	lkdf_scope_put(s);
	lkdf_kind_put(leaves);
	lkdf_kind_put(gate);
}

struct race {
	struct lkdf *rt;
	struct lkdf_scope *scope;
	atomic_int turn, is_done;
	struct wait w;
};

/* Signals while the other thread cancels. */
static void *signal_main(void *arg)
{
	struct race *r = arg;
	int i;

	for (i = 1; i <= NR_RACES; i++) {
		while (atomic_load(&r->turn) != i)
			api_nap_ns(0);
		must(lkdf_event_signal(r->w.event, -EIO));
		atomic_store(&r->is_done, i);
	}
	return NULL;
}

/* The task goes on once, whoever is first. */
static void a_cancel_beside_a_signal(struct lkdf *rt, bool is_hold)
{
	struct lkdf_kind *k =
		api_kind(rt, "waits", is_hold ? hold : leave, 0, 0);
	struct race r = { .rt = rt, .scope = make_scope(rt, 0) };
	int i, rc, nr_bad = 0, nr_steps = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, signal_main, &r);
	for (i = 1; i <= NR_RACES; i++) {
		r.w.error = 1;
		atomic_store(&r.w.has_left, 0);
		if (!is_hold)
			must(lkdf_event_create(rt, 1, 0, &r.w.event));
		submit(rt, r.scope, k, &r.w);
		if (is_hold || i % 2)
			api_until(&r.w.has_left);
		atomic_store(&r.turn, i);
		must(lkdf_scope_cancel(rt, r.scope, -EINTR));
		rc = lkdf_scope_wait(rt, r.scope, 60 * SECOND);
		nr_bad += rc != -EINTR && (!is_hold || rc != -EIO);
		while (atomic_load(&r.is_done) != i)
			api_nap_ns(0);
		nr_steps += r.w.error == -EIO || r.w.error == -EINTR;
	}
	pthread_join(thread, NULL);
	is(nr_bad, 0, "%d cancels beside a signal, none hangs", NR_RACES);
	is(r.w.steps, nr_steps, "and a task goes on once or never");
	lkdf_scope_put(r.scope);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(200);
	for (i = 0; i < sizeof(worker_counts) / sizeof(int); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		a_cancel_lets_go_who_left(rt);
		a_cancel_lets_go_who_holds(rt);
		a_run_is_let_go(rt);
		a_deadline_lets_go(rt);
		who_runs_always_waits_on(rt);
		another_task_is_waited_for(rt);
		a_cancel_beside_a_signal(rt, false);
		a_cancel_beside_a_signal(rt, true);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
