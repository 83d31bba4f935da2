/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/last_given.h"

#include "base/clock.h"
#include "base/futex.h"

#include <errno.h>
#include <unistd.h>

/* The writer comes by every few milliseconds, unless it has ended. */
#define TAKEN_NS 5000000000ll

/* -1: there is none, or the other thread has it. */
static int own_file(struct last_given *g)
{
	/* [trace.given] the file; pairs with [trace.give]. */
	return a_load(&g->fd, relaxed) ? a_xchg(&g->fd, 0, acquire) - 1 : -1;
}

int last_take(struct last_given *g)
{
	return own_file(g);
}

void last_given_done(struct last_given *g)
{
	/* [trace.given_done] the sums; pairs with [trace.given_seen]. */
	a_add(&g->nr_done, 1, release);
	futex_wake(&g->nr_done, 1);
}

int last_give(struct last_given *g, int fd, _Atomic(uint32_t) *bell)
{
	uint32_t before = a_load(&g->nr_done, relaxed);
	int64_t end = clock_now_ns() + TAKEN_NS, left;
	int back;

	check(fd >= 0 && !a_load(&g->fd, relaxed));
	/* [trace.give] the file; pairs with [trace.given]. */
	a_store(&g->fd, fd + 1, release);
	a_add(bell, 1, release);
	futex_wake(bell, 1);
	/* [trace.given_seen] the sums; pairs with [trace.given_done]. */
	while (a_load(&g->nr_done, acquire) == before) {
		left = end - clock_now_ns();
		back = left > 0 ? -1 : own_file(g);
		if (back >= 0) {
			close(back);
			return -ETIMEDOUT;
		}
		/* The writer has the file now, and takes its time. */
		futex_wait(&g->nr_done, before, left > 0 ? left : -1);
	}
	return g->error;
}
