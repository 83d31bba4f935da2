/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An error that a call has returned is not returned again by a scope above, nor
 * told at the end; one that nobody has seen is, though another came first.
 */
#include "tests/api/rt/stderr.h"

static int fail(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return -*(int *)arg;
}

static struct lkdf *rt;
static struct lkdf_kind *kind;

static void begin(const char *options)
{
	stderr_keep();
	rt = api_open(options);
	kind = api_kind(rt, "fails", fail, sizeof(int), 0);
}

/* How many lines the runtime has written. */
static int end(void)
{
	lkdf_kind_put(kind);
	while (lkdf_close(rt) == -EBUSY)
		usleep(100);
	return nr_lines(stderr_text());
}

/* It fails with that; *done may be NULL. */
static void start(struct lkdf_scope *s, int error, struct lkdf_event *done)
{
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = kind, .arg = &error),
			 done));
}

static void start_and_see(struct lkdf_scope *s, int error)
{
	struct lkdf_event done;

	start(s, error, &done);
	must(-(lkdf_event_wait(done, -1) != -error));
}

static struct lkdf_scope *scope_of(const char *name)
{
	struct lkdf_scope *s = NULL;

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = name), &s));
	return s;
}

static void a_scope_below_has_told_it(const char *options)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *s;

	begin(options);
	s = scope_of("below");
	start(s, EIO, NULL);
	is(lkdf_scope_wait(rt, s, -1), -EIO, "%s: a scope tells its error",
	   options);
	is(lkdf_scope_wait(rt, s, -1), 0, "once");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the root does not tell it again");
	must(lkdf_scope_error(rt, NULL, &e));
	is(e.err, -EIO, "who asks has it");
	lkdf_scope_put(s);
	is(end(), 0, "nor does close");
}

static void an_event_has_told_it(const char *options)
{
	struct lkdf_scope *s;

	begin(options);
	s = scope_of("below");
	start_and_see(s, EIO);
	is(lkdf_scope_wait(rt, s, -1), 0, "%s: an event has told it", options);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "so has the root nothing");
	lkdf_scope_put(s);
	is(end(), 0, "nor has close");
}

static void one_behind_it_is_told(const char *options)
{
	begin(options);
	start_and_see(NULL, EIO);
	start(NULL, EDOM, NULL);
	is(lkdf_scope_wait(rt, NULL, -1), -EDOM,
	   "%s: an error behind one that was seen is told", options);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "once");
	is(end(), 0, "and not by close");
}

/* The first one is seen when the second has come; one worker, so in order. */
static void the_first_is_seen_last(const char *options)
{
	struct lkdf_event first, last;

	begin(options);
	start(NULL, EIO, &first);
	start(NULL, EDOM, NULL);
	start(NULL, ERANGE, &last);
	is(lkdf_event_wait(last, -1), -ERANGE, "%s: the last is seen", options);
	is(lkdf_event_wait(first, -1), -EIO, "then the first");
	is(lkdf_scope_wait(rt, NULL, -1), -EDOM, "the scope has the other one");
	is(end(), 0, "close has none");
}

static void another_scope_has_one(const char *options)
{
	struct lkdf_scope *a, *b;

	begin(options);
	a = scope_of("a");
	b = scope_of("b");
	start(a, EIO, NULL);
	start(b, EDOM, NULL);
	is(lkdf_scope_wait(rt, a, -1), -EIO, "%s: one scope tells its own",
	   options);
	is(lkdf_scope_wait(rt, NULL, -1), -EDOM, "the root that of the other");
	is(lkdf_scope_wait(rt, b, -1), 0, "which has none then");
	lkdf_scope_put(a);
	lkdf_scope_put(b);
	is(end(), 0, "nor has close");
}

/* Without anybody who looks there is one line for all of a scope. */
static void nobody_has_looked(const char *options)
{
	struct lkdf_scope *a, *b;

	begin(options);
	a = scope_of("a");
	b = scope_of("b");
	start(a, EIO, NULL);
	start(a, EIO, NULL);
	start(b, EDOM, NULL);
	lkdf_scope_put(a);
	lkdf_scope_put(b);
	is(end(), 2, "%s: each scope has a line", options);
}

/* The error of such an event has no story, and is the task's all the same. */
static void an_event_of_the_user_fails(const char *options)
{
	struct lkdf_event go, first;
	int none = 0;

	begin(options);
	must(lkdf_event_create(rt, 1, 0, &go));
	start(NULL, EIO, &first);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = kind, .arg = &none,
			      .after = &go, .nr_after = 1),
			 NULL));
	must(lkdf_event_signal(go, -EDOM));
	lkdf_event_put(go);
	must(-(lkdf_event_wait(first, -1) != -EIO));
	is(lkdf_scope_wait(rt, NULL, -1), -EDOM,
	   "%s: the task that an event has skipped is told", options);
	is(end(), 0, "%s: and then nothing is left", options);
}

int main(void)
{
	static const char *const options[] = { "workers=1", "serial=yes" };
	size_t i;

	tap_start(60);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		a_scope_below_has_told_it(options[i]);
		an_event_has_told_it(options[i]);
		one_behind_it_is_told(options[i]);
		the_first_is_seen_last(options[i]);
		another_scope_has_one(options[i]);
		nobody_has_looked(options[i]);
		an_event_of_the_user_fails(options[i]);
	}
	return tap_end();
}
