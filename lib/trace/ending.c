/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/ending.h"

#include "base/clock.h"
#include "base/futex.h"

/* exit(3) waits no longer for the thread: where a handler of a signal calls it,
 * a lock that the thread needs may never open. */
#define LEAVE_NS 5000000000ll

bool ending_is_asked(const struct ending *e)
{
	/* [trace.stopping] all that was written before; pairs with
	 * [trace.stop]. */
	return a_load(&e->is_asked, acquire) != 0;
}

void ending_tell(struct ending *e)
{
	check(a_load(&e->is_asked, relaxed) && !a_load(&e->has_ended, relaxed));
	/* [trace.ended] the file; pairs with [trace.left]. */
	a_store(&e->has_ended, 1, release);
	futex_wake(&e->has_ended, 1);
}

static void ask_thread(struct ending *e)
{
	lock_assert_held(&e->lock);
	if (a_load(&e->is_asked, relaxed))
		return;
	e->stop_ticks = clock_ticks();
	/* [trace.stop] pairs with [trace.stopping]. */
	a_store(&e->is_asked, 1, release);
	a_add(e->bell, 1, release);
	futex_wake(e->bell, 1);
}

static void join_thread(struct ending *e)
{
	lock_assert_held(&e->lock);
	if (!e->is_joined)
		pthread_join(e->thread, NULL);
	check(a_load(&e->has_ended, relaxed));
	e->is_joined = true;
}

void ending_join(struct ending *e)
{
	lock_take(&e->lock);
	ask_thread(e);
	join_thread(e);
	lock_give(&e->lock);
}

bool ending_claim(struct ending *e)
{
	/* It may end the process itself, in a log function. */
	if (pthread_equal(e->thread, pthread_self()))
		return false;
	lock_take(&e->lock);
	if (!e->is_joined && !e->has_left)
		return true;
	lock_give(&e->lock);
	return false;
}

/* False: not in time. */
static bool await_end(struct ending *e)
{
	int64_t end = clock_now_ns() + LEAVE_NS, left = LEAVE_NS;

	do {
		/* [trace.left] the file; pairs with [trace.ended]. */
		if (a_load(&e->has_ended, acquire))
			return true;
		futex_wait(&e->has_ended, 0, left);
		left = end - clock_now_ns();
	} while (left > 0);
	return false;
}

void ending_leave(struct ending *e)
{
	check(!e->is_joined && !e->has_left);
	ask_thread(e);
	if (await_end(e))
		join_thread(e);
	e->has_left = true;
	lock_give(&e->lock);
}
