/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A join that holds a limit runs nothing that is pinned to its node, since that
 * might wait for the limit. Where such work waits for long the log says so,
 * once; where none waits it says nothing. Nor does a join below such a task,
 * on another node: what is pinned there might wait for the first node's worker.
 */
#include "tests/api/heard.h"

struct story {
	struct lkdf_kind *child, *below;
	struct lkdf_event gate;
	atomic_int is_held, is_below, nr_pinned;
};

static int hold(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;
	int rc = lkdf_hold(c, &s->gate);

	s->is_held = 1;
	return rc;
}

static int join(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;
	int rc = lkdf_spawn(c, s->child, &s);

	return rc ? rc : lkdf_join(c);
}

static int pinned(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(*(struct story **)arg)->nr_pinned++;
	return 0;
}

static int nr_said(void)
{
	int nr;

	pthread_mutex_lock(&said.lock);
	nr = said.nr;
	pthread_mutex_unlock(&said.lock);
	return nr;
}

static void tell(struct lkdf *rt, bool is_pinned)
{
	struct story s = { .nr_pinned = 0 }, *at = &s;
	struct lkdf_limit_use use = { .tokens = 1 };
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = "joins",
				    .fn = join,
				    .arg_size = sizeof(at),
				    .limit = &use,
				    .nr_limit = 1 };
	struct lkdf_kind *k = api_kind(rt, "pinned", pinned, sizeof(at), 0);
	struct lkdf_task t = { .size = sizeof(t), .arg = &at };
	int i;

	s.child = api_kind(rt, "holds", hold, sizeof(at), 0);
	must(lkdf_limit_create_with(
		rt, LKDF_LIMIT(.name = "seats", .tokens = 1), &use.limit));
	must(lkdf_kind_create(rt, &a, &t.kind));
	must(lkdf_submit(rt, NULL, &t, NULL));
	api_until(&s.is_held);
	lkdf_kind_put(t.kind);
	t.kind = k;
	t.place = lkdf_place_node(rt, 0);
	t.flags = LKDF_PINNED;
	if (is_pinned)
		must(lkdf_submit(rt, NULL, &t, NULL));
	for (i = 0; i < (is_pinned ? 30000 : 2500) && !nr_said(); i++)
		api_nap_ns(1000000);
	is(nr_said(), is_pinned, "lines in the log");
	ok(!is_pinned || strstr(line(0), "\"joins\" has waited"),
	   "says who waits: %s", line(0));
	ok(!is_pinned || strstr(line(0), "limit \"seats\" of 1 token,"),
	   "and below which limit");
	is(s.nr_pinned, 0, "nothing pinned ran above the limit");
	must(lkdf_event_signal(s.gate, 0));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	is(s.nr_pinned, is_pinned, "what is pinned as well");
	lkdf_kind_put(k);
	lkdf_kind_put(s.child);
	lkdf_limit_put(use.limit);
}

/* On node 1, and its child on node 0. */
static int pinned_join(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;
	struct lkdf_task t = { .size = sizeof(t), .kind = s->child, .arg = &s };

	s->nr_pinned++;
	t.place = lkdf_place_node(lkdf_runtime(c), 0);
	t.flags = LKDF_PINNED;
	return lkdf_spawn_task(c, &t, NULL) ?: lkdf_join(c);
}

static int join_held(struct lkdf_ctx *c, void *arg)
{
	(*(struct story **)arg)->is_below = 1;
	return join(c, arg);
}

/* Joins when another worker has its child. */
static int hold_limit(struct lkdf_ctx *c, void *arg)
{
	struct story *s = *(struct story **)arg;
	int rc = lkdf_spawn(c, s->below, &s);

	api_until(&s->is_below);
	return rc ? rc : lkdf_join(c);
}

/* Two workers: one holds the limit, the other joins below it. */
static void below(struct lkdf *rt)
{
	struct story s = { .nr_pinned = 0 }, *at = &s;
	struct lkdf_limit_use use = { .tokens = 1 };
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = "holds the limit",
				    .fn = hold_limit,
				    .arg_size = sizeof(at),
				    .limit = &use,
				    .nr_limit = 1 };
	struct lkdf_kind *k =
		api_kind(rt, "pinned", pinned_join, sizeof(at), 0);
	struct lkdf_task t = { .size = sizeof(t),
			       .arg = &at,
			       .flags = LKDF_PINNED };
	int i;

	s.child = api_kind(rt, "holds", hold, sizeof(at), 0);
	s.below = api_kind(rt, "joins", join_held, sizeof(at), 0);
	must(lkdf_limit_create(rt, 1, &use.limit));
	must(lkdf_kind_create(rt, &a, &t.kind));
	t.place = lkdf_place_node(rt, 0);
	must(lkdf_submit(rt, NULL, &t, NULL));
	api_until(&s.is_held);
	lkdf_kind_put(t.kind);
	lkdf_kind_put(s.child);
	s.child = api_kind(rt, "pinned child", pinned, sizeof(at), 0);
	t.kind = k;
	t.place = lkdf_place_node(rt, 1);
	must(lkdf_submit(rt, NULL, &t, NULL));
	for (i = 0; i < 200 && !s.nr_pinned; i++)
		api_nap_ns(1000000);
	is(s.nr_pinned, 0, "nothing pinned ran below the limit");
	must(lkdf_event_signal(s.gate, 0));
	is(lkdf_scope_wait(rt, NULL, PATIENCE_NS), 0, "all end");
	is(s.nr_pinned, 2, "what is pinned as well, and its child");
	lkdf_kind_put(k);
	lkdf_kind_put(s.below);
	lkdf_kind_put(s.child);
	lkdf_limit_put(use.limit);
}

int main(void)
{
	struct lkdf *rt = open_heard("workers=1");

	tap_start(60);
	tell(rt, false);
	tell(rt, true);
	is(lkdf_close(rt), 0, "the runtime closes");
	rt = open_heard("topology=numa:2 core:1");
	below(rt);
	is(lkdf_close(rt), 0, "the runtime of two nodes closes");
	return tap_end();
}
