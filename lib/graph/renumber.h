/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Records by node, for graphs in which tasks have places. See renumber.c.
 */
#ifndef GRAPH_RENUMBER_H
#define GRAPH_RENUMBER_H

#include "graph/graph.h"

/* Once, by seal, after everything else is laid out. 0 or -ENOMEM. */
int renumber(struct lkdf_graph *g);

/* Records of a further frame: nothing in them, on the right pages. */
struct rec *renumber_map(const struct lkdf_graph *g);

#endif
