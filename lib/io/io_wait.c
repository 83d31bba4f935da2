/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A thread polls for all operations that wait. poll() and not epoll, because
 * several operations may wait for one descriptor, and because descriptors may
 * be closed meanwhile.
 */
#include "io/io.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/helper.h"
#include "base/thread.h"
#include "core/runtime.h"
#include "io/io_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#define NS 1000000000

/* Between two looks, where poll() does not take all or cannot be woken. */
#define PAUSE_NS 1000000

/* Until a cancel is tried again, at first and at last. */
#define AGAIN_NS 500000
#define AGAIN_MAX_NS 16000000
#define NR_AGAIN 100

static struct io_req *req_of(struct list *l)
{
	return container_of(l, struct io_req, list);
}

void io_wait_init(struct io_wait *q)
{
	pthread_mutex_init(&q->lock, NULL);
	pthread_mutex_init(&q->accept_lock, NULL);
	list_init(&q->list);
	q->wake = OWN_FD_NONE;
	a_store(&q->blind_fd, -1, relaxed);
}

/* Under lock: as many as there are and one; *nr is 0 without memory. */
static void make_room(struct io_wait *q, size_t nr)
{
	struct pollfd *fds;

	mutex_assert_held(&q->lock);
	if (nr <= q->nr_fds)
		return;
	fds = realloc(q->fds, 2 * nr * sizeof(*fds));
	if (!fds)
		return;
	q->fds = fds;
	q->nr_fds = 2 * nr;
}

/*
 * Under lock: the list as poll() wants it, without those that wait for a time;
 * those for which there is room.
 */
static size_t fill_fds(struct io_wait *q, int64_t *end_ns)
{
	size_t nr = 1;
	struct io_req *r;
	struct list *l;

	mutex_assert_held(&q->lock);
	for (l = q->list.next; l != &q->list; l = l->next)
		nr++;
	make_room(q, nr);
	nr = 0;
	if (!q->nr_fds)
		return 0;
	q->fds[nr++] = (struct pollfd){ .fd = q->wake.fd, .events = POLLIN };
	for (l = q->list.next; l != &q->list && nr < q->nr_fds; l = l->next) {
		r = req_of(l);
		if (r->end_ns < 0)
			q->fds[nr++] = (struct pollfd){ .fd = r->op.io.fd,
							.events = io_op_events(
								&r->op) };
		else if (*end_ns < 0 || r->end_ns < *end_ns)
			*end_ns = r->end_ns;
	}
	return nr;
}

/* Under lock: what poll() has said of the first nr; others came later. */
static void take_ready(struct io_wait *q, size_t nr, struct list *ready)
{
	int64_t now = clock_now_ns();
	struct list *l = q->list.next, *next;
	struct io_req *r;
	bool is_ready;
	size_t i = 1;

	mutex_assert_held(&q->lock);
	for (; l != &q->list; l = next) {
		next = l->next;
		r = req_of(l);
		if (r->end_ns >= 0)
			is_ready = r->end_ns <= now;
		else
			is_ready = i < nr && q->fds[i++].revents;
		if (!is_ready && !io_cancelled(r))
			continue;
		list_del(l);
		list_append(ready, l);
	}
}

/* poll() takes no more entries than files may be open, and there are more. */
static void poll_parts(struct pollfd *fds, size_t nr, int64_t timeout_ns)
{
	struct timespec ts = { 0, 0 };
	struct rlimit l = { 1, 1 };
	size_t part, i;
	bool has_some = false;

	getrlimit(RLIMIT_NOFILE, &l);
	part = l.rlim_cur && l.rlim_cur < nr ? (size_t)l.rlim_cur : 1;
	for (i = part; i < nr; i += part)
		has_some |= poll(fds + i, nr - i < part ? nr - i : part, 0) > 0;
	if (!has_some)
		ts.tv_nsec = timeout_ns >= 0 && timeout_ns < PAUSE_NS
				     ? timeout_ns
				     : PAUSE_NS;
	ppoll(fds, part, &ts, NULL);
}

static void rest_until(struct io_wait *q, int64_t timeout_ns, int64_t end_ns,
		       size_t nr)
{
	int64_t left = end_ns < 0 ? -1 : end_ns - clock_now_ns();
	struct timespec ts;
	int rc;

	if (end_ns >= 0 && left < 0)
		left = 0;
	if (timeout_ns >= 0 && (left < 0 || left > timeout_ns))
		left = timeout_ns;
	ts.tv_sec = left / NS;
	ts.tv_nsec = left % NS;
	/* A thread of the user's may be cancelled where it likes only. */
	rc = q->has_thread ? helper_poll(q->fds, nr, left)
			   : ppoll(q->fds, nr, left < 0 ? NULL : &ts, NULL);
	if (rc < 0 && errno == EINVAL)
		poll_parts(q->fds, nr, left);
}

void io_wait_poll(struct io_wait *q, int64_t timeout_ns, struct list *ready)
{
	int64_t end_ns = -1;
	uint64_t count;
	ssize_t rc;
	size_t nr;

	pthread_mutex_lock(&q->lock);
	nr = fill_fds(q, &end_ns);
	/* Without memory or a descriptor: a pause, then another look. */
	if ((!nr || q->fds[0].fd < 0) &&
	    (timeout_ns < 0 || timeout_ns > PAUSE_NS))
		timeout_ns = PAUSE_NS;
	pthread_mutex_unlock(&q->lock);
	rest_until(q, timeout_ns, end_ns, nr);
	if (nr && q->fds[0].revents && own_fd_is_anonymous(q->fds[0].fd)) {
		rc = read(q->fds[0].fd, &count, sizeof(count));
		(void)rc;
	}
	pthread_mutex_lock(&q->lock);
	take_ready(q, nr, ready);
	pthread_mutex_unlock(&q->lock);
}

