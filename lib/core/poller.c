/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/poller.h"

#include "base/clock.h"
#include "core/runtime.h"
#include "sched/tick.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

struct poller {
	/* Under the lock of pollers. */
	struct list list;
	bool is_gone; /* removed while the runner was in fn */

	/* Set when it is made, constant afterwards. */
	poll_fn fn;
	void *u;
};

static struct pollers *of_timer(struct timer *t)
{
	return container_of(t, struct pollers, timer);
}

/* Under the timers' lock, where no function of the program is called. */
static void fire_poll(struct timer *t)
{
	a_store(&of_timer(t)->is_due, 1, relaxed);
}

void pollers_init(struct pollers *p)
{
	list_init(&p->list);
	p->timer.fire = fire_poll;
}

/* Under lock. */
static void arm_timer(struct lkdf *rt, int64_t nap_ns)
{
	struct pollers *p = &rt->pollers;

	lock_assert_held(&p->lock);
	sched_del_timer(&rt->sched, &p->timer);
	p->nap_ns = nap_ns;
	if (!a_load(&p->nr, relaxed))
		return;
	p->timer.end_ns = timers_now(&rt->sched.timers) + nap_ns;
	sched_add_timer(&rt->sched, &p->timer);
}

int poller_add(struct lkdf *rt, poll_fn fn, void *u)
{
	struct pollers *p = &rt->pollers;
	struct poller *one = malloc(sizeof(*one));

	if (!one)
		return -ENOMEM;
	*one = (struct poller){ .fn = fn, .u = u };
	lock_take(&p->lock);
	list_append(&p->list, &one->list);
	a_add(&p->nr, 1, relaxed);
	arm_timer(rt, POLL_MIN_NS);
	lock_give(&p->lock);
	return 0;
}

/* Under lock. The runner frees the one that it is in. */
static void drop_poller(struct pollers *p, struct poller *one)
{
	lock_assert_held(&p->lock);
	list_del(&one->list);
	a_sub(&p->nr, 1, relaxed);
	if (one == p->current)
		one->is_gone = true;
	else
		free(one);
}

/* Under lock, which is given meanwhile: until the runner has left it. */
static void wait_for_runner(struct pollers *p, const struct poller *one)
{
	while (one && p->current == one &&
	       !pthread_equal(p->runner, pthread_self())) {
		lock_give(&p->lock);
		sched_yield();
		lock_take(&p->lock);
	}
}

static bool is_of(const struct poller *one, poll_fn fn, const void *u)
{
	return !fn || (one->fn == fn && one->u == u);
}

/* fn NULL: all. How many there were. */
static unsigned remove_all(struct lkdf *rt, poll_fn fn, const void *u)
{
	struct pollers *p = &rt->pollers;
	struct poller *one, *current = NULL;
	struct list *l, *next;
	unsigned nr = 0;

	lock_take(&p->lock);
	if (p->current && is_of(p->current, fn, u))
		current = p->current;
	for (l = p->list.next; l != &p->list; l = next) {
		next = l->next;
		one = container_of(l, struct poller, list);
		if (!is_of(one, fn, u))
			continue;
		drop_poller(p, one);
		nr++;
	}
	if (!a_load(&p->nr, relaxed))
		sched_del_timer(&rt->sched, &p->timer);
	wait_for_runner(p, current);
	lock_give(&p->lock);
	return nr;
}

int poller_remove(struct lkdf *rt, poll_fn fn, void *u)
{
	return remove_all(rt, fn, u) ? 0 : -ENOENT;
}

void pollers_close(struct lkdf *rt)
{
	remove_all(rt, NULL, NULL);
}

void pollers_abandon(struct lkdf *rt)
{
	struct pollers *p = &rt->pollers;
	struct list *l;

	/* No thread is left that could be in one. A thread that had the lock at
	 * the fork may have left the list half changed: it stays in memory. */
	while (!lock_is_held(&p->lock) && p->list.next != &p->list) {
		l = p->list.next;
		list_del(l);
		free(container_of(l, struct poller, list));
	}
}

/* Under lock, which is given meanwhile. > 0: it has found something. */
static int call_poller(struct pollers *p, struct poller *one)
{
	int rc;

	/* The last one next time. */
	list_del(&one->list);
	list_append(&p->list, &one->list);
	p->current = one;
	p->runner = pthread_self();
	lock_give(&p->lock);
	rc = one->fn(one->u);
	lock_take(&p->lock);
	p->current = NULL;
	if (one->is_gone)
		free(one);
	else if (rc < 0)
		drop_poller(p, one);
	return rc;
}

/* Under lock. Has one of them found something? */
static bool call_each(struct pollers *p)
{
	bool has_found = false;
	uint32_t i;

	for (i = a_load(&p->nr, relaxed); i && !list_is_empty(&p->list); i--)
		has_found |=
			call_poller(p, container_of(p->list.next, struct poller,
						    list)) > 0;
	return has_found;
}

/* Under lock: for as long as more is expected. */
static void call_again(struct pollers *p, struct worker *w)
{
	int64_t begin = clock_now_ns(), now = begin, found_at = begin;
	bool has_found;

	while (a_load(&p->nr, relaxed) && !worker_has_own(w) &&
	       now - found_at < POLL_AGAIN_NS && now - begin < POLL_STAY_NS) {
		has_found = call_each(p);
		now = clock_now_ns();
		if (has_found)
			found_at = now;
	}
}

/*
 * is_idle: on a worker that looks for work. -1: another thread does so. Else:
 * has one of them found something?
 */
static int call_all(struct lkdf *rt, bool is_idle)
{
	struct executor *ex = runtime_executor(rt);
	struct worker *w = ex ? ex->worker : NULL;
	struct pollers *p = &rt->pollers;
	uint32_t nobody = 0;
	bool has_found;

	/* [poller.run] what the last runner did; pairs with [poller.ran]. */
	if (a_load(&p->is_running, relaxed) ||
	    !a_cas(&p->is_running, &nobody, 1, acquire, relaxed))
		return -1;
	lock_take(&p->lock);
	has_found = call_each(p);
	if (has_found && w) {
		w->idle.has_found = true;
		if (is_idle)
			call_again(p, w);
	}
	if (has_found && p->nap_ns > POLL_MIN_NS)
		arm_timer(rt, POLL_MIN_NS);
	lock_give(&p->lock);
	/* [poller.ran] what the functions did; pairs with [poller.run]. */
	a_store(&p->is_running, 0, release);
	runtime_show(ex);
	return has_found;
}

bool pollers_run(struct lkdf *rt)
{
	return call_all(rt, true) >= 0;
}

/* Under lock. */
static int64_t longer_nap(const struct pollers *p)
{
	return p->nap_ns < POLL_MAX_NS / 2 ? p->nap_ns * 2 : POLL_MAX_NS;
}

unsigned pollers_tick(struct lkdf *rt)
{
	struct pollers *p = &rt->pollers;
	bool has_found;

	/* [poller.due] what the thread saw fire that we take this from; pairs
	 * with itself. */
	if (!a_load(&p->is_due, relaxed) || !a_xchg(&p->is_due, 0, acq_rel))
		return 0;
	has_found = call_all(rt, false) > 0;
	lock_take(&p->lock);
	arm_timer(rt, has_found ? POLL_MIN_NS : longer_nap(p));
	lock_give(&p->lock);
	return 1;
}
