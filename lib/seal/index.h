/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The last pass over a graph's data uses: tasks have their index now, so uses,
 * pairs, claims and tokens are found by it.
 */
#ifndef SEAL_INDEX_H
#define SEAL_INDEX_H

struct lkdf_graph;

/* A graph with data. 0 or -ENOMEM. */
int index_uses(struct lkdf_graph *g);

#endif
