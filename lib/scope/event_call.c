/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "scope/event_call.h"

#include "base/err.h"
#include "core/runtime.h"
#include "mem/heap.h"
#include "sched/current.h"
#include "scope/event_pulse.h"
#include "scope/event_tap.h"

#include <errno.h>

struct call {
	struct event_hook hook;
	struct event_stay stay;
	struct lkdf *rt;
	void (*fn)(void *u, int error);
	void *u;
};

static void free_call(struct call *c)
{
	struct heap *h = c->rt->heap;

	heap_free(h, heap_thread_cache(h), c);
}

/* The function is no body. */
static void call_function(struct lkdf *rt, struct lkdf_event e,
			  void (*fn)(void *u, int error), void *u, int error)
{
	struct executor *ex = runtime_executor(rt);
	struct lkdf_ctx *outer = current_none(ex);

	if (unlikely(rt->check != NULL))
		event_heard(e);
	fn(u, error);
	current_again(ex, outer);
}

static void call_fired(struct event_tap *t, int error)
{
	struct call *c = container_of(t, struct call, stay.tap);
	void (*fn)(void *u, int error) = c->fn;
	struct lkdf_event e = t->event;
	struct lkdf *rt = c->rt;
	void *u = c->u;

	/* The next signal calls again. */
	if (t->stays && !error) {
		call_function(rt, e, fn, u, 0);
		return;
	}
	event_hook_del(rt, &c->hook);
	free_call(c);
	call_function(rt, e, fn, u, error);
	event_put(e);
}

static void close_call(struct event_hook *h, bool is_child)
{
	if (!is_child)
		free_call(container_of(h, struct call, hook));
}

int event_call(struct lkdf_event e, void (*fn)(void *u, int error), void *u)
{
	struct lkdf *rt = event_of(e)->rt;
	struct heap *h = rt->heap;
	struct call *c;

	c = heap_new(h, heap_thread_cache(h), sizeof(*c));
	if (!c)
		return err(-ENOMEM, "event: no memory for a call");
	if (!event_get(e)) {
		heap_free(h, heap_thread_cache(h), c);
		return err(-ESTALE, "event: its last reference is gone");
	}
	c->hook.close = close_call;
	c->stay.tap.event = e;
	c->stay.tap.fn = call_fired;
	c->rt = rt;
	c->fn = fn;
	c->u = u;
	event_hook_add(rt, &c->hook);
	if (event_is_pulse(e))
		event_stay_add(&c->stay);
	else
		event_tap_add(&c->stay.tap);
	return 0;
}
