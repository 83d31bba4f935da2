/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/again.h"

#include "base/err.h"
#include "channel/channel_wait.h"
#include "core/runtime.h"
#include "mem/heap.h"
#include "scope/scope.h"
#include "task/parallel_for.h"
#include "task/then.h"
#include "task/traced.h"

#include <errno.h>
#include <string.h>

static void put_channel(struct again_at *at)
{
	if (at->ch)
		channel_put(at->ch);
	at->ch = NULL;
}

/* It has tried, or does not: another one may. */
static void pass_on(struct again *a)
{
	if (a->woken.ch)
		channel_tried(a->woken.ch, &a->waiter);
	put_channel(&a->woken);
}

static bool is_at(const struct again_at *at, const struct lkdf_channel *ch,
		  enum channel_side side)
{
	return at->ch == ch && at->side == side;
}

static struct again *again_of(const struct lkdf_ctx *c)
{
	return c->is_told ? c->task->away.again : NULL;
}

/* The body's task has one from now on. */
static struct again *create_again(struct lkdf_ctx *c)
{
	struct task *t = task_of_ctx(c);
	struct lkdf *rt = c->ex->rt;
	struct again *a;

	if (!t)
		return NULL;
	a = heap_new(rt->heap, heap_thread_cache(rt->heap), sizeof(*a));
	if (!a)
		return NULL;
	memset(a, 0, sizeof(*a));
	t->away.again = a;
	c->is_told = true;
	c->after = AFTER_LOOK;
	return a;
}

static int task_told(struct lkdf_ctx *c, struct lkdf_channel *ch,
		     enum channel_side side)
{
	struct again *a = again_of(c);

	/* A loop's function is not called again. */
	if (loop_is_block(c))
		return err(-EAGAIN, "channel %s is %s", ch->name,
			   side == CHANNEL_ROOM ? "full" : "empty");
	if (!a)
		a = create_again(c);
	if (!a)
		return err(-ENOMEM, "channel %s: no memory to wait by",
			   ch->name);
	channel_get(ch);
	put_channel(&a->told);
	a->told = (struct again_at){ ch, side };
	return err(-EAGAIN, "channel %s is %s", ch->name,
		   side == CHANNEL_ROOM ? "full" : "empty");
}

int again_tried(struct lkdf_ctx *c, struct lkdf_channel *ch,
		enum channel_side side, int rc)
{
	struct again *a = again_of(c);

	if (a && is_at(&a->woken, ch, side))
		pass_on(a);
	return likely(rc != -EAGAIN) ? rc : task_told(c, ch, side);
}

/* ---- called again ------------------------------------------------------- */

/*
 * The task is cancelled: its body is called once more, and waits no more, with
 * LKDF_SEES_CANCEL; else it is not called.
 */
static int call_cancelled(struct lkdf_ctx *c, void *arg)
{
	const struct task *t = c->task;
	int rc = -ECANCELED;

	if (t->kind->flags & LKDF_SEES_CANCEL)
		rc = t->away.again->fn(c, arg);
	return rc == LKDF_AGAIN ? -ECANCELED : rc;
}

static int body_called(struct lkdf_ctx *c, void *arg)
{
	struct task *t = c->task;
	struct again *a = t->away.again;

	/* Still in the list: a cancel was first, and nobody has woken it. */
	if (channel_del(a->woken.ch, &a->waiter)) {
		event_put(a->waiter.event);
		put_channel(&a->woken);
	}
	c->is_told = true;
	c->after = AFTER_LOOK;
	c->input_err = a->input_err;
	if (scope_cancelled(t->scope) && !(t->kind->flags & LKDF_ALWAYS))
		return call_cancelled(c, arg);
	return a->fn(c, arg);
}

bool again_is_first(const struct task *t)
{
	return t->then_fn == body_called && t->away.again->is_first;
}

const struct again_at *again_waits_at(const struct task *t)
{
	return t->then_fn == body_called ? &t->away.again->woken : NULL;
}

/*
 * Notes a body that has returned LKDF_AGAIN; nothing new where it was called
 * again.
 */
static void note_body(struct again *a, const struct task *t,
		      const struct lkdf_ctx *c)
{
	bool goes_on = t->link.flags & TASK_CONTINUES;

	if (goes_on && t->then_fn == body_called)
		return;
	a->fn = goes_on ? t->then_fn : kind_body(t->kind);
	a->is_first = !goes_on;
	a->input_err = c->input_err;
}

static __attribute__((noinline)) void tell_waits(struct task *t,
						 const struct again_at *at)
{
	char text[TRACE_NAME_SIZE];

	channel_wait_text(at->ch, at->side, text);
	traced_waits(t, text);
}

/* 0: it waits, though it may be woken already. */
static int wait_at(struct lkdf_ctx *c, struct again *a)
{
	struct task *t = c->task;
	struct lkdf *rt = c->ex->rt;

	if (event_create(rt, c->ex, 1, 2, &a->waiter.event))
		return -ENOMEM;
	/* A cancel lets it go, see wait_for() of then.c. */
	a_store(&event_of(a->waiter.event)->is_users, true, relaxed);
	a->waiter.who = CHANNEL_TASK;
	a->waiter.task = t->kind->flags & LKDF_ALWAYS ? t : NULL;
	note_body(a, t, c);
	pass_on(a);
	a->woken = a->told;
	a->told.ch = NULL;
	if (a_load(&t->kind->slow, relaxed) & SLOW_TRACED)
		tell_waits(t, &a->woken);
	then_wait(t, body_called, a->waiter.event);
	if (!channel_add(a->woken.ch, a->woken.side, &a->waiter))
		event_finish(a->waiter.event, 0, NULL);
	return 0;
}

/* ---- after a body ------------------------------------------------------- */

static int refuse_call(struct lkdf_ctx *c, const char *why)
{
	c->has_why = true;
	return err(-EINVAL, "the body has returned LKDF_AGAIN %s", why);
}

int again_refuse(struct lkdf_ctx *c)
{
	return refuse_call(c, "and no channel has given it -EAGAIN");
}

static void destroy_again(struct again *a, struct lkdf *rt)
{
	pass_on(a);
	put_channel(&a->told);
	heap_free(rt->heap, heap_thread_cache(rt->heap), a);
}

static int try_to_wait(struct lkdf_ctx *c, struct again *a)
{
	int rc;

	if (!a || !a->told.ch)
		return again_refuse(c);
	if (c->leaves)
		return refuse_call(c, "after lkdf_then()");
	rc = wait_at(c, a);
	c->has_why |= rc < 0;
	return rc;
}

bool again_ended(struct lkdf_ctx *c, int *rc)
{
	struct again *a = again_of(c);

	c->is_told = false;
	if (*rc == LKDF_AGAIN) {
		*rc = try_to_wait(c, a);
		if (!*rc)
			return true;
	}
	if (a)
		destroy_again(a, c->ex->rt);
	return false;
}
