/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Going on later: lkdf_then() after children or an event, lkdf_hold() from
 * any thread, and both with errors.
 */
#include "tests/api/api.h"

#include <pthread.h>

static const int worker_counts[] = { 1, 2, 8 };

struct story {
	struct lkdf_kind *child;
	struct lkdf_event event;
	atomic_int children, steps, has_event;
	int error;
};

static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct story *s = arg;

	s->error = lkdf_input_error(c, 0);
	if (atomic_fetch_add(&s->steps, 1) < 3) {
		must(lkdf_spawn(c, s->child, &s->children));
		return lkdf_then(c, go_on, (struct lkdf_event){ 0 });
	}
	return atomic_load(&s->children) == 13 ? 0 : -EPROTO;
}

static int leave_for_children(struct lkdf_ctx *c, void *arg)
{
	struct story *s = arg;
	int i;

	for (i = 0; i < 10; i++)
		must(lkdf_spawn(c, s->child, &s->children));
	must(lkdf_then(c, go_on, (struct lkdf_event){ 0 }));
	if (lkdf_then(c, go_on, (struct lkdf_event){ 0 }) != -EBUSY)
		return -EPROTO;
	return 0;
}

static void then_comes_after_all_children(struct lkdf *rt, uint32_t flags)
{
	struct story s = { .error = 1 };
	struct lkdf_kind *k;

	s.child = api_kind(rt, "child", api_count, 0, flags);
	k = api_kind(rt, "leaves", leave_for_children, 0, flags);
	is(api_call(rt, k, &s), 0, "a body goes on after its children");
	ok(s.steps == 4 && s.children == 13, "again and again");
	is(s.error, 0, "without an error");
	lkdf_kind_put(k);
	lkdf_kind_put(s.child);
}

static int fail_always(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -ERANGE, "always");
}

static int note_error(struct lkdf_ctx *c, void *arg)
{
	struct story *s = arg;

	atomic_fetch_add(&s->steps, 1);
	s->error = lkdf_input_error(c, 0);
	return 0;
}

static int leave_for_failing_child(struct lkdf_ctx *c, void *arg)
{
	struct story *s = arg;

	must(lkdf_spawn(c, s->child, NULL));
	return lkdf_then(c, note_error, (struct lkdf_event){ 0 });
}

static int leave_and_fail(struct lkdf_ctx *c, void *arg)
{
	struct story *s = arg;

	must(lkdf_spawn(c, s->child, NULL));
	must(lkdf_then(c, note_error, (struct lkdf_event){ 0 }));
	return -EDOM;
}

static void then_is_told_the_error(struct lkdf *rt)
{
	struct story s = { .error = 1 };
	struct lkdf_kind *k, *fails;

	s.child = api_kind(rt, "fails", fail_always, 0, 0);
	k = api_kind(rt, "leaves", leave_for_failing_child, 0, 0);
	fails = api_kind(rt, "leaves-fails", leave_and_fail, 0, 0);
	is(api_call(rt, k, &s), 0, "the continuation decides");
	is(s.error, -ERANGE, "and knows of the child's error");
	is(s.steps, 1, "it ran once");
	is(api_call(rt, fails, &s), -EDOM, "a negative return value wins");
	is(s.steps, 1, "over the continuation");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
	lkdf_kind_put(fails);
	lkdf_kind_put(s.child);
}

static int leave_for_event(struct lkdf_ctx *c, void *arg)
{
	struct story *s = arg;

	if (atomic_load(&s->has_event) == 2)
		api_nap_ns(200000);
	return lkdf_then(c, note_error, s->event);
}

static int leave_for_event_and_fail(struct lkdf_ctx *c, void *arg)
{
	leave_for_event(c, arg);
	return -EDOM;
}

/* The signal comes before, at the same time, after. */
static void then_comes_after_an_event(struct lkdf *rt)
{
	struct lkdf_kind *k, *fails;
	struct lkdf_event done;
	int i, bad = 0;

	k = api_kind(rt, "leaves", leave_for_event, 0, 0);
	fails = api_kind(rt, "fails", leave_for_event_and_fail, 0, 0);
	for (i = 0; i < 300; i++) {
		struct story s = { .has_event = i % 3 };

		must(lkdf_event_create(rt, 1, 0, &s.event));
		if (i % 3 == 0)
			must(lkdf_event_signal(s.event, -EILSEQ));
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &s), &done));
		if (i % 3 && i % 2)
			api_nap_ns(i * 300);
		if (i % 3)
			must(lkdf_event_signal(s.event, -EILSEQ));
		bad += lkdf_event_wait(done, -1) != 0 || s.steps != 1 ||
		       s.error != -EILSEQ;
	}
	is(bad, 0, "300 bodies go on after an event, with its error");
	for (i = 0; i < 20; i++) {
		struct story s = { .has_event = 1 };

		must(lkdf_event_create(rt, 1, 0, &s.event));
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = fails, .arg = &s),
				 &done));
		must(lkdf_event_signal(s.event, 0));
		bad += lkdf_event_wait(done, -1) != -EDOM || s.steps;
	}
	is(bad, 0, "a failed body does not go on");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
	lkdf_kind_put(fails);
}

