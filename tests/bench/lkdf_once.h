/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A shape as a graph that is used once: each task writes a data of its own and
 * reads those of the tasks before it, from which the library derives the edges.
 */
#ifndef TESTS_BENCH_LKDF_ONCE_H
#define TESTS_BENCH_LKDF_ONCE_H

#include "tests/bench/shapes.h"

#include <lkdf/lkdf.h>

#include <stdint.h>

#define ONCE_BYTES 32
#define ONCE_MAX_USES 16

struct once_task {
	struct once *of;
	uint32_t nr_uses;
};

struct once {
	const struct shape *shape;
	struct lkdf_kind *kind;
	struct lkdf_graph *graph;
	struct lkdf_data **data; /* by task */
	struct once_task *task;
	uint64_t sum; /* of what tasks that nobody reads have written */
};

/* Memory of the bench, and the kind. 0 or -errno. */
int once_init(struct once *o, struct lkdf *rt, const struct shape *s);
void once_fini(struct once *o);

/* A whole life: data, graph, seal, one run, and all of it is put. 0 or -errno.
 */
int once_live(struct once *o, struct lkdf *rt);

/* Has each task read what those before it have written? */
int once_is_right(const struct once *o);

#endif
