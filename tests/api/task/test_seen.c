/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Errors of children that their parent's body has seen: by lkdf_then() on a
 * child's event and by lkdf_event_error(). The parent does not end with them;
 * it does with those that it has not seen, whoever else has.
 */
#include "tests/api/api.h"

struct family {
	struct lkdf_kind *fails, *parent;
	struct lkdf_event child, other;
	int nr_left; /* children that fail one after another */
	bool has_unseen;
	int told;
};

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EPROTO, "as wanted");
}

/* Its own child fails, and it does not look. */
static int fail_by_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	return lkdf_spawn(c, f->fails, NULL);
}

static int await_next(struct lkdf_ctx *c, void *arg);

static int was_told(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	f->told += lkdf_input_error(c, 0) == -EPROTO;
	return f->nr_left ? await_next(c, arg) : 0;
}

static int await_next(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_task t = { .size = sizeof(t), .kind = f->fails, .arg = f };
	struct lkdf_event e;
	int rc;

	f->nr_left--;
	rc = lkdf_spawn_task(c, &t, &e);
	if (!rc && !f->nr_left && f->has_unseen)
		rc = lkdf_spawn_task(c, &t, &f->other);
	return rc ? rc : lkdf_then(c, was_told, e);
}

/* The parent of a child that has failed by its own child. */
static int await_grandchild(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_task t = { .size = sizeof(t), .kind = f->parent, .arg = f };
	struct lkdf_event e;
	int rc = lkdf_spawn_task(c, &t, &e);

	return rc ? rc : lkdf_then(c, was_told, e);
}

/* Asks again and again; another worker runs the child. */
static int poll_child(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct family *f = arg;
	struct lkdf_event child;
	int rc = lkdf_spawn_task(c, ATTR(lkdf_task, .kind = f->fails), &child);

	if (rc)
		return rc;
	while ((rc = lkdf_event_error(child, &e)) == 1)
		api_nap_ns(20000);
	f->told += e.err == -EPROTO;
	lkdf_event_put(child);
	return rc;
}

/* Somebody else has the event. */
static int give_event(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	return lkdf_spawn_task(c, ATTR(lkdf_task, .kind = f->fails), &f->child);
}

static int call(struct lkdf *rt, lkdf_fn fn, struct family *f)
{
	struct lkdf_kind *k = api_kind(rt, "parent", fn, 0, 0);
	int rc = api_call(rt, k, f);

	lkdf_kind_put(k);
	return rc;
}

static void parents_go_on(struct lkdf *rt, struct family *f, const char *o)
{
	f->told = 0;
	f->nr_left = 1;
	is(call(rt, await_next, f), 0, "%s: a child's error is seen by then",
	   o);
	is(f->told, 1, "and told");
	f->nr_left = 20;
	is(call(rt, await_next, f), 0, "20 of them one after another");
	is(f->told, 21, "and told");
	is(call(rt, await_grandchild, f), 0, "a grandchild's error");
	is(f->told, 22, "and told");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the scope knows of none");
}

static void parents_end_with(struct lkdf *rt, struct family *f, const char *o)
{
	int i;

	for (i = 0; i < 20; i++) {
		f->nr_left = 2;
		f->has_unseen = true;
		/* The one that was first stands for both. */
		(void)call(rt, await_next, f);
		is(lkdf_event_wait(f->other, -1), -EPROTO,
		   "%s: the other child has failed, too", o);
	}
	f->has_unseen = false;
	is(call(rt, fail_by_child, f), -EPROTO, "a child that nobody looks at");
	is(call(rt, give_event, f), -EPROTO, "one that another thread sees");
	is(lkdf_event_wait(f->child, -1), -EPROTO, "which is told as well");
}

static void errors_are_seen(const char *options, bool has_others)
{
	struct lkdf *rt = api_open(options);
	struct family f = { .fails = api_kind(rt, "fails", fail, 0, 0) };

	f.parent = api_kind(rt, "has a child", fail_by_child, 0, 0);
	parents_go_on(rt, &f, options);
	parents_end_with(rt, &f, options);
	f.told = 0;
	if (has_others) {
		is(call(rt, poll_child, &f), 0, "a body that asks the event");
		is(f.told, 1, "has seen the error");
	}
	lkdf_kind_put(f.parent);
	lkdf_kind_put(f.fails);
	is(lkdf_close(rt), 0, "%s: closes", options);
}

int main(void)
{
	tap_start(60);
	errors_are_seen("serial=yes,log=none", false);
	errors_are_seen("workers=1,log=none", false);
	errors_are_seen("workers=2,log=none", true);
	errors_are_seen("workers=4,log=none", true);
	return tap_end();
}