struct hold {
	struct lkdf_event event;
	struct lkdf_kind *child;
	atomic_int is_held, children, has_ended;
	int at_once, error;
};

static int hold_and_end(struct lkdf_ctx *c, void *arg)
{
	struct hold *h = arg;
	struct lkdf_event second;

	must(lkdf_hold(c, &h->event));
	if (lkdf_hold(c, &second) != -EBUSY)
		return -EPROTO;
	if (h->at_once)
		must(lkdf_event_signal(h->event, h->error));
	atomic_store(&h->is_held, 1);
	return 0;
}

static void *signal_hold(void *arg)
{
	struct hold *h = arg;

	api_until(&h->is_held);
	must(lkdf_event_signal(h->event, h->error));
	return NULL;
}

static void hold_ends_with_its_signal(struct lkdf *rt, uint32_t flags)
{
	struct lkdf_kind *k = api_kind(rt, "holds", hold_and_end, 0, flags);
	struct lkdf_event done;
	int i, bad = 0;

	for (i = 0; i < 200; i++) {
		struct hold h = { .at_once = i % 2,
				  .error = i % 3 ? 0 : -ENOTTY };
		pthread_t thread;

		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &h), &done));
		if (!h.at_once) {
			bad += lkdf_event_wait(done, i * 100) != 1;
			pthread_create(&thread, NULL, signal_hold, &h);
		}
		bad += lkdf_event_wait(done, -1) != h.error;
		if (!h.at_once)
			pthread_join(thread, NULL);
	}
	is(bad, 0, "200 held tasks end with their signal and its error");
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "the events have told all of them");
	lkdf_kind_put(k);
}

/* A join waits for children, and a held event is none. */
static int hold_and_join(struct lkdf_ctx *c, void *arg)
{
	struct hold *h = arg;

	must(lkdf_hold(c, &h->event));
	must(lkdf_spawn(c, h->child, &h->children));
	must(lkdf_join(c));
	if (atomic_load(&h->children) != 1)
		return -EPROTO;
	return lkdf_event_signal(h->event, 0);
}

static int signal_own_hold(struct lkdf_ctx *c, void *arg)
{
	struct hold *h = arg;
	struct lkdf_event second;

	if (lkdf_hold(c, &second) != -EBUSY)
		return -EPROTO;
	return lkdf_event_signal(h->event, -EILSEQ);
}

static int hold_and_leave(struct lkdf_ctx *c, void *arg)
{
	struct hold *h = arg;

	must(lkdf_hold(c, &h->event));
	must(lkdf_spawn(c, h->child, &h->children));
	return lkdf_then(c, signal_own_hold, (struct lkdf_event){ 0 });
}

static void hold_is_not_a_child(struct lkdf *rt)
{
	struct hold h = { .at_once = 0 };
	struct lkdf_kind *joins, *leaves;

	h.child = api_kind(rt, "child", api_count, 0, 0);
	joins = api_kind(rt, "joins", hold_and_join, 0, 0);
	leaves = api_kind(rt, "leaves", hold_and_leave, 0, 0);
	is(api_call(rt, joins, &h), 0, "a join does not wait for a hold");
	is(api_call(rt, leaves, &h), -EILSEQ,
	   "nor does a continuation, which may signal it");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all have ended, and told it");
	lkdf_kind_put(joins);
	lkdf_kind_put(leaves);
	lkdf_kind_put(h.child);
}

static int note_end(struct lkdf_ctx *c, void *arg)
{
	struct hold *h = arg;

	(void)c;
	atomic_store(&h->has_ended, 1);
	return 0;
}

static void a_graph_waits_for_a_held_task(struct lkdf *rt)
{
	struct hold h = { .at_once = 0 };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *k, *end;
	struct lkdf_event done;
	int i, bad = 0;

	k = api_kind(rt, "holds", hold_and_end, 0, 0);
	end = api_kind(rt, "end", note_end, 0, 0);
	must(lkdf_graph_add(g, k, &h, NULL, 0));
	must(lkdf_graph_add(g, end, &h, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 100; i++) {
		atomic_store(&h.is_held, 0);
		atomic_store(&h.has_ended, 0);
		h.error = i % 2 ? -ENOTTY : 0;
		must(lkdf_graph_run(g, NULL, NULL, &done));
		api_until(&h.is_held);
		bad += lkdf_event_wait(done, i * 1000) != 1 || h.has_ended;
		must(lkdf_event_signal(h.event, h.error));
		bad += lkdf_event_wait(done, -1) != h.error;
		bad += h.has_ended != !h.error;
	}
	is(bad, 0, "100 runs go on when the held task ends");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "each event has told its error");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(end);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(60);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		then_comes_after_all_children(rt, 0);
		then_comes_after_all_children(rt, LKDF_BLOCKING);
		then_is_told_the_error(rt);
		then_comes_after_an_event(rt);
		hold_ends_with_its_signal(rt, 0);
		hold_ends_with_its_signal(rt, LKDF_BLOCKING);
		a_graph_waits_for_a_held_task(rt);
		hold_is_not_a_child(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
