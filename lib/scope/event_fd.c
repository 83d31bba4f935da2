/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A pair of sockets: the user polls one, and we shut the other down. With an
 * eventfd both would hold the same file, so that the user's epoll went on to
 * tell of it after the user has closed it, or a late write would go to another
 * file of that number.
 */
#include "scope/event_call.h"

#include "base/err.h"
#include "base/own_fd.h"
#include "core/runtime.h"
#include "mem/heap.h"
#include "scope/event_tap.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct waker {
	struct event_hook hook;
	struct event_tap tap;
	struct lkdf *rt;
	struct own_fd fd;
};

static void free_waker(struct waker *w)
{
	struct heap *h = w->rt->heap;

	own_fd_close(&w->fd);
	heap_free(h, heap_thread_cache(h), w);
}

static void fd_fired(struct event_tap *t, int error)
{
	struct waker *w = container_of(t, struct waker, tap);
	struct lkdf_event e = t->event;

	(void)error;
	event_hook_del(w->rt, &w->hook);
	/* A forked child may hold it, too. */
	if (own_fd_is(&w->fd))
		shutdown(w->fd.fd, SHUT_RDWR);
	free_waker(w);
	event_put(e);
}

/* In a forked child it is the parent's, too. */
static void close_waker(struct event_hook *h, bool is_child)
{
	struct waker *w = container_of(h, struct waker, hook);

	if (is_child)
		own_fd_close(&w->fd);
	else
		free_waker(w);
}

/* The user's end. */
static int open_pair(struct waker *w)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		       fd))
		return err(-errno, "event: no descriptor: %s", strerror(errno));
	w->fd = own_fd_of(fd[1]);
	return fd[0];
}

int event_fd(struct lkdf_event e)
{
	struct lkdf *rt = event_of(e)->rt;
	struct heap *h = rt->heap;
	struct waker *w;
	int fd;

	w = heap_new(h, heap_thread_cache(h), sizeof(*w));
	if (!w)
		return err(-ENOMEM, "event: no memory for a descriptor");
	w->rt = rt;
	fd = open_pair(w);
	if (fd < 0) {
		heap_free(h, heap_thread_cache(h), w);
		return fd;
	}
	if (!event_get(e)) {
		close(fd);
		free_waker(w);
		return err(-ESTALE, "event: its last reference is gone");
	}
	w->hook.close = close_waker;
	w->tap.event = e;
	w->tap.fn = fd_fired;
	event_hook_add(rt, &w->hook);
	event_tap_add(&w->tap);
	return fd;
}
