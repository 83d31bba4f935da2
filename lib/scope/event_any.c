/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "scope/event_any.h"

#include "base/err.h"
#include "core/failure.h"
#include "core/runtime.h"
#include "mem/heap.h"
#include "scope/scope.h"

#include <errno.h>
#include <string.h>

static void free_any(struct event_any *any)
{
	struct heap *h = any->rt->heap;
	uint32_t i;

	for (i = 0; i < any->nr; i++)
		failure_put(any->tap[i].failure, &any->rt->log);
	if (any->scope)
		scope_put(any->scope);
	failure_put(any->failure, &any->rt->log);
	heap_free(h, heap_thread_cache(h), any);
}

/* Those below have one that goes down less deep. */
static void put_below(struct event_any *any)
{
	uint32_t i;

	for (i = 0; i < any->nr; i++)
		if (any->tap[i].below)
			event_any_put(any->tap[i].below);
}

void event_any_put(struct event_any *any)
{
	/* [any.put] all uses before the free; pairs with itself. */
	if (a_sub(&any->nr_refs, 1, acq_rel) != 1)
		return;
	event_hook_del(any->rt, &any->hook);
	put_below(any);
	free_any(any);
}

/* The runtime closes; what it waits for goes with it, and those below. */
static void close_any(struct event_hook *h, bool is_child)
{
	if (!is_child)
		free_any(container_of(h, struct event_any, hook));
}

struct event_any *event_any_create(struct lkdf *rt, uint32_t nr)
{
	struct heap *h = rt->heap;
	struct event_any *any;

	any = heap_new(h, heap_thread_cache(h),
		       sizeof(*any) + nr * sizeof(any->tap[0]));
	if (!any) {
		err(-ENOMEM, "event: no memory for one of %u", nr);
		return NULL;
	}
	any->hook.close = close_any;
	a_store(&any->nr_refs, nr + 2, relaxed);
	a_store(&any->first, EVENT_NONE, relaxed);
	a_store(&any->nr_left, nr, relaxed);
	a_store(&any->error, 0, relaxed);
	any->failure = NULL;
	memset(any->tap, 0, nr * sizeof(any->tap[0]));
	any->rt = rt;
	any->nr = nr;
	any->depth = 1;
	any->is_users = any->is_all = false;
	any->may_leave = true;
	any->leave = NULL;
	any->scope = NULL;
	list_init(&any->polled);
	return any;
}

void event_any_destroy(struct event_any *any)
{
	free_any(any);
}

/* Takes all taps off but those that are called anyway. */
static void take_off(struct event_any *any)
{
	struct lkdf_event e;
	uint32_t i;

	for (i = 0; i < any->nr; i++) {
		e = any->tap[i].tap.event;
		if (!event_tap_del(&any->tap[i].tap))
			continue;
		event_put(e);
		event_any_put(any);
	}
}

/* Its event ends with this one, or with this one among others. */
static void keep_story(struct event_any_tap *tap, const struct event *ev)
{
	tap->failure = failure_get(event_failure(ev));
	tap->below = ev->any;
	if (tap->below)
		a_add(&tap->below->nr_refs, 1, relaxed);
}

static void any_fired(struct event_tap *t, int error)
{
	struct event_any_tap *tap = container_of(t, struct event_any_tap, tap);
	struct event_any *any = tap->any;
	struct lkdf_event e = t->event;
	uint32_t none = EVENT_NONE, i = (uint32_t)(tap - any->tap);

	if (unlikely(any->rt->check != NULL) &&
	    a_load(&any->first, relaxed) == EVENT_NONE)
		event_passes(e, any->event);
	/* [any.first] what was done before it; pairs with [any.which]. */
	if (a_cas(&any->first, &none, i, release, relaxed)) {
		if (error)
			keep_story(tap, event_of(e));
		event_finish(any->event, error, event_failure(event_of(e)));
		take_off(any);
	}
	event_put(e);
	event_any_put(any);
}

/* The last of them fires it, unless nobody waits any more. */
static void one_of_all_fired(struct event_tap *t, int error)
{
	struct event_any_tap *tap = container_of(t, struct event_any_tap, tap);
	struct event_any *any = tap->any;
	struct lkdf_event e = t->event;
	uint32_t none = EVENT_NONE;
	int32_t zero = 0;

	if (error)
		keep_story(tap, event_of(e));
	if (error && a_cas(&any->error, &zero, error, relaxed, relaxed))
		any->failure = failure_get(event_failure(event_of(e)));
	if (unlikely(any->rt->check != NULL))
		event_passes(e, any->event);
	/* [all.left] what was done before each, the error and its story; pairs
	 * with itself. */
	if (a_sub(&any->nr_left, 1, acq_rel) == 1 &&
	    a_cas(&any->first, &none, 0, relaxed, relaxed))
		event_finish(any->event, a_load(&any->error, relaxed),
			     any->failure);
	event_put(e);
	event_any_put(any);
}

