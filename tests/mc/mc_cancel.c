/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Errors and cancels of a scope: each is told once, to one of those that wait
 * or to who waits next, with its own text; a cancel from above finds all that
 * is below.
 */
#include "scope/scope.h"

#include "mc.h"
#include "members.h"

/* The scope below ends while a cancel walks over it. */
static void cancelled_from_above(int id)
{
	if (id) {
		scope_leave(below, 1);
		return;
	}
	scope_cancel(scope, -EINTR);
	mc_assert(scope_cancelled(scope) == -EINTR);
	scope_put(scope);
}

/* Is it cancelled at its birth, or found? */
static void made_while_cancelled(int id)
{
	if (!id) {
		scope_cancel(scope, -EINTR);
		return;
	}
	told[id] = scope_create_own(scope, &below);
	mc_assert(told[id] == 0);
	mc_see(scope_cancelled(below) ? "cancelled at once" : "later");
}

static void end_own(void)
{
	mc_assert(scope_cancelled(below) == -EINTR);
	scope_put(below);
	mc_assert(scope_wait(scope, 0) == -EINTR);
	end();
}

/* As the above, for one of the user's, which is refused. */
static void created_while_cancelled(int id)
{
	const struct lkdf_scope_attr a = { .size = sizeof(a) };

	if (!id) {
		scope_cancel(scope, -EINTR);
		return;
	}
	told[id] = scope_create(&rt, scope, &a, &below);
	mc_assert(!told[id] || told[id] == -ECANCELED);
	mc_see(told[id] ? "refused" : "created");
}

static void end_created(void)
{
	if (!told[1])
		end_own();
	else
		mc_assert(scope_wait(scope, 0) == -EINTR);
}

static int nr_told(int error)
{
	int i, n = 0;

	for (i = 0; i < MC_THREADS; i++)
		n += told[i] == error;
	return n;
}

/* The cancel is told to one of those that wait, or to who waits next. */
static void cancelled_at_the_end(int id)
{
	if (id == 2)
		scope_leave(scope, 1);
	else if (id == 3)
		scope_cancel(scope, -EINTR);
	else
		await(id);
}

static void end_told_once(void)
{
	told[2] = scope_wait(scope, 0);
	mc_see(told[2] ? "told later" : "told");
	mc_assert(nr_told(-EINTR) == 1);
	mc_assert(nr_told(0) == MC_THREADS - 1);
	end();
}

/* Two at the same time: the later one counts, unless the wait lies between. */
static void cancelled_twice(int id)
{
	if (id)
		scope_cancel(scope, id == 1 ? -EINTR : -EPIPE);
	else
		await(id);
}

static void end_cancelled_twice(void)
{
	told[2] = scope_wait(scope, 0);
	mc_assert(nr_told(-EINTR) <= 1 && nr_told(-EPIPE) <= 1);
	mc_assert(nr_told(-EINTR) + nr_told(-EPIPE) >= 1);
	mc_see(nr_told(0) == MC_THREADS - 1 ? "one told" : "both told");
	end();
}

/* As failure_create(). */
static void failure_make(struct failure *f, int32_t id, int error)
{
	a_store(&f->nr_refs, 1, relaxed);
	a_store(&f->is_observed, 0, relaxed);
	a_store(&f->nr_more, 0, relaxed);
	f->later = NULL;
	f->is_aside = false;
	plain_store(&f->error.err, error);
	f->error.id = id;
	a_add(&nr_failures, 1, relaxed);
}

/* What fails in it, as complete.c tells it. */
static void fail(int i, int error)
{
	struct failure *f = failures[i];

	failure_make(f, i, error);
	scope_fail(scope, error, f);
	failure_put(f, &rt.log);
}

/* What the scope tells is one error with its own text, or nothing. */
static int tell(void)
{
	struct lkdf_error e = { .size = sizeof(e) };

	mc_assert(scope_error(scope, &e) == 0);
	mc_assert(e.id == (e.err == -EIO ? 0 : e.err == -EPERM ? 1 : -1));
	mc_see(e.err ? "text" : "nothing");
	return e.err;
}

