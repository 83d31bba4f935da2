/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Close refuses while a thread holds a data, names what was not put, and a put
 * that comes after it is told and does no harm.
 */
#include "tests/api/heard.h"
#include "tests/api/rt/stderr.h"
#include "tests/api/using.h"

/* What was not put stays in memory: still reachable for leak checkers. */
static struct lkdf_kind *kind;
static struct lkdf_graph *graph;
static struct lkdf_scope *scope;
static struct lkdf_limit *limit, *named;
static struct lkdf_data *data;

static bool was_said(const char *part)
{
	int i;

	for (i = 0; i < said.nr; i++)
		if (strstr(said.text[i], part))
			return true;
	return false;
}

static void a_held_data_keeps_it_open(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_data *d = number(rt, "held", &(uint64_t){ 7 });
	uint64_t *v = NULL;
	void *bytes;

	printf("# %s\n", options);
	must(lkdf_data_acquire(d, LKDF_RW, -1, &bytes));
	is(lkdf_close(rt), -EBUSY, "close is refused");
	has(lkdf_errmsg(), "held", "and names the data");
	v = bytes;
	*v += 1;
	is(lkdf_data_release(d), 0, "the bytes were still there");
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	lkdf_data_put(d);
	is(lkdf_close(rt), -EBUSY, "a data that was put is held, too");
	is(*(uint64_t *)bytes, 8, "with its bytes");
	is(lkdf_data_release(d), 0, "it is given back");
	is(lkdf_close(rt), 0, "then it closes");
}

static void who_waits_keeps_it_open(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_kind *k = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	struct lkdf_data *d = number(rt, "late", &(uint64_t){ 7 });
	struct gate gate = { 0 };

	must(submit_on(rt, k, &gate, ON(d, LKDF_RW), NULL));
	is(lkdf_data_acquire(d, LKDF_READ, 0, NULL), 1, "a data is pending");
	atomic_store(&gate.open, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	is(lkdf_close(rt), -EBUSY, "close is refused though no task lives");
	is(lkdf_data_release(d), 0, "it is given up");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "then it closes");
}

/* A task's end takes its time behind its data. */
static void end_late(void *arg)
{
	(void)arg;
	api_nap_ns(50000000);
}

static int count_up(struct lkdf_ctx *c, void *arg)
{
	*(uint64_t *)lkdf_ptr(c, 0) += *(uint64_t *)arg;
	return 0;
}

/* Whoever has a task's data knows that it has ended. */
static void who_has_the_data_may_close(int (*close)(struct lkdf *rt))
{
	struct lkdf *rt = open_heard("workers=2");
	struct lkdf_data *d = number(rt, "read", &(uint64_t){ 7 });
	struct lkdf_kind *k;
	uint64_t one = 1;
	void *bytes;

	must(lkdf_kind_create(
		rt, LKDF_KIND(.name = "late", .fn = count_up, .drop = end_late),
		&k));
	must(submit_on(rt, k, &one, ON(d, LKDF_RW), NULL));
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	is(*(uint64_t *)bytes, 8, "the task has ended");
	must(lkdf_data_release(d));
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(close(rt), 0, "the runtime closes");
	ok(!was_said("cancelled"), "and nothing was cancelled");
}

/* Body: until it is cancelled. */
static int run_on(struct lkdf_ctx *c, void *arg)
{
	atomic_store((atomic_int *)arg, 1);
	while (!lkdf_cancelled(c))
		api_nap_ns(100000);
	return lkdf_cancelled(c);
}

/* A body, and tasks that have not begun. */
static void close_now_cancels(void)
{
	struct lkdf *rt = open_heard("workers=1");
	struct lkdf_kind *k = api_kind(rt, "runs on", run_on, 0, 0);
	atomic_int has_begun = 0;
	int i;

	for (i = 0; i < 3; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &has_begun),
				 NULL));
	lkdf_kind_put(k);
	api_until(&has_begun);
	is(lkdf_close(rt), -EBUSY, "close is refused while tasks live");
	api_swap_runtime(rt, NULL);
	is(lkdf_close_now(rt), 0, "close_now cancels them");
	ok(was_said("close: 3 tasks or runs were under way: cancelled"),
	   "and says so");
	is(lkdf_close_now(NULL), 0, "of none there is nothing to do");
	rt = open_heard("workers=1");
	api_swap_runtime(rt, NULL);
	is(lkdf_close_now(rt), 0, "where nothing lives it closes");
	ok(!was_said("cancelled"), "without a word");
}

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EILSEQ, "alone");
}

