/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "signal/listen.h"

#include "base/helper.h"
#include "base/thread.h"
#include "base/util.h"

#include <sys/eventfd.h>

/* For each time that it has heard something. */
#define NR_TELLS 2

enum {
	NOT_STARTED,
	TAKEN, /* somebody starts it, or it could not be had */
	STARTED
};

CHECK_ONLY static const uint8_t legal[] = {
	[NOT_STARTED] = MOVE_TO(TAKEN),
	[TAKEN] = MOVE_TO(STARTED),
	[STARTED] = MOVE_TO(NOT_STARTED),
};

/* False: it is to stop. */
static bool pause_for(const struct listener *l, int timeout_ms)
{
	struct pollfd fd = { .fd = l->stop.fd, .events = POLLIN };

	return helper_poll(&fd, 1, timeout_ms * 1000000ll) <= 0;
}

/* False: it is to stop, or there is nothing to be heard any more. */
static bool hear_marks(const struct listener *l)
{
	struct pollfd fd[] = {
		{ .fd = l->stop.fd, .events = POLLIN },
		{ .fd = l->fd, .events = POLLIN },
	};

	/* All signals are blocked: it is memory that there was none of. */
	while (helper_poll(fd, 2, -1) < 0)
		if (!pause_for(l, LISTEN_PAUSE_MS))
			return false;
	return !fd[0].revents && fd[1].revents & POLLIN;
}

static void *listen_main(void *arg)
{
	struct listener *l = arg;
	int i = 0;

	pthread_setname_np(pthread_self(), "lkdf/pages");
	helper_begin();
	while ((i || hear_marks(l)) && pause_for(l, LISTEN_PAUSE_MS)) {
		l->tell(l->u);
		i = (i + 1) % NR_TELLS;
	}
	thread_retire();
	return NULL;
}

/* The new thread starts with all signals blocked. */
static bool start_listener(struct listener *l)
{
	int rc;

	l->stop = own_fd_of(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (l->stop.fd < 0)
		return false;
	rc = helper_start(&l->thread, NULL, listen_main, l);
	if (rc)
		own_fd_close(&l->stop);
	return !rc;
}

void listen_start(struct listener *l, int fd, void (*tell)(void *u), void *u)
{
	uint32_t state = NOT_STARTED;

	if (likely(a_load(&l->state, relaxed) != NOT_STARTED) ||
	    !a_cas(&l->state, &state, TAKEN, relaxed, relaxed))
		return;
	l->fd = fd;
	l->tell = tell;
	l->u = u;
	if (!start_listener(l))
		return;
	check_move(legal, a_load(&l->state, relaxed), STARTED);
	/* [listen.on] all of it; pairs with [listen.off]. */
	a_store(&l->state, STARTED, release);
}

void listen_stop(struct listener *l, bool is_child)
{
	/* [listen.off] pairs with [listen.on]. */
	if (a_load(&l->state, acquire) != STARTED)
		return;
	/* A child has the parent's eventfd. */
	if (!is_child)
		helper_stop(l->thread, &l->stop);
	own_fd_close(&l->stop);
	check_move(legal, a_load(&l->state, relaxed), NOT_STARTED);
	a_store(&l->state, NOT_STARTED, relaxed);
}
