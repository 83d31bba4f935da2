/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Checks that all calls that build a graph have in common.
 */
#ifndef API_GRAPH_H
#define API_GRAPH_H

#include "api/border.h"
#include "graph/graph.h"

#include <errno.h>

/* 0; -EINVAL, -EROFS, -EOWNERDEAD: nothing can be added. */
static inline int graph_check_open(struct lkdf_graph *g, const char *what)
{
	if (unlikely(!g))
		return err(-EINVAL, "%s: the graph is NULL", what);
	if (unlikely(g->is_sealed))
		return err(-EROFS, "%s: graph %s is sealed", what, g->name);
	if (unlikely(!g->rt || !a_load(g->rt->is_alive, relaxed)))
		return border_owner(g->rt, what, "graph", g->name);
	return 0;
}

/* The error where a number is none of the graph's tasks: -EINVAL. */
int graph_no_such_task(const struct lkdf_graph *g, int32_t task,
		       const char *what);

#endif
