/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/handle.h"

#include "base/err.h"
#include "core/runtime.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdlib.h>

void handle_add(struct lkdf *rt, struct handle *h, enum handle_sort sort)
{
	h->sort = (uint8_t)sort;
	h->is_orphan = false;
	h->state = HANDLE_USERS;
	pthread_mutex_lock(&rt->lock);
	list_append(&rt->handles, &h->list);
	pthread_mutex_unlock(&rt->lock);
}

/* Under lock, but in a forked child, where others may hold it for ever. */
static enum handle_state mark_put(struct handle *h)
{
	enum handle_state was = (enum handle_state)h->state;

	if (was != HANDLE_USERS)
		return was;
	list_del(&h->list);
	h->state = HANDLE_PUT;
	return was;
}

bool handle_drop(struct lkdf *rt, struct handle *h, const char *what,
		 const char *name)
{
	enum handle_state was;

	if (h->is_orphan) {
		handle_tell_orphan(what);
		return false;
	}
	if (rt && a_load(rt->is_alive, relaxed)) {
		pthread_mutex_lock(&rt->lock);
		was = mark_put(h);
		pthread_mutex_unlock(&rt->lock);
	} else {
		was = mark_put(h);
	}
	if (was == HANDLE_PUT)
		handle_tell_put(what, name);
	return was != HANDLE_PUT;
}

static const struct log to_stderr = { .level = LKDF_LOG_ERROR };

void handle_tell_orphan(const char *what)
{
	err(-EINVAL, "%s: its runtime has closed", what);
	log_text(&to_stderr, LKDF_LOG_ERROR, "%s", err_text());
}

void handle_tell_put(const char *what, const char *name)
{
	err(-EINVAL, "%s: \"%s\" was put before", what, name);
	log_text(&to_stderr, LKDF_LOG_ERROR, "%s", err_text());
}

void handle_bury(struct lkdf *rt, void *memory)
{
	struct graves *g = &rt->graves;
	void *oldest;

	pthread_mutex_lock(&rt->lock);
	oldest = g->memory[g->next];
	g->memory[g->next] = memory;
	g->next = (g->next + 1) % NR_GRAVES;
	pthread_mutex_unlock(&rt->lock);
	free(oldest);
}

void graves_fini(struct graves *g)
{
	unsigned i;

	for (i = 0; i < NR_GRAVES; i++)
		free(g->memory[i]);
}
