/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Who is told of an error in a group: a join of the body, the body that goes on
 * after all of its children, the log, or nobody where the scope was cancelled.
 * And groups that are given back in another order than they were made.
 */
#include "tests/api/heard.h"

#include <pthread.h>

#define NR_MANY 500
#define NR_PUTS 1000

struct family {
	struct lkdf *rt;
	struct lkdf_kind *fails, *fails_late, *adds, *limited;
	struct lkdf_group *g;
	struct lkdf_event gate;
	struct lkdf_scope *scope;
	atomic_int nr, has_left;
	int seen;
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

/* Ends when the gate opens. */
static int fail_late(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	return lkdf_then(c, fail, f->gate);
}

/* ---- in the body -------------------------------------------------------- */

/* The join has a group's error, which the group has no more. */
static int join_has_it(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *a, *b;

	must(lkdf_group_create(c, &a, NULL));
	must(lkdf_group_create(c, &b, NULL));
	must(lkdf_group_spawn(a, f->fails, f));
	must(lkdf_group_spawn(b, f->adds, f));
	f->seen = lkdf_join(c) == -EPROTO;
	f->seen += lkdf_group_wait(a) == 0;
	must(lkdf_group_spawn(a, f->adds, f));
	f->seen += lkdf_group_wait(a) == 0 && lkdf_join(c) == 0;
	lkdf_group_put(b);
	lkdf_group_put(a);
	f->seen += atomic_exchange(&f->nr, 0) == 2;
	return 0;
}

/* A group that stays in the list is waited for, one that is gone is not. */
static int put_in_order_made(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *a, *b, *d, *e;

	must(lkdf_group_create(c, &a, NULL));
	must(lkdf_group_create(c, &b, NULL));
	must(lkdf_group_create(c, &d, NULL));
	lkdf_group_put(b);
	must(lkdf_group_create(c, &e, NULL));
	must(lkdf_group_spawn(e, f->adds, f));
	must(lkdf_group_spawn(a, f->adds, f));
	must(lkdf_group_spawn(d, f->adds, f));
	f->seen = lkdf_join(c) == 0 && atomic_exchange(&f->nr, 0) == 3;
	lkdf_group_put(a);
	lkdf_group_put(d);
	must(lkdf_group_spawn(e, f->fails, f));
	f->seen += lkdf_join(c) == -EPROTO;
	lkdf_group_put(e);
	f->seen += lkdf_join(c) == 0;
	return 0;
}

/* The text of a refusal is that of the task's error, as after a join. */
static int wait_refused(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *g;
	int rc;

	must(lkdf_group_create(c, &g, NULL));
	rc = lkdf_group_wait(g);
	f->seen = rc == -EDEADLK;
	lkdf_group_put(g);
	return rc;
}

/* More than a queue holds, so some run in the spawn; one ends after the event.
 */
static int wait_after_event(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *g;
	struct lkdf_event e;
	int i;

	must(lkdf_group_create(c, &g, NULL));
	must(lkdf_group_spawn(g, f->fails_late, f));
	for (i = 0; i < NR_MANY; i++)
		must(lkdf_group_spawn(g, f->adds, f));
	must(lkdf_group_event(g, &e));
	must(lkdf_event_signal(f->gate, 0));
	f->seen = lkdf_group_wait(g) == 0;
	f->seen += atomic_exchange(&f->nr, 0) == NR_MANY;
	must(lkdf_group_spawn(g, f->adds, f));
	f->seen += lkdf_group_wait(g) == 0 && atomic_exchange(&f->nr, 0) == 1;
	lkdf_group_put(g);
	/* Nobody asks for its error, which goes to the log then. */
	lkdf_event_put(e);
	return 0;
}

/* A group that was not the last has memory that the next one gets. */
static int put_often(struct lkdf_ctx *c, void *arg)
{
	static struct lkdf_group *had[NR_PUTS];
	struct family *f = arg;
	struct lkdf_group *last;
	int i, k;

	for (i = 0; i < NR_PUTS; i++) {
		must(lkdf_group_create(c, &had[i], NULL));
		must(lkdf_group_create(c, &last, NULL));
		lkdf_group_put(had[i]);
		lkdf_group_put(last);
		for (k = 0; k < i && had[k] != had[i]; k++)
			;
		f->seen += k == i;
	}
	return 0;
}

/* ---- a body that leaves ------------------------------------------------- */

static int after_all(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *g;

	f->seen = lkdf_input_error(c, 0) == -EPROTO;
	f->seen += lkdf_group_wait(f->g) == 0;
	/* Groups of before and of now: the join waits for both. */
	must(lkdf_group_create(c, &g, NULL));
	must(lkdf_group_spawn(g, f->adds, f));
	must(lkdf_group_spawn(f->g, f->adds, f));
	lkdf_group_put(f->g);
	f->seen += lkdf_join(c) == 0 && atomic_exchange(&f->nr, 0) == 2;
	lkdf_group_put(g);
	return 0;
}

static int leave_failing(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *empty;
	int rc;

	must(lkdf_group_create(c, &f->g, NULL));
	must(lkdf_group_create(c, &empty, NULL));
	must(lkdf_group_spawn(f->g, f->fails_late, f));
	lkdf_group_put(empty);
	rc = lkdf_then(c, after_all, (struct lkdf_event){ 0 });
	atomic_store(&f->has_left, 1);
	return rc;
}

/* Its only child has ended before it leaves. */
static int leave_with_an_error(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_event e;

	must(lkdf_group_create(c, &f->g, NULL));
	must(lkdf_group_spawn(f->g, f->fails, f));
	must(lkdf_group_event(f->g, &e));
	f->seen = lkdf_group_wait(f->g) == 0;
	f->seen += lkdf_event_wait(e, 0) == -EPROTO;
	must(lkdf_group_event(f->g, &e));
	f->seen += lkdf_event_wait(e, 0) == 0;
	must(lkdf_group_spawn(f->g, f->fails, f));
	return lkdf_then(c, after_all, (struct lkdf_event){ 0 });
}

static int put_group(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	(void)c;
	f->seen = lkdf_group_wait(f->g) == 0;
	lkdf_group_put(f->g);
	return 0;
}

/* It goes on at the gate, whatever its group does. */
static int leave_for_gate(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	int rc;

	must(lkdf_group_create(c, &f->g, NULL));
	rc = lkdf_then(c, put_group, f->gate);
	atomic_store(&f->has_left, 1);
	return rc;
}

/* ---- from elsewhere ----------------------------------------------------- */

static void *spawn_outside(void *arg)
{
	struct family *f = arg;
	struct lkdf_event e;
	int i;

	f->seen += lkdf_group_event(f->g, &e) == -EDEADLK;
	for (i = 0; i < 3; i++) {
		must(lkdf_group_spawn(f->g, f->limited, f));
		must(lkdf_group_spawn(f->g, f->adds, f));
	}
	return NULL;
}

static void spawn_elsewhere(struct family *f)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, spawn_outside, f))
		exit(1);
	pthread_join(thread, NULL);
}

