/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks that are submitted to a scope while a graph records it are stored in
 * the graph instead of run. The scope points to the graph until seal, under
 * the scope's lock, which serialises the submitters.
 */
#ifndef GRAPH_RECORDING_H
#define GRAPH_RECORDING_H

#include "graph/graph.h"
#include "scope/scope.h"

/* -EBUSY: the scope or the graph records already. */
int recording_begin(struct lkdf_graph *g, struct lkdf_scope *s);

/* No submission comes after it. */
void recording_end(struct lkdf_graph *g);

static inline bool recording_is_on(const struct lkdf_scope *s)
{
	return a_load(&s->recorder, relaxed) != NULL;
}

/* The graph with the scope's lock held; NULL without: it has just ended. */
struct lkdf_graph *recording_lock(struct lkdf_scope *s);
void recording_unlock(struct lkdf_scope *s);

#endif
