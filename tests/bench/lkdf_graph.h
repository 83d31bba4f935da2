/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The shapes as graphs of lkdf, through the public interface only. */
#ifndef TESTS_BENCH_LKDF_GRAPH_H
#define TESTS_BENCH_LKDF_GRAPH_H

#include "tests/bench/shapes.h"

#include <lkdf/lkdf.h>

/* A kind of any number of overlapping tasks whose argument is borrowed. */
int lkdf_graph_kind(struct lkdf *rt, const char *name, lkdf_fn fn,
		    struct lkdf_kind **out);

/* Built and sealed; task i's argument is &count[i]. 0 or -errno. */
int lkdf_graph_of(struct lkdf *rt, struct lkdf_kind *kind,
		  const struct shape *s, uint32_t *count, uint32_t inflight,
		  struct lkdf_graph **out);

/* So many runs and one wait. 0 or the first error. */
int lkdf_graph_runs(struct lkdf_graph *g, uint64_t times);

#endif
