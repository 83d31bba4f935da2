/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "io/event_poll.h"

#include "base/err.h"
#include "core/completion.h"
#include "core/runtime.h"
#include "io/io.h"
#include "scope/event_any.h"
#include "task/kind.h"
#include "task/task.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#define NS 1000000000

/* Polled at a time. */
#define NR_FDS 64

/* How long at most before a waiting thread looks for other news. */
#define SLICE_NS 1000000

/* ---- as a task ---------------------------------------------------------- */

/* The kind of our tasks, made by whoever needs it first. */
static struct lkdf_kind *find_kind(struct lkdf *rt)
{
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "lkdf.poll",
		.arg_size = sizeof(struct lkdf_io),
	};
	/* [poll.find] pairs with [poll.kind]. */
	struct lkdf_kind *k = a_load(&rt->poll_kind, acquire), *mine;

	if (k || kind_create_sort(rt, &io_kinds, &a, &mine))
		return k;
	/* [poll.kind] all of it; pairs with [poll.find]. */
	if (a_cas(&rt->poll_kind, &k, mine, acq_rel, acquire))
		return mine;
	kind_put(mine);
	return k;
}

/* Its end is the event that any waits for. */
static int start_task(struct event_any *any)
{
	struct lkdf_io io = {
		.size = sizeof(io),
		.op = LKDF_IO_POLL,
		.fd = any->fd,
		.how = (uint16_t)any->poll_events,
	};
	struct lkdf *rt = any->rt;
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = find_kind(rt),
		.arg = &io,
	};
	const struct lkdf_scope_attr a = {
		.size = sizeof(a),
		.name = "descriptor",
	};
	int rc;

	if (!t.kind)
		return -EAGAIN;
	rc = scope_create(rt, rt->fds, &a, &any->scope);
	return rc ? rc
		  : task_submit(rt, any->scope, &t, &any->tap[0].tap.event);
}

/* ---- serial mode -------------------------------------------------------- */

/* Polls without a task. */
static int enlist_poll(struct event_any *any)
{
	struct lkdf_event *done = &any->tap[0].tap.event;
	struct lkdf *rt = any->rt;
	int rc = event_create(rt, runtime_executor(rt), 1, 2, done);

	if (rc)
		return rc;
	lock_take(&rt->poll_lock);
	list_append(&rt->polled, &any->polled);
	a_add(&rt->nr_polled, 1, relaxed);
	lock_give(&rt->poll_lock);
	return 0;
}

/* Under lock. False: it was not in it. */
static bool unlist_poll(struct event_any *any)
{
	lock_assert_held(&any->rt->poll_lock);
	if (list_is_empty(&any->polled))
		return false;
	list_del(&any->polled);
	a_sub(&any->rt->nr_polled, 1, relaxed);
	return true;
}

struct polling {
	struct pollfd fd[NR_FDS];
	struct lkdf_event done[NR_FDS];
	nfds_t nr;
};

/* The first of the list, which are the last then. */
static void fill_poll(struct lkdf *rt, struct polling *p)
{
	struct event_any *any;
	struct list *l;
	nfds_t i;

	lock_take(&rt->poll_lock);
	p->nr = a_load(&rt->nr_polled, relaxed);
	if (p->nr > NR_FDS)
		p->nr = NR_FDS;
	for (i = 0; i < p->nr; i++) {
		l = rt->polled.next;
		any = container_of(l, struct event_any, polled);
		p->fd[i] = (struct pollfd){ any->fd, any->poll_events, 0 };
		p->done[i] = any->tap[0].tap.event;
		list_del(l);
		list_append(&rt->polled, l);
	}
	lock_give(&rt->poll_lock);
}

/* Is it one that is ready? */
static bool take_ready(struct polling *p, const struct event_any *any,
		       struct polling *ready)
{
	struct lkdf_event e = any->tap[0].tap.event;
	nfds_t i;

