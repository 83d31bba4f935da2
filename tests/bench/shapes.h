/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The dependence graphs that all contestants of lkdf bench run: floor, lkdf
 * and the peers build them from the same lists of predecessors and
 * successors. Same name and size, same graph, on every machine.
 */
#ifndef TESTS_BENCH_SHAPES_H
#define TESTS_BENCH_SHAPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tasks are numbered so that every edge goes from a lower to a higher one. */
struct shape {
	uint32_t nr_tasks, nr_edges;
	/* pred[pred_at[i]] .. pred[pred_at[i + 1] - 1] come before task i. */
	uint32_t *pred_at, *pred;
	/* The same edges seen from the other end. */
	uint32_t *succ_at, *succ;
};

/*
 * chain; tree (binary, the deepest whole one of at most @nr tasks); wave and
 * random (square; random has 4 predecessors in the row before); stencil_1d,
 * nearest (5 columns of the row before), random_3 (3 of them), wavefront,
 * no_comm and bcast_tree (8 columns). 0, -EINVAL no such shape, -ENOMEM.
 */
int shape_init(struct shape *s, const char *name, uint32_t nr);
void shape_fini(struct shape *s);

/* Every counter is @want: nothing lost, nothing run twice. */
int shape_all_ran(const struct shape *s, const uint32_t *count, uint32_t want);

/* All predecessors of @task have run once more than it has. */
int shape_in_order(const struct shape *s, const uint32_t *count, uint32_t task);

#ifdef __cplusplus
}
#endif
#endif
