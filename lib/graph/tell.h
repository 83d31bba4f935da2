/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A sealed graph in a recording: name, tasks, labels, edges, frames; once. */
#ifndef GRAPH_TELL_H
#define GRAPH_TELL_H

#include "graph/graph.h"

/* Before a run that is recorded. slot: of its n-th frame. Any thread. */
void graph_tell(struct lkdf_graph *g,
		uint32_t (*slot)(const struct lkdf_graph *g, uint32_t n));

#endif
