/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "scope/event_tap.h"

#include "core/runtime.h"

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
}

void event_tap_add(struct event_tap *t)
{
	struct event *ev = event_of(t->event);
	struct event_shard *s = shard_of(ev->rt, ev);
	bool has_fired;
	int error;

	lock_take(&s->lock);
	link_tap(ev, t);
	has_fired = event_look(ev, &error);
	if (has_fired)
		unlink_tap(ev, t);
	lock_give(&s->lock);
	if (has_fired)
		t->fn(t, error);
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

	lock_take(&s->lock);
	first = a_load(&ev->taps, relaxed);
	for (t = first; t; t = t->next)
		t->is_in = false;
	a_store(&ev->taps, NULL, relaxed);
	lock_give(&s->lock);
	for (t = first; t; t = next) {
		next = t->next;
		t->fn(t, error);
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

	for (i = 0; i < EVENT_SHARDS; i++)
		list_init(&s[i].hooks);
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
