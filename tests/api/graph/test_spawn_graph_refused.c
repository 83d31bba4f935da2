/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Graphs that no body may run as its child, by name: what a run of them would
 * wait for stands outside of it.
 */
#include "tests/api/graph/child_run.h"

struct asked {
	struct lkdf_graph *g;
	const struct lkdf_run *run;
	int rc;
	char text[400];
};

static int asks(struct lkdf_ctx *c, void *arg)
{
	struct asked *a = arg;

	a->rc = lkdf_spawn_graph(c, a->g, a->run);
	snprintf(a->text, sizeof(a->text), "%s", a->rc ? lkdf_errmsg() : "");
	return 0;
}

static void refuses(struct lkdf *rt, struct lkdf_graph *g,
		    const struct lkdf_run *run, int rc, const char *word,
		    const char *what)
{
	struct asked a = { .g = g, .run = run };

	must(call_with(rt, asks, 0, &a));
	ok(a.rc == rc && strstr(a.text, word), "%s is refused: %s", what,
	   a.text);
}

/* One task of that kind. */
static struct lkdf_graph *graph_of(struct lkdf *rt, struct lkdf_kind *k,
				   uint32_t inflight, void *arg,
				   const struct lkdf_use *use)
{
	struct lkdf_graph *g = api_graph(rt, inflight);

	must(lkdf_graph_add(g, k, arg, use, use ? 1 : 0));
	return g;
}

static void bad_runs_are_refused(struct lkdf *rt)
{
	struct lkdf *other = api_open("workers=1");
	struct lkdf_kind *k = api_kind(rt, "serial", first_calls, 0, 0);
	struct lkdf_kind *shared =
		api_kind(rt, "shared", first_calls, 0, LKDF_SHARED);
	struct lkdf_graph *g = graph_of(rt, k, 2, NULL, NULL);
	static const uint64_t eight;
	struct lkdf_data *d;
	struct lkdf_use use;
	struct five f;

	refuses(rt, NULL, NULL, -EINVAL, "NULL", "no graph");
	refuses(rt, g, NULL, -EBADFD, "sealed", "a graph that is not sealed");
	must(lkdf_graph_seal(g, NULL));
	refuses(rt, g, NULL, -EINVAL, "serial#0", "a kind that is not SHARED");
	lkdf_graph_put(g);

	five_open(&f, other, 1, 0);
	refuses(rt, f.g, NULL, -EINVAL, "another runtime", "another runtime's");
	lkdf_graph_put(f.g);
	lkdf_close(other);

	five_open(&f, rt, 2, LKDF_SHARED);
	refuses(rt, f.g, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM), -EINVAL,
		"STREAM", "a stream");
	refuses(rt, f.g, ATTR(lkdf_run, .flags = 64), -EINVAL, "flags",
		"an unknown flag");
	refuses(rt, f.g, ATTR(lkdf_run, .deadline_ns = -1), -EINVAL, "deadline",
		"a deadline below 0");
	refuses(rt, f.g, &(struct lkdf_run){ .size = 3 }, -EINVAL, "size",
		"a struct of another size");
	lkdf_graph_put(f.g);

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .name = "matrix", .bytes = 8,
				   .init = &eight),
			      &d));
	use = (struct lkdf_use){ .data = d, .mode = LKDF_RW };
	g = graph_of(rt, shared, 1, NULL, &use);
	must(lkdf_graph_seal(g, NULL));
	refuses(rt, g, NULL, -EOPNOTSUPP, "matrix", "data of others");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(shared);
}

static int asks_twice(struct lkdf_ctx *c, void *arg)
{
	struct held *h = arg;
	int rc = lkdf_spawn_graph(c, h->g, NULL);

	if (!rc)
		rc = lkdf_spawn_graph(c, h->g, NULL) == -EAGAIN ? 0 : -EPROTO;
	must(lkdf_event_signal(h->release, 0));
	return rc;
}

static void too_many_runs_are_refused(struct lkdf *rt, const char *option)
{
	struct held h;

	held_open(&h, rt);
	is(call_with(rt, asks_twice, 0, &h), 0,
	   "a second run with inflight 1 is -EAGAIN, %s", option);
	must(lkdf_event_wait(h.began, -1));
	is(h.after, 1, "and the first one ends");
	lkdf_graph_put(h.g);
}

/* A run below a body that holds what the run needs. */
static void limits_above_are_seen(struct lkdf *rt)
{
	struct lkdf_kind *k, *parent;
	struct lkdf_limit_use use = { .tokens = 2 };
	struct asked a = { 0 };

	must(lkdf_limit_create_with(
		rt, ATTR(lkdf_limit_attr, .name = "files", .tokens = 3),
		&use.limit));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "opens",
				   .fn = first_calls, .limit = &use,
				   .nr_limit = 1),
			      &k));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "holder", .fn = asks,
				   .limit = &use, .nr_limit = 1),
			      &parent));
	a.g = graph_of(rt, k, 1, &(struct five){ 0 }, NULL);
	must(lkdf_graph_seal(a.g, NULL));
	must(api_call(rt, parent, &a));
	ok(a.rc == -EDEADLK && strstr(a.text, "files") &&
		   strstr(a.text, "opens"),
	   "a limit that the body holds is refused: %s", a.text);
	lkdf_graph_put(a.g);
	lkdf_kind_put(k);
	lkdf_kind_put(parent);
	lkdf_limit_put(use.limit);
}

int main(void)
{
	struct lkdf *rt;
	unsigned i;

	tap_start(60);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		rt = api_open(options[i]);
		too_many_runs_are_refused(rt, options[i]);
		is(lkdf_close(rt), 0, "nothing is left, %s", options[i]);
	}
	rt = api_open_workers(2);
	bad_runs_are_refused(rt);
	limits_above_are_seen(rt);
	is(lkdf_close(rt), 0, "nothing is left");
	return tap_end();
}
