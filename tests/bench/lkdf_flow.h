/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A flow as a sealed graph of lkdf: each block is a dataflow variable, whose
 * bytes live from its producer's start to its last reader's end.
 */
#ifndef TESTS_BENCH_LKDF_FLOW_H
#define TESTS_BENCH_LKDF_FLOW_H

#include "tests/bench/flow.h"

#include <lkdf/lkdf.h>

struct lkdf_flow_task {
	struct lkdf_flow *of;
	uint32_t task, nr_in;
};

struct lkdf_flow {
	struct lkdf *rt;
	struct flow *flow;
	struct lkdf_kind *kind;
	struct lkdf_graph *graph;
	struct lkdf_data **data; /* by task */
	struct lkdf_flow_task *arg;
};

/* Borrows the runtime and the flow; builds and seals. 0 or -errno. */
int lkdf_flow_open(struct lkdf_flow *l, struct lkdf *rt, struct flow *f);
void lkdf_flow_close(struct lkdf_flow *l);

#endif
