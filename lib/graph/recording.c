/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "graph/recording.h"

#include "base/err.h"

#include <errno.h>

int recording_begin(struct lkdf_graph *g, struct lkdf_scope *s)
{
	bool is_free;

	check(!g->is_sealed);
	if (g->recorded)
		return err(-EBUSY, "record: graph %s records scope \"%s\"",
			   g->name, g->recorded->name);
	pthread_mutex_lock(&s->lock);
	is_free = !a_load(&s->recorder, relaxed);
	if (is_free)
		a_store(&s->recorder, g, relaxed);
	pthread_mutex_unlock(&s->lock);
	if (!is_free)
		return err(-EBUSY, "record: scope \"%s\" is recorded already",
			   s->name);
	a_add(&s->count, SCOPE_REF, relaxed);
	g->recorded = s;
	return 0;
}

void recording_end(struct lkdf_graph *g)
{
	struct lkdf_scope *s = g->recorded;

	if (!s)
		return;
	g->recorded = NULL;
	pthread_mutex_lock(&s->lock);
	a_store(&s->recorder, NULL, relaxed);
	pthread_mutex_unlock(&s->lock);
	scope_put(s);
}

struct lkdf_graph *recording_lock(struct lkdf_scope *s)
{
	struct lkdf_graph *g;

	pthread_mutex_lock(&s->lock);
	g = a_load(&s->recorder, relaxed);
	if (!g)
		pthread_mutex_unlock(&s->lock);
	return g;
}

void recording_unlock(struct lkdf_scope *s)
{
	pthread_mutex_unlock(&s->lock);
}
