/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/limit.h"

#include "base/err.h"
#include "base/util.h"
#include "check/fiber.h"
#include "core/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void describe_limit(struct lkdf_limit *l, const char *name)
{
	bool has_name = name && name[0];

	snprintf(l->text, sizeof(l->text), "limit %s%.31s%sof %u token%s",
		 has_name ? "\"" : "", has_name ? name : "",
		 has_name ? "\" " : "", l->nr_tokens,
		 l->nr_tokens == 1 ? "" : "s");
}

int limit_create(struct lkdf *rt, const char *name, uint32_t tokens,
		 struct lkdf_limit **out)
{
	struct lkdf_limit *l = calloc(1, sizeof(*l));

	if (!l)
		return err(-ENOMEM, "limit: no memory");
	l->rt = rt;
	l->nr_tokens = l->nr_free = tokens;
	describe_limit(l, name);
	if (trace_is_recording(&rt->trace))
		l->trace_name = trace_name(&rt->trace, l->text);
	l->last = &l->first;
	a_store(&l->nr_refs, 1, relaxed);
	pthread_mutex_init(&l->lock, NULL);
	a_add(&rt->nr_handles, 1, relaxed);
	pthread_mutex_lock(&rt->lock);
	l->next = rt->limits;
	l->prev = &rt->limits;
	if (l->next)
		l->next->prev = &l->next;
	rt->limits = l;
	pthread_mutex_unlock(&rt->lock);
	*out = l;
	return 0;
}

void limit_get(struct lkdf_limit *l)
{
	a_add(&l->nr_refs, 1, relaxed);
}

void limit_put(struct lkdf_limit *l)
{
	struct lkdf *rt;

	/* [limit.put] all uses before the free; pairs with itself. */
	if (!l || a_sub(&l->nr_refs, 1, acq_rel) != 1)
		return;
	check(l->nr_free == l->nr_tokens);
	rt = l->rt;
	pthread_mutex_lock(&rt->lock);
	*l->prev = l->next;
	if (l->next)
		l->next->prev = l->prev;
	pthread_mutex_unlock(&rt->lock);
	a_sub(&rt->nr_handles, 1, relaxed);
	pthread_mutex_destroy(&l->lock);
	check_forget(l->check);
	l->rt = NULL;
	handle_bury(rt, l);
}

/* Under lock. */
static bool has_enough(const struct lkdf_limit *l, uint32_t tokens,
		       bool was_woken)
{
	mutex_assert_held((pthread_mutex_t *)&l->lock);
	return l->nr_free >= tokens && (was_woken || !l->first);
}

bool limit_take(struct lkdf_limit *l, uint32_t tokens, bool was_woken)
{
	bool taken;

	pthread_mutex_lock(&l->lock);
	taken = has_enough(l, tokens, was_woken);
	if (taken)
		l->nr_free -= tokens;
	pthread_mutex_unlock(&l->lock);
	return taken;
}

/* Under lock. */
static void enqueue_waiter(struct lkdf_limit *l, struct limit_waiter *w,
			   bool at_head)
{
	mutex_assert_held(&l->lock);
	w->next = at_head ? l->first : NULL;
	if (!l->first)
		l->last = &w->next;
	if (at_head || !l->first) {
		l->first = w;
		return;
	}
	*l->last = w;
	l->last = &w->next;
}

bool limit_wait(struct lkdf_limit *l, struct limit_waiter *w, uint32_t tokens,
		bool was_woken)
{
	bool must_wait;

	pthread_mutex_lock(&l->lock);
	must_wait = !has_enough(l, tokens, was_woken);
	if (must_wait) {
		w->tokens = tokens;
		enqueue_waiter(l, w, was_woken);
	}
	pthread_mutex_unlock(&l->lock);
	return must_wait;
}

struct limit_waiter *limit_dig(struct lkdf_limit *l,
			       bool (*is_mine)(struct limit_waiter *w,
					       const void *asker),
			       const void *asker)
{
	struct limit_waiter **at, *w;

	pthread_mutex_lock(&l->lock);
	for (at = &l->first; (w = *at); at = &w->next) {
		if (w->tokens > l->nr_free || !is_mine(w, asker))
			continue;
		*at = w->next;
		if (!w->next)
			l->last = at;
		break;
	}
	pthread_mutex_unlock(&l->lock);
	return w;
}

struct limit_waiter *limit_give(struct lkdf_limit *l, uint32_t tokens)
{
	struct limit_waiter *woken = NULL, **end = &woken, *w;
	uint32_t nr_free;

	pthread_mutex_lock(&l->lock);
	l->nr_free += tokens;
	nr_free = l->nr_free;
	while ((w = l->first) && w->tokens <= nr_free) {
		nr_free -= w->tokens;
		l->first = w->next;
		*end = w;
		end = &w->next;
	}
	*end = NULL;
	if (!l->first)
		l->last = &l->first;
	pthread_mutex_unlock(&l->lock);
	return woken;
}
