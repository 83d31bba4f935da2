/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/handle.h"

#include "base/err.h"
#include "core/runtime.h"

#include <errno.h>
#include <lkdf/runtime.h>

void handle_add(struct lkdf *rt, struct handle *h, enum handle_sort sort)
{
	h->sort = (uint8_t)sort;
	h->is_orphan = false;
	pthread_mutex_lock(&rt->lock);
	list_append(&rt->handles, &h->list);
	pthread_mutex_unlock(&rt->lock);
}

bool handle_drop(struct lkdf *rt, struct handle *h, const char *what)
{
	if (h->is_orphan) {
		handle_tell_orphan(what);
		return false;
	}
	/* In a forked child others may hold the lock for ever. */
	if (!h->list.next || !a_load(rt->is_alive, relaxed))
		return true;
	pthread_mutex_lock(&rt->lock);
	list_del(&h->list);
	pthread_mutex_unlock(&rt->lock);
	return true;
}

void handle_tell_orphan(const char *what)
{
	static const struct log to_stderr = { .level = LKDF_LOG_ERROR };

	err(-EINVAL, "%s: its runtime has closed", what);
	log_text(&to_stderr, LKDF_LOG_ERROR, "%s", err_text());
}
