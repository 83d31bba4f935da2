/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Deadlines to the nanosecond: time is virtual, as with the option order, and
 * goes on only where this test, or a wait in which nothing is ready, lets it.
 */
#include "scope/deadline.h"

#include "core/runtime.h"
#include "scope/scope.h"
#include "tests/tap.h"

#include <lkdf/lkdf.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })
#define HOUR 3600000000000

static struct lkdf *rt;
static struct timers *ts;
static int nr_stuck;

static void count_stuck(struct lkdf *of)
{
	(void)of;
	nr_stuck++;
}

static void open_with(const char *options)
{
	if (lkdf_open(options, &rt))
		exit(1);
	ts = &rt->sched.timers;
	rt->stuck = count_stuck;
}

static struct lkdf_scope *make_scope(struct lkdf_scope *parent, int64_t ns)
{
	struct lkdf_scope *s;

	if (lkdf_scope_create(rt,
			      ATTR(lkdf_scope_attr, .parent = parent,
				   .deadline_ns = ns),
			      &s))
		exit(1);
	return s;
}

/* ---- who is late -------------------------------------------------------- */

static void it_is_over_at_its_end(void)
{
	struct lkdf_scope *s = make_scope(NULL, 100);

	ok(deadline_is_ahead(s), "a deadline is ahead");
	timers_pass(ts, 99);
	ok(!deadline_is_over(s), "one nanosecond before it is not over");
	is(deadline_look(s), 0, "and nobody is told to end");
	timers_pass(ts, 1);
	ok(deadline_is_over(s), "then it is");
	is(scope_cancelled(s), 0, "which nobody has looked at");
	is(deadline_cancelled(s), -ETIME, "though it counts");
	is(deadline_look(s), -ETIME, "a body that looks is told");
	is(scope_cancelled(s), -ETIME, "and the scope is cancelled at once");
	lkdf_scope_put(s);
}

/* A timer that has no scope any more would be the earliest. */
static void nothing_is_left_of_it(void)
{
	struct lkdf_scope *s = make_scope(NULL, 100);

	ok(!timers_are_empty(ts), "a deadline has a timer");
	lkdf_scope_put(s);
	ok(timers_are_empty(ts), "not when its scope is gone");
	s = make_scope(NULL, 0);
	ok(timers_are_empty(ts), "without a deadline there is none");
	ok(!deadline_is_ahead(s), "and nothing is ahead");
	lkdf_scope_put(s);
	s = make_scope(NULL, INT64_MAX);
	ok(timers_are_empty(ts), "one that never comes is none");
	lkdf_scope_put(s);
}

/* Both wait for the scope at the top; one beside it has time. */
static void one_above_counts(void)
{
	struct lkdf_scope *top = make_scope(NULL, 100);
	struct lkdf_scope *middle = make_scope(top, HOUR);
	struct lkdf_scope *low = make_scope(middle, 0);
	struct lkdf_scope *beside = make_scope(NULL, HOUR);
	struct lkdf_scope *free = make_scope(NULL, 0);

	ok(deadline_is_ahead(low), "a deadline above is ahead of those below");
	ok(!deadline_is_ahead(free), "not of those beside");
	timers_pass(ts, 100);
	ok(!deadline_is_over(free), "what has none is not late");
	ok(!deadline_is_over(beside), "nor what has time");
	ok(deadline_is_over(low), "what lies below the late one is");
	is(deadline_look(beside), 0, "a body beside goes on");
	is(scope_cancelled(top), 0, "and cancels nothing");
	is(deadline_look(low), -ETIME, "one below ends");
	is(scope_cancelled(top), -ETIME, "the late scope is cancelled");
	is(scope_cancelled(low), -ETIME, "with all below");
	is(scope_cancelled(beside), 0, "not the one beside");
	lkdf_scope_put(free);
	lkdf_scope_put(beside);
	lkdf_scope_put(low);
	lkdf_scope_put(middle);
	lkdf_scope_put(top);
}

/* A scope with time left in one that is late: its own deadline is not over. */
static void only_the_late_one_expires(void)
{
	struct lkdf_scope *top = make_scope(NULL, HOUR);
	struct lkdf_scope *low = make_scope(top, 100);

	timers_pass(ts, 100);
	is(deadline_look(low), -ETIME, "the one below is late");
	is(scope_cancelled(top), 0, "the one above has time");
	is(deadline_look(top), 0, "and goes on");
	lkdf_scope_put(low);
	lkdf_scope_put(top);
}

static void a_cancel_stays(void)
{
	struct lkdf_scope *top = make_scope(NULL, 100);
	struct lkdf_scope *low = make_scope(top, 0);

	lkdf_scope_cancel(rt, low, -EINTR);
	is(deadline_look(low), -EINTR, "a cancelled scope");
	timers_pass(ts, 100);
	is(deadline_look(low), -EINTR, "keeps its error");
	is(scope_cancelled(top), 0, "and does not look at those above");
	is(deadline_look(top), -ETIME, "which are late");
	lkdf_scope_put(low);
	lkdf_scope_put(top);
}