bool io_wait_has_some(struct io_wait *q)
{
	bool has_some;

	pthread_mutex_lock(&q->lock);
	has_some = !list_is_empty(&q->list);
	pthread_mutex_unlock(&q->lock);
	return has_some;
}

/* Takes the wish for another try. */
static bool take_missed(struct io_wait *q, bool *is_stopping)
{
	bool has_missed;

	pthread_mutex_lock(&q->lock);
	*is_stopping = q->is_stopping;
	has_missed = q->has_missed;
	q->has_missed = false;
	pthread_mutex_unlock(&q->lock);
	return has_missed;
}

/* Cancels, as long as there is something to be; not too often. */
struct again {
	bool has_missed;
	int64_t next_ns, pause_ns;
};

static int64_t again_in(const struct again *a)
{
	int64_t left = a->next_ns - clock_now_ns();

	if (!a->has_missed)
		return -1;
	return left < 0 ? 0 : left;
}

static void again_look(struct again *a, struct lkdf *rt)
{
	int64_t now = clock_now_ns();

	if (!a->has_missed || now < a->next_ns)
		return;
	a->has_missed = io_ring_kick(rt);
	if (!a->has_missed)
		a->pause_ns = AGAIN_NS;
	a->next_ns = now + a->pause_ns;
	if (a->pause_ns < AGAIN_MAX_NS)
		a->pause_ns *= 2;
}

static void *poll_main(void *arg)
{
	struct lkdf *rt = arg;
	struct io_wait *q = rt->io_wait;
	struct again again = { .pause_ns = AGAIN_NS };
	struct list ready, *l;
	bool is_stopping;

	pthread_setname_np(pthread_self(), "lkdf/io");
	helper_begin();
	do {
		list_init(&ready);
		io_wait_poll(q, again_in(&again), &ready);
		while (!list_is_empty(&ready)) {
			l = ready.next;
			list_del(l);
			blocking_push(&rt->blocking, &req_of(l)->item);
		}
		again.has_missed |= take_missed(q, &is_stopping);
		again_look(&again, rt);
	} while (!is_stopping);
	thread_retire();
	return NULL;
}

/* Under lock. Without it who polls looks again soon. */
static void make_wake(struct io_wait *q)
{
	mutex_assert_held(&q->lock);
	if (q->wake.fd < 0)
		q->wake = own_fd_of(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

/* Under lock. The new thread starts with all signals blocked. */
static int start_poller(struct lkdf *rt, struct io_wait *q)
{
	int rc;

	mutex_assert_held(&q->lock);
	if (!rt->sched.is_serial) {
		q->has_thread = true;
		/* So that it is rung, and not cancelled, when it is to stop. */
		make_wake(q);
		rc = helper_start(&q->thread, NULL, poll_main, rt);
		if (rc)
			return -EAGAIN;
	}
	q->is_started = true;
	return 0;
}

int io_wait_require(struct lkdf *rt)
{
	struct io_wait *q = rt->io_wait;
	int rc = 0;

	pthread_mutex_lock(&q->lock);
	if (!q->is_started)
		rc = start_poller(rt, q);
	pthread_mutex_unlock(&q->lock);
	return rc ? err(rc, "io: cannot start a thread that polls") : 0;
}

/* Under lock. */
static void wake_poller(struct io_wait *q)
{
	mutex_assert_held(&q->lock);
	if (q->is_started)
		make_wake(q);
	helper_ring(&q->wake);
}

void io_wait_wake(struct io_wait *q)
{
	pthread_mutex_lock(&q->lock);
	wake_poller(q);
	pthread_mutex_unlock(&q->lock);
}

/* Without a thread the caller tries a few times. */
void io_wait_again(struct lkdf *rt)
{
	struct timespec ts = { .tv_nsec = AGAIN_NS };
	struct io_wait *q = rt->io_wait;
	int rc = 0, i;

	pthread_mutex_lock(&q->lock);
	if (!q->is_started && !q->is_stopping)
		rc = start_poller(rt, q);
	q->has_missed = true;
	wake_poller(q);
	pthread_mutex_unlock(&q->lock);
	for (i = 0; rc && i < NR_AGAIN && io_ring_kick(rt); i++)
		nanosleep(&ts, NULL);
}

int io_wait_add(struct lkdf *rt, struct io_req *r)
{
	struct io_wait *q = rt->io_wait;
	int rc = 0;

	r->end_ns = r->op.io.op == LKDF_IO_TIMEOUT && r->end_ns < 0
			    ? clock_end_of(r->op.io.off)
			    : r->end_ns;
	pthread_mutex_lock(&q->lock);
	if (!q->is_started)
		rc = start_poller(rt, q);
	if (!rc)
		list_append(&q->list, &r->list);
	if (!rc)
		wake_poller(q);
	pthread_mutex_unlock(&q->lock);
	return rc;
}

void io_wait_stop(struct io_wait *q, bool has_thread)
{
	bool is_started, has_wake;

	pthread_mutex_lock(&q->lock);
	is_started = q->is_started;
	has_wake = q->wake.fd >= 0;
	q->is_stopping = true;
	pthread_mutex_unlock(&q->lock);
	if (!is_started || !has_thread)
		return;
	if (has_wake)
		helper_stop(q->thread, &q->wake);
	else
		pthread_join(q->thread, NULL);
}

void io_wait_fini(struct io_wait *q)
{
	own_fd_close(&q->wake);
	free(q->fds);
	pthread_mutex_destroy(&q->accept_lock);
	pthread_mutex_destroy(&q->lock);
}
