/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A join that holds a limit runs nothing that is pinned to its node, since that
 * might wait for the limit. Where such work waits for long the log says so,
 * once; where none waits it says nothing.
 */
#include "tests/api/heard.h"

struct story {
	struct lkdf_kind *child;
	struct lkdf_event gate;
	atomic_int is_held, nr_pinned;
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

int main(void)
{
	struct lkdf *rt = open_heard("workers=1");

	tell(rt, false);
	tell(rt, true);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
