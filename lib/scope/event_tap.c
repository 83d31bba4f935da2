/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "scope/event_tap.h"

#include "core/runtime.h"
#include "scope/scope.h"

/* Objects are of a cache line or more: the bits below tell nothing. */
static struct event_shard *shard_of(struct lkdf *rt, const void *at)
{
	uintptr_t bits = (uintptr_t)at / CACHE_LINE;

	return &rt->event_shards[(bits ^ bits >> 4) % EVENT_SHARDS];
}

/* Under lock. */
static void link_tap(struct event *ev, struct event_tap *t)
{
	t->next = a_load(&ev->taps, relaxed);
	t->prev = NULL;
	if (t->next)
		t->next->prev = t;
	t->is_in = true;
	/* [tap.c] before we look at the word; pairs with [tap.b]. */
	a_store(&ev->taps, t, seq_cst);
}

/* Under lock. */
static void unlink_tap(struct event *ev, struct event_tap *t)
{
	if (t->next)
		t->next->prev = t->prev;
	if (t->prev)
		t->prev->next = t->next;
	else
		a_store(&ev->taps, t->next, relaxed);
	t->is_in = false;
	list_del(&t->peers);
}

static void add_tap(struct event_tap *t, const struct lkdf_scope *scope,
		    bool is_told)
{
	struct event *ev = event_of(t->event);
	struct event_shard *s = shard_of(ev->rt, ev);
	bool is_over;
	int error;

	t->scope = scope;
	list_init(&t->peers);
	lock_take(&s->lock);
	link_tap(ev, t);
	is_over = event_look(ev, &error);
	if (!is_over && scope) {
		/* Under lock: a cancel came before and we see it, or it finds
		 * us. [then.cancel] what was done before it; pairs with
		 * [scope.cancel]. */
		error = a_load(&scope->cancel_err, acquire);
		is_over = error != 0;
	}
	if (!is_over && is_told)
		list_push(&s->waiting, &t->peers);
	if (is_over)
		unlink_tap(ev, t);
	lock_give(&s->lock);
	if (is_over)
		t->fn(t, error);
}

void event_tap_add_in(struct event_tap *t, const struct lkdf_scope *scope)
{
	t->stays = false;
	add_tap(t, scope, scope != NULL);
}

void event_tap_add(struct event_tap *t)
{
	event_tap_add_in(t, NULL);
}

void event_tap_add_told(struct event_tap *t)
{
	t->stays = false;
	add_tap(t, NULL, true);
}

void event_stay_add(struct event_stay *s)
{
	s->tap.stays = true;
	s->nr_due = 0;
	s->error = 0;
	add_tap(&s->tap, NULL, false);
}

bool event_tap_del(struct event_tap *t)
{
	struct event *ev = event_of(t->event);
	struct event_shard *s = shard_of(ev->rt, ev);
	bool was_in;

	lock_take(&s->lock);
	was_in = t->is_in;
	if (was_in)
		unlink_tap(ev, t);
	lock_give(&s->lock);
	return was_in;
}

void event_tap_fire(struct event *ev, int error)
{
	struct event_shard *s = shard_of(ev->rt, ev);
	struct event_tap *t, *first, *next;

	check(event_look(ev, &error) || error >= 0);
	lock_take(&s->lock);
	first = a_load(&ev->taps, relaxed);
	for (t = first; t; t = t->next) {
		t->is_in = false;
		list_del(&t->peers);
	}
	a_store(&ev->taps, NULL, relaxed);
	lock_give(&s->lock);
	for (t = first; t; t = next) {
		next = t->next;
		t->fn(t, error);
	}
}

static struct event_stay *stay_of(struct event_tap *t)
{
	return container_of(t, struct event_stay, tap);
}

/* Under lock: one call more is due. True: the caller is to call. */
static bool is_due(struct event_stay *s, int error)
{
	s->error = error;
	return !s->nr_due++;
}

/* Until none is due. With the last call of an event that has ended it is gone.
 */
static void call_due(struct event_shard *shard, struct event_stay *s)
{
	uint32_t nr_due;
	int error;

	do {
		lock_take(&shard->lock);
		error = s->nr_due == 1 ? s->error : 0;
		lock_give(&shard->lock);
		s->tap.fn(&s->tap, error);
		if (error)
			return;
		lock_take(&shard->lock);
		nr_due = --s->nr_due;
		lock_give(&shard->lock);
	} while (nr_due);
}

void event_tap_pulse(struct event *ev, int error)
{
	struct event_shard *s = shard_of(ev->rt, ev);
	struct event_tap *t, *next, *first = NULL;
	struct event_stay *due = NULL, *stay;

	lock_take(&s->lock);
	for (t = a_load(&ev->taps, relaxed); t; t = next) {
		next = t->next;
		if (error || !t->stays)
			unlink_tap(ev, t);
		if (!t->stays) {
			t->next = first;
			first = t;
		} else if (is_due(stay_of(t), error)) {
			stay_of(t)->next = due;
			due = stay_of(t);
		}
	}
	lock_give(&s->lock);
	for (t = first; t; t = next) {
		next = t->next;
		t->fn(t, error);
	}
	for (; due; due = stay) {
		stay = due->next;
		call_due(s, due);
	}
}

/* Those whose scope is cancelled, linked by next. */
static struct event_tap *take_cancelled(struct event_shard *s)
{
	struct event_tap *t, *first = NULL;
	struct list *l, *next;

	lock_take(&s->lock);
	for (l = s->waiting.next; l != &s->waiting; l = next) {
		next = l->next;
		t = container_of(l, struct event_tap, peers);
		if (!t->scope || !scope_cancelled(t->scope))
			continue;
		unlink_tap(event_of(t->event), t);
		t->next = first;
		first = t;
	}
	lock_give(&s->lock);
	return first;
}

void event_tap_cancel(struct lkdf *rt)
{
	struct event_tap *t, *next;
	int i;

	for (i = 0; i < EVENT_SHARDS; i++) {
		t = take_cancelled(&rt->event_shards[i]);
		for (; t; t = next) {
			next = t->next;
			t->fn(t, scope_cancelled(t->scope));
		}
	}
}

void event_hook_add(struct lkdf *rt, struct event_hook *h)
{
	struct event_shard *s = shard_of(rt, h);

	lock_take(&s->lock);
	list_push(&s->hooks, &h->list);
	lock_give(&s->lock);
}

void event_hook_del(struct lkdf *rt, struct event_hook *h)
{
	struct event_shard *s = shard_of(rt, h);

	lock_take(&s->lock);
	list_del(&h->list);
	lock_give(&s->lock);
}

void event_shards_init(struct event_shard *s)
{
	int i;

	for (i = 0; i < EVENT_SHARDS; i++) {
		list_init(&s[i].hooks);
		list_init(&s[i].waiting);
	}
}

void event_shards_close(struct event_shard *s, bool is_child)
{
	struct event_hook *h;
	struct list *l, *next;
	int i;

	for (i = 0; i < EVENT_SHARDS; i++) {
		for (l = s[i].hooks.next; l != &s[i].hooks; l = next) {
			next = l->next;
			h = container_of(l, struct event_hook, list);
			h->close(h, is_child);
		}
		list_init(&s[i].hooks);
	}
}