	for (i = 0; i < p->nr; i++) {
		if (!p->fd[i].revents || p->done[i].slot != e.slot ||
		    p->done[i].gen != e.gen)
			continue;
		ready->fd[ready->nr] = p->fd[i];
		ready->done[ready->nr++] = e;
		return true;
	}
	return false;
}

/* Those that are still wanted leave the list; whoever takes one fires it. */
static void take_out(struct lkdf *rt, struct polling *p, struct polling *ready)
{
	struct event_any *any;
	struct list *l, *next;

	ready->nr = 0;
	lock_take(&rt->poll_lock);
	for (l = rt->polled.next; l != &rt->polled; l = next) {
		next = l->next;
		any = container_of(l, struct event_any, polled);
		if (take_ready(p, any, ready))
			unlist_poll(any);
	}
	lock_give(&rt->poll_lock);
}

void event_poll_for(struct lkdf *rt, int64_t timeout_ns)
{
	struct polling p, ready;
	struct timespec ts;
	nfds_t i;

	if (timeout_ns < 0 || timeout_ns > SLICE_NS)
		timeout_ns = SLICE_NS;
	ts = (struct timespec){ .tv_nsec = timeout_ns };
	fill_poll(rt, &p);
	if (ppoll(p.fd, p.nr, &ts, NULL) <= 0)
		return;
	take_out(rt, &p, &ready);
	for (i = 0; i < ready.nr; i++)
		event_finish(ready.done[i],
			     ready.fd[i].revents & POLLNVAL ? -EBADF : 0, NULL);
	sched_drain(&rt->sched);
}

/* ---- both --------------------------------------------------------------- */

/* Nobody waits for it. */
static void leave_poll(struct event_any *any)
{
	struct lkdf *rt = any->rt;
	bool was_listed;

	if (any->scope) {
		scope_cancel(any->scope, -ECANCELED);
		completion_kick(rt);
		return;
	}
	lock_take(&rt->poll_lock);
	was_listed = unlist_poll(any);
	lock_give(&rt->poll_lock);
	/* It would have been dropped when it fired. */
	if (was_listed)
		event_put(any->tap[0].tap.event);
}

int event_poll(struct lkdf *rt, int fd, short events, struct lkdf_event *out)
{
	struct event_any *any;
	int rc;

	if (fcntl(fd, F_GETFD) < 0)
		return err(-EBADF, "event: descriptor %d is not open", fd);
	any = event_any_create(rt, 1);
	if (!any)
		return -ENOMEM;
	any->leave = leave_poll;
	any->fd = fd;
	any->poll_events = events;
	rc = rt->sched.is_serial ? enlist_poll(any) : start_task(any);
	if (rc)
		goto destroy;
	rc = event_any_arm(any, out);
	if (!rc)
		return 0;
	leave_poll(any);
	event_put(any->tap[0].tap.event);
destroy:
	event_any_destroy(any);
	return rc;
}

/* Serial mode: nobody will poll for them any more. */
static void cancel_listed(struct lkdf *rt)
{
	struct event_any *any;

	while (!list_is_empty(&rt->polled)) {
		any = container_of(rt->polled.next, struct event_any, polled);
		lock_take(&rt->poll_lock);
		unlist_poll(any);
		lock_give(&rt->poll_lock);
		event_finish(any->tap[0].tap.event, -ECANCELED, NULL);
	}
}

void event_poll_close(struct lkdf *rt)
{
	cancel_listed(rt);
	if (!rt->sched.is_serial && scope_live(rt->fds)) {
		scope_cancel(rt->fds, -ECANCELED);
		completion_kick(rt);
		scope_wait(rt->fds, -1);
	}
	kind_put(a_load(&rt->poll_kind, relaxed));
	a_store(&rt->poll_kind, NULL, relaxed);
}

void event_poll_abandon(struct lkdf *rt)
{
	struct lkdf_kind *k = a_load(&rt->poll_kind, relaxed);

	if (!k)
		return;
	k->next_dead = rt->dead_kinds;
	rt->dead_kinds = k;
}
