/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Serial mode: a program that repeats a call until it says something else than
 * "not now" goes on, for the call runs what it waits for.
 */
#include "tests/api/api.h"

static struct lkdf *runtime;
static struct lkdf_graph *graph;
static struct lkdf_scope *narrow;
static struct lkdf_kind *quick;
static struct lkdf_channel *channel;
static int nr_quick, nr_refused;

static int count_quick(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	nr_quick++;
	/* Its text is not that of the call that runs it. */
	lkdf_event_signal((struct lkdf_event){ 0 }, 0);
	return 0;
}

static void run_until_accepted(void)
{
	const struct lkdf_run r = { .size = sizeof(r),
				    .flags = LKDF_RUN_NOWAIT };
	int i, rc;

	for (i = 0; i < 5; i++)
		while ((rc = lkdf_graph_run(graph, NULL, &r, NULL))) {
			if (rc != -EAGAIN ||
			    !strstr(lkdf_errmsg(), "under way"))
				abort();
			nr_refused++;
		}
}

static int runs_graph(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	run_until_accepted();
	return 0;
}

static int submits_to_scope(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < 5; i++)
		while (lkdf_submit(runtime, narrow,
				   ATTR(lkdf_task, .kind = quick), NULL))
			nr_refused++;
	return 0;
}

static int sends(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 5; i++)
		while (lkdf_send(c, channel, &i))
			nr_refused++;
	return 0;
}

static int receives(struct lkdf_ctx *c, void *arg)
{
	int i, value;

	(void)arg;
	for (i = 0; i < 5; i++) {
		while (lkdf_recv(c, channel, &value))
			nr_refused++;
		nr_quick += value == i;
	}
	return 0;
}

/* Called again where it waits. */
static int sends_again(struct lkdf_ctx *c, void *arg)
{
	int *i = *(int **)arg;

	for (; *i < 5; ++*i)
		if (lkdf_send(c, channel, i))
			return LKDF_AGAIN;
	return 0;
}

static int receives_again(struct lkdf_ctx *c, void *arg)
{
	int *i = *(int **)arg, value;

	for (; *i < 5; ++*i) {
		if (lkdf_recv(c, channel, &value))
			return LKDF_AGAIN;
		nr_quick += value == *i;
	}
	return 0;
}

static int looks_at_event(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_event done;

	(void)c;
	(void)arg;
	must(lkdf_submit(runtime, NULL, ATTR(lkdf_task, .kind = quick), &done));
	while (lkdf_event_error(done, &e) == 1)
		nr_refused++;
	lkdf_event_put(done);
	return 0;
}

static struct lkdf_event submit(struct lkdf *rt, const char *name, lkdf_fn fn,
				const void *arg)
{
	struct lkdf_kind *k = api_kind(rt, name, fn, arg ? sizeof(arg) : 0, 0);
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = arg),
			 &done));
	lkdf_kind_put(k);
	return done;
}

static void bodies_ask(struct lkdf *rt)
{
	struct lkdf_event done = submit(rt, "runs", runs_graph, NULL);

	is(lkdf_event_wait(done, -1), 0, "a body runs a graph till it may");
	done = submit(rt, "submits", submits_to_scope, NULL);
	is(lkdf_event_wait(done, -1), 0, "and submits to a full scope");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all of that ends");
	is(nr_quick, 10, "and has run");
	done = submit(rt, "looks", looks_at_event, NULL);
	is(lkdf_event_wait(done, -1), 0, "a body looks at an event");
}

/* One of the two bodies repeats its call on top of the other one. */
static void bodies_exchange(struct lkdf *rt, bool sender_asks)
{
	int at = 0, *p = &at;
	struct lkdf_event done[2];

	nr_quick = 0;
	must(lkdf_channel_create(rt,
				 ATTR(lkdf_channel_attr, .depth = 2,
				      .value_size = sizeof(int)),
				 &channel));
	if (sender_asks) {
		done[0] = submit(rt, "receives", receives_again, &p);
		done[1] = submit(rt, "sends", sends, NULL);
	} else {
		done[0] = submit(rt, "sends", sends_again, &p);
		done[1] = submit(rt, "receives", receives, NULL);
	}
	is(lkdf_event_wait(done[0], -1) | lkdf_event_wait(done[1], -1), 0,
	   "a body %s in a loop, and another one helps",
	   sender_asks ? "sends" : "receives");
	is(nr_quick, 5, "all values have come");
	lkdf_channel_put(channel);
}

static void thread_looks(struct lkdf *rt)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_event never, done;
	int at = 0, *p = &at, value, i;

	run_until_accepted();
	while (lkdf_scope_wait(rt, NULL, 0) == 1)
		continue;
	must(lkdf_event_create(rt, 1, 0, &never));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = quick, .after = &never,
			      .nr_after = 1, .deadline_ns = 1000000),
			 &done));
	while (lkdf_event_wait(done, 0) == 1)
		continue;
	is(lkdf_event_wait(never, 0), 1, "a deadline comes for who looks");
	lkdf_event_signal(never, 0);
	lkdf_event_put(never);
	done = submit(rt, "quick", count_quick, NULL);
	while (lkdf_event_error(done, &e) == 1)
		continue;
	lkdf_event_put(done);
	must(lkdf_channel_create(rt,
				 ATTR(lkdf_channel_attr, .depth = 2,
				      .value_size = sizeof(int)),
				 &channel));
	lkdf_event_put(submit(rt, "sends", sends_again, &p));
	while (!lkdf_channel_count(channel))
		continue;
	for (i = 0; i < 5; i++)
		while (lkdf_channel_recv(channel, &value, 0) == 1)
			continue;
	is(value, 4, "a thread that looks receives all values");
	lkdf_channel_put(channel);
}

static void try_with(const char *options)
{
	struct lkdf *rt = api_open(options);

	runtime = rt;
	nr_quick = 0;
	quick = api_kind(rt, "quick", count_quick, 0, 0);
	graph = api_graph(rt, 1);
	must(lkdf_graph_add(graph, quick, NULL, NULL, 0));
	must(lkdf_graph_seal(graph, NULL));
	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .max_tasks = 1),
			       &narrow));
	bodies_ask(rt);
	bodies_exchange(rt, true);
	bodies_exchange(rt, false);
	thread_looks(rt);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_scope_put(narrow);
	lkdf_graph_put(graph);
	lkdf_kind_put(quick);
	is(lkdf_close(rt), 0, "a runtime with %s closes", options);
}

int main(void)
{
	char options[32];
	int seed;

	tap_start(60);
	try_with("serial=yes");
	for (seed = 1; seed <= 20; seed++) {
		snprintf(options, sizeof(options), "order=%d", seed);
		try_with(options);
	}
	ok(nr_refused > 0, "calls were refused %d times", nr_refused);
	return tap_end();
}