static void an_own_scope_expires(void)
{
	struct lkdf_scope *user = make_scope(NULL, 0), *own;

	is(deadline_create(user, 100, &own), 0, "a scope of one task");
	ok(!deadline_hit(own), "has time");
	timers_pass(ts, 100);
	is(deadline_look(own), -ETIME, "is late");
	ok(deadline_hit(own), "by its own deadline");
	is(scope_cancelled(user), 0, "the user's is not");
	ok(deadline_leave(own) == user, "which it leads to");
	ok(timers_are_empty(ts), "and it leaves no timer");
	is(deadline_create(user, 0, &own), 0, "one without a deadline");
	ok(timers_are_empty(ts), "has no timer");
	deadline_leave(own);
	lkdf_scope_put(user);
}

/* ---- a thread that sleeps ----------------------------------------------- */

/* Nothing is ready: how far time went. */
static int64_t slept_ns(int64_t timeout_ns)
{
	_Atomic(uint32_t) word = 0;
	int64_t begin = timers_now(ts);

	deadline_sleep(rt, &word, 0, timeout_ns);
	return timers_now(ts) - begin;
}

static void a_sleep_ends_with_the_first(void)
{
	struct lkdf_scope *s;

	is(slept_ns(70), 70, "without deadlines a sleep takes its time");
	s = make_scope(NULL, 100);
	is(slept_ns(30), 30, "so does one that ends before the deadline");
	is(scope_cancelled(s), 0, "which is not over");
	is(slept_ns(0), 0, "one of no time takes none");
	is(slept_ns(500), 70, "a longer one ends with the deadline");
	is(scope_cancelled(s), -ETIME, "whose timer it fires");
	lkdf_scope_put(s);
	s = make_scope(NULL, 100);
	is(slept_ns(-1), 100, "so does one without end");
	is(scope_cancelled(s), -ETIME, "and fires it");
	lkdf_scope_put(s);
	s = make_scope(NULL, 100);
	timers_pass(ts, 300);
	is(slept_ns(500), 0, "what is late already is fired at once");
	is(scope_cancelled(s), -ETIME, "and cancelled");
	lkdf_scope_put(s);
	is(nr_stuck, 0, "each of them had an end");
}

/* The word is another one by then, so the call of the kernel returns. */
static void a_sleep_without_end_is_stuck(void)
{
	_Atomic(uint32_t) word = 1;

	deadline_sleep(rt, &word, 0, -1);
	is(nr_stuck, 1, "who waits for nothing is told");
	nr_stuck = 0;
}

static int run_late(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return -EPROTO;
}

/* What a timer has made ready runs before the sleep returns. */
static void a_sleep_runs_what_is_ready(void)
{
	struct lkdf_event never, done;
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_kind *k;
	_Atomic(uint32_t) word = 0;
	int i;

	if (lkdf_kind_create(
		    rt, ATTR(lkdf_kind_attr, .name = "none", .fn = run_late),
		    &k) ||
	    lkdf_event_create(rt, 1, 0, &never) ||
	    lkdf_submit(rt, NULL,
			ATTR(lkdf_task, .kind = k, .after = &never,
			     .nr_after = 1, .deadline_ns = 100),
			&done))
		exit(1);
	is(lkdf_event_error(done, &e), 1, "a task waits for an event");
	deadline_sleep(rt, &word, 0, 500);
	for (i = 0; i < 9 && lkdf_event_error(done, &e) == 1; i++)
		deadline_sleep(rt, &word, 0, 500);
	is(lkdf_event_error(done, &e), 0, "a sleep ends it in time");
	is(e.err, -ETIME, "with the error of its deadline");
	lkdf_event_put(done);
	lkdf_event_signal(never, 0);
	lkdf_event_put(never);
	lkdf_kind_put(k);
	lkdf_scope_wait(rt, NULL, -1);
}

/* By the clock of the machine: nobody waits for what is not ready at once. */
static void a_look_is_not_stuck(void)
{
	_Atomic(uint32_t) word = 1;

	deadline_sleep(rt, &word, 0, 0);
	is(nr_stuck, 0, "who only looks is not told");
	deadline_sleep(rt, &word, 0, -1);
	is(nr_stuck, 1, "who waits for nothing is");
}

int main(void)
{
	tap_start(60);
	open_with("order=1");
	it_is_over_at_its_end();
	nothing_is_left_of_it();
	one_above_counts();
	only_the_late_one_expires();
	a_cancel_stays();
	an_own_scope_expires();
	a_sleep_ends_with_the_first();
	a_sleep_without_end_is_stuck();
	a_sleep_runs_what_is_ready();
	is(lkdf_close(rt), 0, "the runtime closes");
	open_with("serial=yes");
	a_look_is_not_stuck();
	is(lkdf_close(rt), 0, "one without virtual time closes");
	return tap_end();
}