void event_any_leave(struct event_any *any)
{
	uint32_t none = EVENT_NONE;

	if (!a_cas(&any->first, &none, EVENT_LEFT, relaxed, relaxed))
		return;
	take_off(any);
	if (any->leave)
		any->leave(any);
	event_put(any->event);
}

int event_any_arm(struct event_any *any, struct lkdf_event *out)
{
	struct lkdf *rt = any->rt;
	uint32_t i;
	int rc;

	rc = event_create(rt, runtime_executor(rt), 1, 2, &any->event);
	if (rc)
		return rc;
	event_of(any->event)->any = any;
	*out = any->event;
	for (i = 0; i < any->nr; i++) {
		any->tap[i].any = any;
		any->tap[i].tap.fn = any->is_all ? one_of_all_fired : any_fired;
		any->tap[i].tap.is_in = false;
	}
	event_hook_add(rt, &any->hook);
	for (i = 0; i < any->nr; i++)
		event_tap_add(&any->tap[i].tap);
	/* It may have fired before we were through: whoever has fired it has
	 * looked under the locks that we took. */
	if (a_load(&any->first, relaxed) != EVENT_NONE)
		take_off(any);
	event_any_put(any);
	return 0;
}

/* Is it the program's to fire, so that a cancelled task may leave it? */
static bool may_leave(struct lkdf_event e)
{
	const struct event *ev = event_of(e);

	return ev->any ? ev->any->may_leave : a_load(&ev->is_users, relaxed);
}

/* Takes a reference to each of them; *nr_got: to so many. */
static int get_all(struct event_any *any, const struct lkdf_event *v,
		   uint32_t *nr_got)
{
	const char *what = any->is_all ? "all" : "any";
	const struct event_any *below;
	uint32_t i;

	for (i = 0; i < any->nr; i++, ++*nr_got) {
		if (!v[i].slot)
			return err(-EINVAL, "event: %s: %u is { 0 }", what, i);
		if (event_of(v[i])->rt != any->rt)
			return err(-EINVAL,
				   "event: %s: %u is of another runtime", what,
				   i);
		if (!event_get(v[i]))
			return err(-ESTALE,
				   "event: %s: the last reference of %u is "
				   "gone",
				   what, i);
		any->tap[i].tap.event = v[i];
		any->may_leave &= !any->is_all || may_leave(v[i]);
		below = event_of(v[i])->any;
		if (below && below->depth >= any->depth)
			any->depth = below->depth + 1;
	}
	if (any->depth > EVENT_MAX_DEPTH)
		return err(-E2BIG, "event: %s: more than %d, one in the other",
			   what, EVENT_MAX_DEPTH);
	return 0;
}

/* Arms it with the user's events, or destroys it. */
static int arm_users(struct event_any *any, const struct lkdf_event *v,
		     struct lkdf_event *out)
{
	uint32_t nr_got = 0;
	int rc = get_all(any, v, &nr_got);

	if (!rc)
		rc = event_any_arm(any, out);
	if (!rc)
		return 0;
	while (nr_got)
		event_put(any->tap[--nr_got].tap.event);
	event_any_destroy(any);
	return rc;
}

int event_any(struct lkdf *rt, const struct lkdf_event *v, unsigned nr,
	      struct lkdf_event *out)
{
	struct event_any *any = event_any_create(rt, nr);

	if (!any)
		return -ENOMEM;
	any->is_users = true;
	return arm_users(any, v, out);
}

int event_all(struct lkdf *rt, const struct lkdf_event *v, unsigned nr,
	      struct lkdf_event *out)
{
	struct event_any *any = event_any_create(rt, nr);

	if (!any)
		return -ENOMEM;
	any->is_all = true;
	return arm_users(any, v, out);
}

static void walk_stories(const struct event_any *any, uint32_t *nr_left,
			 void (*fn)(void *u, struct failure *f), void *u)
{
	const struct event_any_tap *tap;
	uint32_t i;

	for (i = 0; i < any->nr && *nr_left; i++) {
		tap = &any->tap[i];
		--*nr_left;
		if (tap->below)
			walk_stories(tap->below, nr_left, fn, u);
		else if (tap->failure)
			fn(u, tap->failure);
	}
}

void event_any_stories(const struct event_any *any,
		       void (*fn)(void *u, struct failure *f), void *u)
{
	uint32_t nr_left = EVENT_MOST_STORIES;

	walk_stories(any, &nr_left, fn, u);
}

int event_any_which(const struct event_any *any, unsigned *which)
{
	/* [any.which] pairs with [any.first]. */
	uint32_t first = a_load(&any->first, acquire);

	if (first == EVENT_NONE || first == EVENT_LEFT)
		return 1;
	*which = first;
	return 0;
}
