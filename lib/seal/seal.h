/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sealing: spilled successors get their place, cycles are refused with the
 * path by name, counters are armed, and every frame gets its copy.
 */
#ifndef SEAL_SEAL_H
#define SEAL_SEAL_H

struct lkdf_diag;
struct lkdf_graph;

/* See lkdf_graph_seal(). */
int graph_seal(struct lkdf_graph *g, struct lkdf_diag *why);

#endif
