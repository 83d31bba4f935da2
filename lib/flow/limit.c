/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "flow/limit.h"

#include "base/err.h"
#include "base/util.h"
#include "flow/runtime.h"

#include <errno.h>
#include <stdlib.h>

int limit_create(struct lkdf *rt, uint32_t tokens, struct lkdf_limit **out)
{
	struct lkdf_limit *l = calloc(1, sizeof(*l));

	if (!l)
		return err(-ENOMEM, "limit: no memory");
	l->rt = rt;
	l->nr_tokens = l->nr_free = tokens;
	l->last = &l->first;
	a_store(&l->nr_refs, 1, relaxed);
	pthread_mutex_init(&l->lock, NULL);
	a_add(&rt->nr_handles, 1, relaxed);
	*out = l;
	return 0;
}

void limit_get(struct lkdf_limit *l)
{
	a_add(&l->nr_refs, 1, relaxed);
}

void limit_put(struct lkdf_limit *l)
{
	/* [limit.put] all uses before the free; pairs with itself. */
	if (!l || a_sub(&l->nr_refs, 1, acq_rel) != 1)
		return;
	check(l->nr_free == l->nr_tokens);
	a_sub(&l->rt->nr_handles, 1, relaxed);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

bool limit_take(struct lkdf_limit *l, struct limit_waiter *w, uint32_t tokens)
{
	bool taken;

	pthread_mutex_lock(&l->lock);
	taken = !l->first && l->nr_free >= tokens;
	if (taken) {
		l->nr_free -= tokens;
	} else {
		w->tokens = tokens;
		w->next = NULL;
		*l->last = w;
		l->last = &w->next;
	}
	pthread_mutex_unlock(&l->lock);
	return taken;
}

struct limit_waiter *limit_give(struct lkdf_limit *l, uint32_t tokens)
{
	struct limit_waiter *granted = NULL, **end = &granted, *w;

	pthread_mutex_lock(&l->lock);
	l->nr_free += tokens;
	while ((w = l->first) && w->tokens <= l->nr_free) {
		l->nr_free -= w->tokens;
		l->first = w->next;
		*end = w;
		end = &w->next;
	}
	*end = NULL;
	if (!l->first)
		l->last = &l->first;
	pthread_mutex_unlock(&l->lock);
	return granted;
}
