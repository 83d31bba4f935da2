/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/urgent.h"

#include "base/futex.h"
#include "base/options.h"
#include "core/item.h"
#include "core/runtime.h"
#include "mechanism/client/client.h"
#include "sched/notify.h"
#include "task/task.h"
#include "trace/counters.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

/* While the last threads end their bodies. */
#define STOP_NAP_NS 1000000

/* ---- what there is ------------------------------------------------------ */

static struct link *take_backlogs(struct sched *s)
{
	struct link *link = NULL;
	int i;

	for (i = 0; !link && i < s->nr_nodes; i++)
		link = backlog_take(&s->nodes[i].backlog[CLASS_SPARE], 1);
	return link;
}

static struct link *steal_from(struct worker *w)
{
	enum deque_result rc;
	uint64_t item;

	do
		rc = deque_steal(&w->deque[CLASS_SPARE], &item);
	while (rc == DEQUE_LOST);
	return rc == DEQUE_TAKEN ? link_of_item(item) : NULL;
}

static struct link *take_link(struct sched *s)
{
	struct link *link = take_backlogs(s);
	int i;

	for (i = 0; !link && i < s->nr_workers; i++)
		link = steal_from(&s->workers[i]);
	return link;
}

static bool has_public(struct deque *d)
{
	/* [urgent.d] after the worker looks no more; pairs with
	 * [deque.share]. */
	uint64_t span = a_load(&d->span, seq_cst);

	return span_tail(span) != span_split(span);
}

static bool is_any_left(struct sched *s)
{
	int i;

	for (i = 0; i < s->nr_nodes; i++)
		if (!backlog_is_empty(&s->nodes[i].backlog[CLASS_SPARE]))
			return true;
	for (i = 0; i < s->nr_workers; i++)
		if (has_public(&s->workers[i].deque[CLASS_SPARE]))
			return true;
	return false;
}

/* ---- threads ------------------------------------------------------------ */

static void call_spare(struct urgent *p);

/* The lock is the caller's, which gives it back. */
static bool may_come(const struct urgent *p)
{
	lock_assert_held(&p->lock);
	return !p->is_coming && a_load(&p->nr, relaxed) < (uint32_t)p->max &&
	       !a_load(&p->is_stopping, relaxed);
}

static void leave_spare(struct urgent *p, bool was_coming)
{
	lock_take(&p->lock);
	if (was_coming)
		p->is_coming = false;
	/* [urgent.left] what it did; pairs with [urgent.gone]. */
	a_sub(&p->nr, 1, release);
	lock_give(&p->lock);
}

/* As a body of the blocking pool is run. */
static void run_urgent(struct executor *ex, struct task *t)
{
	if (!(t->link.flags & TASK_GENERAL))
		task_init_limits(t);
	t->link.flags |= TASK_GENERAL;
	counter_add(ex->counters, COUNTER_SPARED, 1);
	task_run(ex, t);
}

static void run_spare(void *executor, struct blocking_item *item)
{
	struct urgent *p = container_of(item, struct urgent, item);
	struct sched *s = &p->rt->sched;
	struct link *link;

	futex_wait(&p->is_stopping, 0, p->rt->options->spin_us * 1000);
	lock_take(&p->lock);
	p->is_coming = false;
	lock_give(&p->lock);
	while ((link = take_link(s))) {
		if (is_any_left(s))
			call_spare(p);
		run_urgent(executor, task_of(link));
	}
	leave_spare(p, false);
	/* Somebody may have found all of us in bodies, and has called none. */
	urgent_look(p->rt);
}

/* Without a thread a task waits for a worker. */
static void call_spare(struct urgent *p)
{
	bool comes;

	lock_take(&p->lock);
	comes = may_come(p);
	if (comes) {
		p->is_coming = true;
		a_add(&p->nr, 1, relaxed);
	}
	lock_give(&p->lock);
	if (!comes)
		return;
	if (blocking_require(&p->pool))
		leave_spare(p, true);
	else
		blocking_push(&p->pool, &p->item);
}

void urgent_look(void *rt)
{
	struct lkdf *r = rt;
	struct sched *s = &r->sched;

	if (!notify_has_spinner(s) && !notify_has_sleeper(s) && is_any_left(s))
		call_spare(r->urgent);
}

/* From no worker, from one of another node, or from one with a full deque. */
static void push_backlog(struct lkdf *rt, struct executor *ex,
			 struct link *link, int node)
{
	struct sched *s = &rt->sched;

	a_store(&link->next, NULL, relaxed);
	backlog_append(&s->nodes[node].backlog[CLASS_SPARE], link, link);
	if (notify_any(s, &s->nodes[node]))
		runtime_has_woken(rt, ex);
}

void urgent_push(struct lkdf *rt, struct executor *ex, struct link *link,
		 int node)
{
	struct worker *w = ex && ex->node == node ? ex->worker : NULL;
	struct sched *s = &rt->sched;

	if (!a_load(&s->has_urgent, relaxed))
		/* [urgent.set] before the first is public; pairs with
		 * [urgent.look]. */
		a_store(&s->has_urgent, 1, seq_cst);
	if (!ex)
		client_comes(s);
	link->class = CLASS_SPARE;
	if (w && worker_push(w, CLASS_SPARE, link_item(link)))
		worker_share_deque(w, CLASS_SPARE);
	else
		push_backlog(rt, ex, link, node);
	if (!notify_has_spinner(s) && !notify_has_sleeper(s))
		call_spare(rt->urgent);
}

/* ---- life --------------------------------------------------------------- */

int urgent_threads(const struct lkdf *rt)
{
	return rt->options->serial ? 0 : rt->nr_workers;
}

/* Their executors are the last ones. */
static void *enter_spare(void *u, int thread)
{
	struct lkdf *rt = u;
	int first = rt->nr_executors - rt->urgent->max - rt->nr_workers;
	char name[16];

	snprintf(name, sizeof(name), "lkdf/u%d", thread % 10000);
	pthread_setname_np(pthread_self(), name);
	return blocking_enter(&rt->blocking, first + thread);
}

int urgent_open(struct lkdf *rt)
{
	struct urgent *p = rt->urgent;
	const struct blocking_attr attr = {
		.start = enter_spare,
		.u = rt,
		.max = urgent_threads(rt),
		.stack_kib = (int)rt->options->stack_kib,
	};

	p->rt = rt;
	if (!attr.max)
		return 0;
	p->max = attr.max;
	p->item.run = run_spare;
	return blocking_init(&p->pool, &attr);
}

void urgent_stop(struct lkdf *rt)
{
	struct urgent *p = rt->urgent;

	if (!p->max)
		return;
	lock_take(&p->lock);
	a_store(&p->is_stopping, 1, relaxed);
	lock_give(&p->lock);
	futex_wake(&p->is_stopping, INT_MAX);
	/* [urgent.gone] what they did; pairs with [urgent.left]. */
	while (a_load(&p->nr, acquire))
		futex_wait(&p->nr, a_load(&p->nr, relaxed), STOP_NAP_NS);
	blocking_stop(&p->pool);
}

void urgent_close(struct lkdf *rt)
{
	blocking_fini(&rt->urgent->pool);
}

void urgent_abandon(struct lkdf *rt)
{
	blocking_abandon(&rt->urgent->pool);
}