static void what_was_not_put_has_names(void)
{
	struct lkdf *rt = open_heard("workers=2");
	struct lkdf_event e, done;
	struct lkdf_kind *k;
	int i;

	kind = api_kind(rt, "left kind", api_nothing, 0, 0);
	k = api_kind(rt, "put kind", fail, 0, 0);
	must(lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .name = "left graph"),
			       &graph));
	must(lkdf_graph_add(graph, k, NULL, NULL, 0));
	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "left scope"),
			       &scope));
	must(lkdf_limit_create(rt, 4711, &limit));
	must(lkdf_limit_create_with(
		rt, LKDF_LIMIT(.name = "left limit", .tokens = 1), &named));
	data = number(rt, "left data", NULL);
	for (i = 0; i < 3; i++)
		must(lkdf_event_create(rt, 1, 0, &e));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), &done));
	is(lkdf_scope_wait(rt, NULL, -1), -EILSEQ, "a task has failed");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "it closes");
	ok(was_said("not put: kind \"left kind\""), "the kind is named");
	ok(was_said("not put: graph \"left graph\""), "the graph");
	ok(was_said("not put: scope \"left scope\""), "the scope");
	ok(was_said("not put: limit of 4711 tokens"), "the limit");
	ok(was_said("not put: limit \"left limit\" of 1 token"),
	   "and the one with a name");
	ok(was_said("data not put: \"left data\""), "the data");
	ok(was_said("not put: 4 events, 3 of them"), "events are counted");
	ok(!was_said("put kind"), "what was put is not named");
	ok(was_said("held by what was not put: 1 "), "but counted");
}

/* The calls that follow a close; each is one line. */
static void puts_after_close_do_no_harm(void)
{
	const char *text;

	stderr_keep();
	lkdf_kind_put(kind);
	lkdf_graph_put(graph);
	lkdf_scope_put(scope);
	lkdf_limit_put(limit);
	is(lkdf_data_get(data) == data, 1, "a data is still there");
	lkdf_data_put(data);
	is(lkdf_data_acquire(data, LKDF_RW, 0, NULL), -EINVAL,
	   "but cannot be acquired");
	lkdf_data_put(data);
	text = stderr_text();
	is(nr_lines(text), 6, "each put is told");
	has(text, "lkdf: error: data_put: its runtime has closed\n", "so");
	has(text, "graph_put", "with the call");
}

static void a_tidy_program_is_silent(void)
{
	struct lkdf *rt = open_heard("workers=2");
	struct lkdf_kind *k = api_kind(rt, "k", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_event e, done;
	struct lkdf_limit *l;
	struct lkdf_scope *s;

	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_limit_create(rt, 1, &l));
	must(lkdf_event_create(rt, 1, 0, &e));
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, s, NULL, &done));
	must(lkdf_event_wait(done, -1));
	must(lkdf_event_signal(e, 0));
	lkdf_event_put(e);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_scope_put(s);
	lkdf_limit_put(l);
	is(lkdf_close(rt), 0, "it closes");
	ok(!was_said("put"), "nothing is said of what was put");
}

int main(void)
{
	tap_start(60);
	a_held_data_keeps_it_open("workers=2");
	a_held_data_keeps_it_open("serial=yes");
	who_waits_keeps_it_open();
	who_has_the_data_may_close(lkdf_close);
	who_has_the_data_may_close(lkdf_close_now);
	close_now_cancels();
	what_was_not_put_has_names();
	puts_after_close_do_no_harm();
	a_tidy_program_is_silent();
	return tap_end();
}
