/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A sealed graph in a recording: name, tasks, labels, edges, frames; once. */
#ifndef GRAPH_TELL_H
#define GRAPH_TELL_H

#include "graph/graph.h"

struct trace_file;

/* Before a run that is recorded. slot: of its n-th frame. Any thread. */
void graph_tell(struct lkdf_graph *g,
		uint32_t (*slot)(const struct lkdf_graph *g, uint32_t n));

/*
 * Begins a chunk of why tasks wait for one another, from that successor of that
 * task on, which are set to where the chunk was full; past the last task.
 */
void tell_edges(const struct lkdf_graph *g, struct trace_file *f,
		uint32_t number, uint32_t *task, uint32_t *at);

#endif
