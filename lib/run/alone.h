/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * policy/solo.h judges graphs by the time that their bodies take when one
 * worker has them for itself. Bodies that meet in a lock take longer beside
 * others, so the shortest sample of each kind counts.
 */
#ifndef RUN_ALONE_H
#define RUN_ALONE_H

#include "graph/graph.h"

/*
 * Ticks that all bodies take one after the other; 0: some are not known to be
 * short then.
 */
uint64_t alone_ticks(const struct lkdf_graph *g);

/* A trial has begun: the kinds of the graph are measured again. */
void alone_sample_again(const struct lkdf_graph *g);

/* Runs go solo from now on: what was long beside others may be short. */
void alone_doubt(const struct lkdf_graph *g);

#endif
