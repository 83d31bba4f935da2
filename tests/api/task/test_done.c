/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The event of a child, or of a group, fires before its parent is told: who has
 * joined, or goes on after its children, finds that it has fired, and functions
 * of lkdf_event_call() have returned.
 *
 * Such a function stays a while: if the parent were told before, it would go on
 * meanwhile.
 */
#include "tests/api/api.h"

#define NR_ROUNDS 300
#define NR_NAPS 200
#define NAP_NS 50000

/* How a parent waits. */
enum way {
	WAY_JOIN,
	WAY_GROUP_WAIT,
	WAY_GROUP_PUT,
};

struct family {
	struct lkdf_kind *child;
	struct lkdf_group *group;
	enum way way;
	struct lkdf_event done;
	atomic_int begun, may_end, is_told, was_told, nr_calls, nr_late;
	int seen;
	bool is_group, wants_error;
};

static int begin_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	atomic_store(&f->begun, 1);
	api_until(&f->may_end);
	return f->wants_error ? lkdf_fail(c, -EPROTO, "as wanted") : 0;
}

/* On the thread that ends the child. */
static void stay(void *u, int error)
{
	struct family *f = u;
	int i;

	(void)error;
	for (i = 0; i < NR_NAPS && !atomic_load(&f->is_told); i++)
		api_nap_ns(NAP_NS);
	f->was_told = atomic_load(&f->is_told);
	atomic_fetch_add(&f->nr_calls, 1);
}

/* Another worker has begun with it. */
static void begin_elsewhere(struct lkdf_ctx *c, struct family *f)
{
	atomic_store(&f->begun, 0);
	if (f->is_group) {
		must(lkdf_group_create(c, &f->group, NULL));
		must(lkdf_group_spawn(f->group, f->child, f));
		api_until(&f->begun);
		must(lkdf_group_event(f->group, &f->done));
	} else {
		must(lkdf_spawn_task(
			c, ATTR(lkdf_task, .kind = f->child, .arg = f),
			&f->done));
		api_until(&f->begun);
	}
}

/* The child ends when the function is there. */
static void stay_at_end(struct lkdf_ctx *c, struct family *f)
{
	begin_elsewhere(c, f);
	must(lkdf_event_call(f->done, stay, f));
	atomic_store(&f->may_end, 1);
}

static int has_fired(struct lkdf_event e)
{
	struct lkdf_error error = { .size = sizeof(error) };

	return lkdf_event_error(e, &error) == 0;
}

static void note_end(struct family *f)
{
	atomic_store(&f->is_told, 1);
	f->seen = has_fired(f->done) &&
		  (f->way != WAY_JOIN || atomic_load(&f->nr_calls) == 1);
	lkdf_event_put(f->done);
}

static int await_child(struct lkdf_ctx *c, struct family *f)
{
	int rc = 0;

	if (f->way == WAY_JOIN)
		rc = lkdf_join(c);
	else if (f->way == WAY_GROUP_WAIT)
		rc = lkdf_group_wait(f->group);
	if (f->is_group)
		lkdf_group_put(f->group);
	return rc;
}

static int join_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	int rc;

	stay_at_end(c, f);
	rc = await_child(c, f);
	note_end(f);
	return rc;
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	note_end(f);
	if (f->is_group)
		lkdf_group_put(f->group);
	return lkdf_input_error(c, 0);
}

static int leave_for_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	stay_at_end(c, f);
	return lkdf_then(c, go_on, (struct lkdf_event){ 0 });
}

static int end_before_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	stay_at_end(c, f);
	return 0;
}

static int ask_twice(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_event e;
	int rc;

	begin_elsewhere(c, f);
	rc = lkdf_group_event(f->group, &e);
	atomic_store(&f->may_end, 1);
	lkdf_group_put(f->group);
	lkdf_event_put(f->done);
	return rc;
}

/* Without a function: the event itself, as soon as the join has ended. */
static int join_often(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	int i;

	atomic_store(&f->may_end, 1);
	for (i = 0; i < NR_ROUNDS; i++) {
		begin_elsewhere(c, f);
		must(await_child(c, f));
		atomic_fetch_add(&f->nr_late, !has_fired(f->done));
		lkdf_event_put(f->done);
	}
	return 0;
}

static int call(struct lkdf *rt, lkdf_fn fn, struct family *f)
{
	struct lkdf_kind *k = api_kind(rt, "parent", fn, 0, 0);
	int rc;

	f->seen = 0;
	atomic_store(&f->is_told, 0);
	atomic_store(&f->may_end, 0);
	atomic_store(&f->nr_calls, 0);
	rc = api_call(rt, k, f);
	atomic_store(&f->is_told, 1);
	lkdf_kind_put(k);
	return rc;
}

static void each_way(struct lkdf *rt, struct family *f, const char *what,
		     int error)
{
	is(call(rt, join_child, f), error, "%s: a parent joins", what);
	ok(f->seen, "and finds that the event has fired");
	is(f->was_told, 0, "it was not told before");
	is(call(rt, leave_for_child, f), error, "a parent leaves");
	ok(f->seen, "and finds the same");
	is(f->was_told, 0, "it was not told before");
}

static void often(struct lkdf *rt, struct family *f, const char *what)
{
	atomic_store(&f->nr_late, 0);
	is(call(rt, join_often, f), 0, "%s: %d joins", what, NR_ROUNDS);
	is(f->nr_late, 0, "each of whose events has fired");
}

static void events_come_first(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct family f = { .begun = 0 };

	f.child = api_kind(rt, "child", begin_child, 0, 0);
	printf("# %s\n", options);
	each_way(rt, &f, "a child", 0);
	is(call(rt, end_before_child, &f), 0, "a parent ends");
	is(f.nr_calls, 1, "after the event of its child");
	lkdf_event_put(f.done);
	often(rt, &f, "a child");
	f.wants_error = true;
	each_way(rt, &f, "a child that fails", -EPROTO);

	f.is_group = true;
	each_way(rt, &f, "a group that fails", 0);
	f.wants_error = false;
	for (f.way = WAY_JOIN; f.way <= WAY_GROUP_PUT; f.way++)
		often(rt, &f, "a group");
	f.way = WAY_GROUP_WAIT;
	f.wants_error = true;
	is(call(rt, join_child, &f), 0, "the event has a group's error");
	ok(f.seen, "and has fired when the wait ends");
	is(call(rt, ask_twice, &f), -EBUSY, "a group has one event at a time");
	lkdf_kind_put(f.child);
	lkdf_scope_wait(rt, NULL, -1);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	tap_start(60);
	events_come_first("workers=2,log=none");
	events_come_first("workers=4,log=none");
	return tap_end();
}
