/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of lkdf_spawn_graph() share: a graph of five tasks that count,
 * and one whose first task waits for an event.
 */
#ifndef TESTS_API_GRAPH_CHILD_RUN_H
#define TESTS_API_GRAPH_CHILD_RUN_H

#include "tests/api/api.h"

__attribute__((unused)) static const char *const options[] = {
	"workers=1", "workers=2", "workers=4", "serial=yes"
};

struct five {
	struct lkdf_graph *g;
	atomic_int calls, last;
	int fails; /* the error of its third task */
};

static int first_calls(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(&((struct five *)arg)->calls, 1);
	return 0;
}

static int third_calls(struct lkdf_ctx *c, void *arg)
{
	struct five *f = arg;

	(void)c;
	atomic_fetch_add(&f->calls, 1);
	return f->fails;
}

static int last_calls(struct lkdf_ctx *c, void *arg)
{
	struct five *f = arg;

	(void)c;
	atomic_store(&f->last, atomic_fetch_add(&f->calls, 1) + 1);
	return 0;
}

/* One, three beside each other, one. */
__attribute__((unused)) static void five_open(struct five *f, struct lkdf *rt,
					      uint32_t inflight, uint32_t flags)
{
	struct lkdf_kind *k = api_kind(rt, "counts", first_calls, 0, flags);
	struct lkdf_kind *third = api_kind(rt, "third", third_calls, 0, flags);
	struct lkdf_kind *last = api_kind(rt, "last", last_calls, 0, flags);
	int i;

	memset(f, 0, sizeof(*f));
	f->g = api_graph(rt, inflight);
	for (i = 0; i < 5; i++)
		must(lkdf_graph_add(f->g,
				    i == 3   ? third
				    : i == 4 ? last
					     : k,
				    f, NULL, 0));
	for (i = 1; i < 4; i++) {
		must(lkdf_graph_order(f->g, 0, i));
		must(lkdf_graph_order(f->g, i, 4));
	}
	must(lkdf_graph_seal(f->g, NULL));
	lkdf_kind_put(k);
	lkdf_kind_put(third);
	lkdf_kind_put(last);
}

struct held {
	struct lkdf_graph *g;
	struct lkdf_event began, release;
	int64_t deadline_ns;
	atomic_int after;
};

/* It leaves until the event fires, or a cancel comes. */
static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_input_error(c, 0);
}

static int waits(struct lkdf_ctx *c, void *arg)
{
	struct held *h = arg;

	must(lkdf_event_signal(h->began, 0));
	return lkdf_then(c, nothing, h->release);
}

static int counts_after(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(&((struct held *)arg)->after, 1);
	return 0;
}

__attribute__((unused)) static int spawns_held(struct lkdf_ctx *c, void *arg)
{
	struct held *h = arg;

	return lkdf_spawn_graph(c, h->g,
				ATTR(lkdf_run, .deadline_ns = h->deadline_ns));
}

__attribute__((unused)) static void held_open(struct held *h, struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "waits", waits, 0, 0);
	struct lkdf_kind *after = api_kind(rt, "after", counts_after, 0, 0);

	memset(h, 0, sizeof(*h));
	h->g = api_graph(rt, 1);
	must(lkdf_graph_add(h->g, k, h, NULL, 0));
	must(lkdf_graph_add(h->g, after, h, NULL, 0));
	must(lkdf_graph_order(h->g, 0, 1));
	must(lkdf_graph_seal(h->g, NULL));
	must(lkdf_event_create(rt, 1, 0, &h->began));
	must(lkdf_event_create(rt, 1, 0, &h->release));
	lkdf_kind_put(k);
	lkdf_kind_put(after);
}

__attribute__((unused)) static int call_with(struct lkdf *rt, lkdf_fn fn,
					     uint32_t flags, void *arg)
{
	struct lkdf_kind *k = api_kind(rt, "parent", fn, 0, flags);
	int rc = api_call(rt, k, arg);

	lkdf_kind_put(k);
	return rc;
}

#endif