static int give_limited(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;

	f->seen = 0;
	must(lkdf_group_create(c, &f->g, NULL));
	spawn_elsewhere(f);
	f->seen += lkdf_group_wait(f->g) == 0;
	f->seen += atomic_exchange(&f->nr, 0) == 6;
	lkdf_group_put(f->g);
	return 0;
}

/* The children are in the scope of the body, whoever starts them. */
static int give_cancelled(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *own;

	f->seen = 0;
	must(lkdf_group_create(c, &own, NULL));
	must(lkdf_group_create(c, &f->g, NULL));
	must(lkdf_scope_cancel(f->rt, f->scope, -EINTR));
	spawn_elsewhere(f);
	f->seen += lkdf_group_wait(f->g) == -EINTR;
	f->seen += atomic_exchange(&f->nr, 0) == 0;
	/* It is not an error of its own that nobody has seen. */
	must(lkdf_group_spawn(own, f->adds, f));
	lkdf_group_put(f->g);
	lkdf_group_put(own);
	return 0;
}

static int put_failed(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_group *g;

	must(lkdf_group_create(c, &g, NULL));
	must(lkdf_group_spawn(g, f->fails, f));
	lkdf_group_put(g);
	return 0;
}

/* ------------------------------------------------------------------------- */

static int call(struct family *f, lkdf_fn fn)
{
	struct lkdf_kind *k = api_kind(f->rt, "parent", fn, 0, 0);
	struct lkdf_event done;

	f->seen = 0;
	must(lkdf_submit(f->rt, f->scope, ATTR(lkdf_task, .kind = k, .arg = f),
			 &done));
	lkdf_kind_put(k);
	return lkdf_event_wait(done, -1);
}

