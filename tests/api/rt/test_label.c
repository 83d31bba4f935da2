/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Labels of tasks and events, and the numbers of waves: errors, lkdf_why() and
 * recordings name them, and nothing of a label stays behind.
 */
#include "tests/api/api.h"
#include "tests/api/why.h"

#define NR_LABELS 40000

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "a text");
}

static void errors_name_the_label(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "request", fail, 0, 0);
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_event done;
	char label[16] = "client 47";

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .label = label),
			 &done));
	memset(label, 'x', sizeof(label) - 1);
	while (lkdf_event_error(done, &e) == 1)
		api_nap_ns(100000);
	ok(!strcmp(e.task, "request (client 47)"), "a task's error: %s",
	   e.task);
	is(lkdf_event_wait(done, -1), -EIO, "it has failed");
	has(lkdf_errmsg(), "request (client 47): a text", "its text");
	lkdf_scope_wait(rt, NULL, -1);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .label = "late",
			      .deadline_ns = 1),
			 &done));
	lkdf_event_wait(done, -1);
	has(lkdf_errmsg(), "request (late)", "one whose deadline is over");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
}

static void a_graphs_task_has_its_name_from_it(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "stage", fail, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);

	must(lkdf_graph_add_task(g, ATTR(lkdf_task, .kind = k,
					 .label = "first stage")));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "a task of a graph fails");
	has(lkdf_errmsg(), "first stage: a text", "with its label as the name");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void why_names_both(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "request", api_nothing, 0, 0);
	struct lkdf_event e, done;

	must(lkdf_event_create(rt, 1, 0, &e));
	must(lkdf_event_label(e, "reply"));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .label = "client 48",
			      .nr_after = 1, .after = &e),
			 &done));
	why_until(rt,
		  "task \"request (client 48)\" waits before it starts, for "
		  "an event \"reply\" that the program fires, 1 signal");
	must(lkdf_event_signal(e, -EPIPE));
	is(lkdf_event_wait(e, -1), -EPIPE, "the event has an error");
	has(lkdf_errmsg(), "event \"reply\": Broken pipe", "with its name");
	lkdf_event_wait(done, -1);
	lkdf_scope_wait(rt, NULL, -1);
	is(lkdf_event_label(e, "gone"), -ESTALE, "an event that is gone");
	is(lkdf_event_label((struct lkdf_event){ 0 }, "none"), -EINVAL, "none");
	must(lkdf_event_create(rt, 1, 0, &e));
	must(lkdf_event_signal(e, -EPIPE));
	is(lkdf_event_wait(e, -1), -EPIPE, "the next event in its slot");
	ok(!strstr(lkdf_errmsg(), "reply"), "has no name");
	lkdf_kind_put(k);
}

/* Each text ends with its task: the table of texts would be full long since. */
static void labels_end_with_their_tasks(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "many", api_nothing, 0, 0);
	struct lkdf_event e;
	char label[16];
	int i;

	for (i = 0; i < NR_LABELS; i++) {
		snprintf(label, sizeof(label), "%d", i);
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .label = label),
				 NULL));
		if (i % 100)
			continue;
		must(lkdf_event_create(rt, 1, 0, &e));
		must(lkdf_event_label(e, label));
		must(lkdf_event_label(e, "another"));
		must(lkdf_event_signal(e, 0));
		lkdf_event_put(e);
		lkdf_scope_wait(rt, NULL, -1);
	}
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%d tasks with labels", NR_LABELS);
	lkdf_kind_put(k);
}

/* ---- waves --------------------------------------------------------------- */

static struct lkdf_event never;

static int source(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_seq(c) == 20 ? LKDF_END : 0;
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

/* Wave 4 waits for something that only a later wave could do. */
static int stage(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_seq(c) == 4 ? lkdf_then(c, go_on, never) : 0;
}

static void why_names_waves(struct lkdf *rt)
{
	struct lkdf_kind *first = api_kind(rt, "source", source, 0, 0);
	struct lkdf_kind *k = api_kind(rt, "stage", stage, 0, LKDF_SHARED);
	struct lkdf_event done, mine;
	struct lkdf_graph *g;

	must(lkdf_graph_create(
		rt, ATTR(lkdf_graph_attr, .name = "video", .inflight = 4), &g));
	must(lkdf_graph_add(g, first, NULL, NULL, 0));
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_event_create(rt, 1, 0, &mine));
	never = mine;
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			    &done));
	why_until(rt, "task \"stage#1\" of wave 4 of graph \"video\" waits");
	why_until(rt, ", as is wave 8, which cannot begin: inflight 4");
	must(lkdf_event_signal(mine, 0));
	is(lkdf_event_wait(done, -1), 0, "the stream ends when it may go on");
	lkdf_graph_put(g);
	lkdf_kind_put(first);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;

	tap_start(60);
	rt = api_open("workers=2,log=none");
	errors_name_the_label(rt);
	a_graphs_task_has_its_name_from_it(rt);
	why_names_both(rt);
	labels_end_with_their_tasks(rt);
	why_names_waves(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