/* Two fail; the first error is told to one of those that wait. */
static void two_fail(int id)
{
	if (id < 2) {
		await(id);
		return;
	}
	fail(id - 2, id == 2 ? -EIO : -EPERM);
	leave(id - 2);
}

static void end_two_fail(void)
{
	int nr = nr_told(-EIO), other = nr_told(-EPERM);

	mc_assert(nr + other == 1);
	mc_assert(nr_told(0) == MC_THREADS - 1);
	mc_assert(tell() == (nr ? -EIO : -EPERM));
	end();
}

static int seen; /* what thread 0 was told behind its wait */

/* Nothing lives when the wait begins; then one comes, and fails, and again. */
static void fails_beside_a_wait(int id)
{
	if (!id) {
		await(id);
		seen = tell();
		return;
	}
	enter(scope, 1);
	fail(0, -EIO);
	scope_leave(scope, 1);
	enter(scope, 1);
	fail(1, -EPERM);
	scope_leave(scope, 1);
}

static void end_of_failing(void)
{
	bool has_seen_first = seen == -EIO && !told[0];

	told[2] = scope_wait(scope, 0);
	mc_assert(tell() == (told[2] ? told[2] : seen));
	/* No wait returns what lkdf_scope_error() has told before. */
	mc_assert(nr_told(-EIO) == !has_seen_first);
	mc_see(nr_told(-EPERM) ? "both told" : "first told");
	end();
}

/* The first, which nobody has looked at, stands for the later. */
static void fails_later(int id)
{
	if (!id) {
		fail(0, -EIO);
		return;
	}
	while (!a_load(&scope->first_err, relaxed) ||
	       !a_load(&root.first_err, relaxed))
		a_pause();
	fail(1, -EPERM);
}

static void end_of_later(void)
{
	mc_assert(a_load(&failures[0]->nr_more, relaxed) == 1);
	mc_assert(scope_wait(scope, 0) == -EIO);
	end();
}

/* A cancel stays where the time is over, too. */
static void deadline_and_cancel(int id)
{
	if (!id) {
		scope_cancel(scope, -EINTR);
	} else {
		fire_timer(NULL);
		mc_see(scope_cancelled(scope) == -ETIME ? "late" : "cancelled");
	}
}

static void end_of_both(void)
{
	scope_leave(scope, 1);
	mc_assert(scope_wait(scope, 0) == -EINTR);
	end();
}

/* A submission waits for room; the cancel ends that, the member does not. */
static void cancelled_for_room(int id)
{
	if (id)
		mc_assert(scope_enter(scope, 1, true) == -ECANCELED);
	else
		scope_cancel(scope, -EINTR);
}

static void end_of_room(void)
{
	scope_leave(scope, 1);
	mc_assert(scope_wait(scope, 0) == -EINTR);
	end();
}

static const struct mc_scenario table[] = {
	ROW("one below ends while cancelled", 2, 3, init_put_below,
	    cancelled_from_above, is_gone, NULL),
	ROW("an own scope is made while cancelled", 2, 3, init_empty,
	    made_while_cancelled, end_own, "cancelled at once", "later"),
	ROW("a scope is created while cancelled", 2, 3, init_empty,
	    created_while_cancelled, end_created, "refused", "created"),
	ROW("cancelled while the last leaves", 4, 2, init_one,
	    cancelled_at_the_end, end_told_once, "told later", "told"),
	ROW("cancelled twice", 3, 3, init_empty, cancelled_twice,
	    end_cancelled_twice, "one told", "both told"),
	ROW("two fail, two wait", 4, 1, init_two, two_fail, end_two_fail,
	    "text"),
	ROW("one fails beside a wait", 2, 3, init_empty, fails_beside_a_wait,
	    end_of_failing, "text", "both told", "first told"),
	ROW("one fails later", 2, 3, init_empty, fails_later, end_of_later,
	    NULL),
	ROW("a deadline and a cancel", 2, 3, init_deadline, deadline_and_cancel,
	    end_of_both, "late", "cancelled"),
	ROW("a cancel ends the wait for room", 2, 3, init_room,
	    cancelled_for_room, end_of_room, NULL),
};

MC_MAIN(table)