static void bodies(struct family *f)
{
	is(call(f, join_has_it), 0, "a join after two groups");
	is(f->seen, 4, "has the error of one of them, once");
	is(call(f, put_in_order_made), 0,
	   "groups that are given back in order");
	is(f->seen, 3, "a join waits for those that are left");
	is(call(f, leave_with_an_error), 0,
	   "an event, another, and a body leaves");
	is(f->seen, 3, "each error goes to one of them");
}

/* Errors that the log has; there are lines of busy CPUs, too. Keeps the last.
 */
static int nr_unseen(char *last, size_t size)
{
	int i, nr = 0;

	pthread_mutex_lock(&said.lock);
	for (i = 0; i < said.nr; i++) {
		if (!strstr(said.text[i], "unobserved"))
			continue;
		snprintf(last, size, "%s", said.text[i]);
		nr++;
	}
	said.nr = 0;
	pthread_mutex_unlock(&said.lock);
	return nr;
}

static void many(struct family *f)
{
	char last[512] = "";

	must(lkdf_event_create(f->rt, 1, 0, &f->gate));
	nr_unseen(last, sizeof(last));
	is(call(f, wait_after_event), 0, "a wait for a group of %d", NR_MANY);
	is(f->seen, 3, "that has an event, whose error it leaves to that");
	is(nr_unseen(last, sizeof(last)), 1,
	   "an event that nobody asks has it in the log");
	has(last, "as wanted", "with the text: %s", last);
	lkdf_event_put(f->gate);
	is(call(f, put_often), 0, "%d groups that are not the last", NR_PUTS);
	ok(f->seen < NR_PUTS / 2, "share the memory of %d", f->seen);
}

/* A thread of the program has the group while the body is away. */
static void away(struct family *f, bool is_serial)
{
	struct lkdf_kind *k = api_kind(f->rt, "parent", leave_for_gate, 0, 0);
	struct lkdf_event done;

	f->seen = 0;
	atomic_store(&f->has_left, 0);
	must(lkdf_event_create(f->rt, 1, 0, &f->gate));
	must(lkdf_submit(f->rt, NULL, ATTR(lkdf_task, .kind = k, .arg = f),
			 &done));
	api_until(&f->has_left);
	must(lkdf_group_spawn(f->g, f->adds, f));
	if (is_serial)
		is(atomic_load(&f->nr), 1, "without threads it runs at once");
	must(lkdf_event_signal(f->gate, 0));
	is(lkdf_event_wait(done, -1), 0, "a group of a body that is away");
	is(f->seen, 1, "is waited for where it goes on");
	is(atomic_exchange(&f->nr, 0), 1, "its task has run");
	lkdf_event_put(f->gate);
	lkdf_kind_put(k);
}

