/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Groups: their counter and their first error are their own; tasks come into
 * them from the body, from their tasks, and from other threads; a body leaves
 * and goes on when a group, or all of them, have ended.
 */
#include "tests/api/api.h"

#include <pthread.h>

struct family {
	struct lkdf *rt;
	struct lkdf_kind *adds, *fails, *tree, *waits;
	struct lkdf_group *g;
	struct lkdf_event gate;
	atomic_int nr;
	int seen, error;
};

static int add(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	(void)c;
	atomic_fetch_add(&f->nr, 1);
	return 0;
}

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EPROTO, "as wanted");
}

struct branch {
	struct family *f;
	struct lkdf_group *g;
	int depth;
};

/* A tree whose tasks are all of one group. */
static int tree(struct lkdf_ctx *c, void *arg)
{
	struct branch *b = arg, below = { b->f, b->g, b->depth - 1 };
	int rc;

	(void)c;
	atomic_fetch_add(&b->f->nr, 1);
	if (!b->depth)
		return 0;
	rc = lkdf_group_spawn(b->g, b->f->tree, &below);
	return rc ? rc : lkdf_group_spawn(b->g, b->f->tree, &below);
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

/* Ends when the gate opens. */
static int wait_at_gate(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	return lkdf_then(c, go_on, f->gate);
}

/* ---- in a body ---------------------------------------------------------- */

static int two_groups(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *a, *b;
	struct lkdf *rt = NULL;
	int i, rc = 0;

	must(lkdf_group_create(c, &a, NULL));
	must(lkdf_group_create(NULL, &b, &rt));
	f->seen = rt == f->rt;
	/* Neither the other group nor a child of the body holds it back. */
	must(lkdf_group_spawn(b, f->waits, f));
	must(lkdf_spawn(c, f->fails, NULL));
	for (i = 0; i < 100; i++)
		must(lkdf_group_spawn(a, f->adds, f));
	rc = lkdf_group_wait(a);
	f->seen += !rc && atomic_exchange(&f->nr, 0) == 100;
	must(lkdf_group_spawn(a, f->fails, NULL));
	f->seen += lkdf_group_wait(a) == -EPROTO;
	f->seen += lkdf_group_wait(a) == 0;
	must(lkdf_event_signal(f->gate, 0));
	f->seen += lkdf_group_wait(b) == 0;
	lkdf_group_put(a);
	lkdf_group_put(b);
	f->seen += lkdf_join(c) == -EPROTO;
	return 0;
}

/* Its own error is the group's; its join waits for groups. */
static int join_groups(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct branch b = { f, NULL, 6 };
	struct lkdf_group *g;

	must(lkdf_group_create(c, &g, NULL));
	b.g = g;
	must(lkdf_group_spawn(g, f->tree, &b));
	f->seen = lkdf_join(c) == 0 && atomic_exchange(&f->nr, 0) == 127;
	must(lkdf_group_spawn(g, f->tree, &b));
	lkdf_group_put(g);
	f->seen += atomic_exchange(&f->nr, 0) == 127;
	return 0;
}

static void *spawn_outside(void *arg)
{
	struct family *f = arg;
	int i;

	for (i = 0; i < 50; i++)
		must(lkdf_group_spawn(f->g, f->adds, f));
	f->seen += lkdf_group_wait(f->g) == -EDEADLK;
	return NULL;
}

static int give_group(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	pthread_t thread;

	must(lkdf_group_create(c, &f->g, NULL));
	f->seen = 0;
	pthread_create(&thread, NULL, spawn_outside, f);
	pthread_join(thread, NULL);
	must(lkdf_group_spawn(f->g, f->adds, f));
	f->seen +=
		lkdf_group_wait(f->g) == 0 && atomic_exchange(&f->nr, 0) == 51;
	lkdf_group_put(f->g);
	return 0;
}

/* ---- a body that leaves ------------------------------------------------- */

static int after_all(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	f->seen += atomic_exchange(&f->nr, 0) == 127;
	f->error = lkdf_input_error(c, 0);
	f->seen += lkdf_group_wait(f->g) == 0;
	must(lkdf_group_spawn(f->g, f->adds, f));
	f->seen +=
		lkdf_group_wait(f->g) == 0 && atomic_exchange(&f->nr, 0) == 1;
	lkdf_group_put(f->g);
	return 0;
}

static int after_event(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct branch b = { f, f->g, 6 };

	f->seen += atomic_exchange(&f->nr, 0) == 127;
	f->error = lkdf_input_error(c, 0);
	must(lkdf_group_spawn(f->g, f->tree, &b));
	return lkdf_then(c, after_all, (struct lkdf_event){ 0 });
}

static int leave(struct lkdf_ctx *c, struct family *f, bool fails)
{
	struct branch b = { f, NULL, 6 };
	struct lkdf_event e;

	f->seen = 0;
	must(lkdf_group_create(c, &f->g, NULL));
	b.g = f->g;
	must(lkdf_group_spawn(f->g, f->tree, &b));
	if (fails)
		must(lkdf_group_spawn(f->g, f->fails, NULL));
	must(lkdf_group_event(f->g, &e));
	return lkdf_then(c, after_event, e);
}

static int leave_well(struct lkdf_ctx *c, void *arg)
{
	return leave(c, arg, false);
}

static int leave_failing(struct lkdf_ctx *c, void *arg)
{
	return leave(c, arg, true);
}

static int fail_unseen(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *g;

	must(lkdf_group_create(c, &g, NULL));
	must(lkdf_group_spawn(g, f->fails, NULL));
	lkdf_group_put(g);
	return 0;
}

/* In a block of a loop, on any thread. */
static int block(uint64_t begin, uint64_t end, void *u)
{
	struct family *f = u;
	struct lkdf_group *g;
	int rc = 0;

	for (; begin < end && !rc; begin++) {
		must(lkdf_group_create(NULL, &g, NULL));
		rc = lkdf_group_spawn(g, f->adds, f);
		if (!rc)
			rc = lkdf_group_wait(g);
		lkdf_group_put(g);
	}
	return rc;
}

/* ------------------------------------------------------------------------- */

static int call(struct lkdf *rt, lkdf_fn fn, struct family *f)
{
	struct lkdf_kind *k = api_kind(rt, "parent", fn, 0, 0);
	int rc = api_call(rt, k, f);

	lkdf_kind_put(k);
	return rc;
}

static void groups_work(const char *options, bool has_threads)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_range r = { 0, 200, 1 };
	struct family f = { .rt = rt };
	struct lkdf_group *none = NULL;
	int i;

	f.adds = api_kind(rt, "adds", add, 0, LKDF_SHARED);
	f.fails = api_kind(rt, "fails", fail, 0, 0);
	f.tree = api_kind(rt, "tree", tree, sizeof(struct branch), 0);
	f.waits = api_kind(rt, "waits", wait_at_gate, 0, 0);
	must(lkdf_event_create(rt, 1, 0, &f.gate));
	is(call(rt, two_groups, &f), 0, "%s: two groups and a child", options);
	is(f.seen, 6, "each ends alone, with its own error");
	is(call(rt, join_groups, &f), 0, "a tree in one group");
	is(f.seen, 2, "a join of the body and a put wait for it");
	if (has_threads) {
		is(call(rt, give_group, &f), 0, "another thread starts tasks");
		is(f.seen, 2, "and cannot wait for them");
	}
	for (i = 0; i < 20; i++) {
		is(call(rt, leave_well, &f), 0, "a body that leaves");
		is(f.seen, 4, "goes on when the group has ended");
		is(call(rt, leave_failing, &f), 0, "one of a group that fails");
		is(f.seen, 4, "has seen the error");
	}
	is(call(rt, fail_unseen, &f), 0, "an error that nobody waits for");
	is(lkdf_for(rt, r, block, &f), 0, "groups in blocks of a loop");
	is(atomic_load(&f.nr), 200, "all have run");
	is(lkdf_group_create(NULL, &none, NULL), -ESRCH, "outside of bodies");
	lkdf_group_put(none);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the scope knows of no error");
	lkdf_kind_put(f.waits);
	lkdf_kind_put(f.tree);
	lkdf_kind_put(f.fails);
	lkdf_kind_put(f.adds);
	is(lkdf_close(rt), 0, "%s: closes", options);
}

int main(void)
{
	tap_start(60);
	groups_work("serial=yes,log=none", false);
	groups_work("workers=1,log=none", true);
	groups_work("workers=2,log=none", true);
	groups_work("workers=4,log=none", true);
	return tap_end();
}