/* The gate opens when the body has left. */
static void leaves(struct family *f)
{
	struct lkdf_kind *k = api_kind(f->rt, "parent", leave_failing, 0, 0);
	struct lkdf_event done;

	atomic_store(&f->has_left, 0);
	must(lkdf_event_create(f->rt, 1, 0, &f->gate));
	must(lkdf_submit(f->rt, NULL, ATTR(lkdf_task, .kind = k, .arg = f),
			 &done));
	while (!atomic_load(&f->has_left) && lkdf_event_wait(done, 1000) == 1)
		;
	must(lkdf_event_signal(f->gate, 0));
	is(lkdf_event_wait(done, -1), 0, "a body leaves before its group ends");
	is(f->seen, 3, "goes on with the error, and with its groups");
	lkdf_event_put(f->gate);
	lkdf_kind_put(k);
}

static void refusals(struct family *f)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_use use = { .mode = LKDF_RW | LKDF_WEAK };
	struct lkdf_kind *k = api_kind(f->rt, "parent", wait_refused, 0, 0);
	struct lkdf_event done;

	must(lkdf_data_create(f->rt, ATTR(lkdf_data_attr, .bytes = 8),
			      &use.data));
	must(lkdf_submit(f->rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = f, .use = &use,
			      .nr_use = 1),
			 &done));
	/* The scope may know it before the event has fired. */
	lkdf_scope_wait(f->rt, NULL, -1);
	while (lkdf_event_error(done, &e) == 1)
		api_nap_ns(50000);
	is(e.err, -EDEADLK, "a wait of a body with WEAK uses is refused");
	has(e.why, "WEAK", "the task's error says why: %s", e.why);
	lkdf_event_put(done);
	lkdf_data_put(use.data);
	lkdf_kind_put(k);
}

static void outside(struct family *f)
{
	char last[512] = "";

	is(call(f, give_limited), 0, "another thread starts what has a limit");
	is(f->seen, 3, "all of it runs");
	must(lkdf_scope_create(f->rt, ATTR(lkdf_scope_attr, .parent = NULL),
			       &f->scope));
	nr_unseen(last, sizeof(last));
	is(call(f, give_cancelled), 0, "another thread, after a cancel");
	is(f->seen, 3, "nothing runs, and the wait says so");
	is(lkdf_scope_wait(f->rt, f->scope, -1), -EINTR, "the scope knows");
	is(nr_unseen(last, sizeof(last)), 0, "the log has no error: %s", last);
	lkdf_scope_put(f->scope);
	f->scope = NULL;
	is(call(f, put_failed), 0, "a group that failed is given back");
	is(nr_unseen(last, sizeof(last)), 1, "the log has its error");
	has(last, "as wanted", "with the text");
}

static void groups_tell(const char *options, bool has_threads)
{
	struct family f = { .rt = open_heard(options) };
	struct lkdf_limit *limit;

	printf("# %s\n", options);
	must(lkdf_limit_create(f.rt, 1, &limit));
	must(lkdf_kind_create(f.rt,
			      ATTR(lkdf_kind_attr, .name = "limited", .fn = add,
				   .limit =
					   &(struct lkdf_limit_use){ limit, 1 },
				   .nr_limit = 1),
			      &f.limited));
	f.adds = api_kind(f.rt, "adds", add, 0, LKDF_SHARED);
	f.fails = api_kind(f.rt, "fails", fail, 0, 0);
	f.fails_late = api_kind(f.rt, "late", fail_late, 0, 0);
	bodies(&f);
	many(&f);
	leaves(&f);
	away(&f, !has_threads);
	refusals(&f);
	if (has_threads)
		outside(&f);
	lkdf_kind_put(f.fails_late);
	lkdf_kind_put(f.fails);
	lkdf_kind_put(f.adds);
	lkdf_kind_put(f.limited);
	lkdf_limit_put(limit);
	is(lkdf_close(f.rt), 0, "%s: closes", options);
}

int main(void)
{
	tap_start(60);
	groups_tell("serial=yes", false);
	groups_tell("workers=1", true);
	groups_tell("workers=2", true);
	groups_tell("workers=4", true);
	return tap_end();
}
