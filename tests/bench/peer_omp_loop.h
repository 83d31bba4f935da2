/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * OpenMP's parallel loops. loop NR PASSES WORKERS DYNAMIC: ns of all passes,
 * wrong elements. Dynamic ones take chunks of a 64th, as one each would be
 * slower than the sum.
 */
#ifndef TESTS_BENCH_PEER_OMP_LOOP_H
#define TESTS_BENCH_PEER_OMP_LOOP_H

#include "tests/bench/loop.h"

static int answer_loop(struct question *q)
{
	long nr = (long)peer_number(q, 1), i, chunk = nr / 64 + 1;
	uint32_t passes = peer_number(q, 2), k;
	int workers = (int)peer_number(q, 3);
	int is_dynamic = (int)peer_number(q, 4);
	uint32_t *x = calloc((size_t)nr, sizeof(*x));
	int64_t start = peer_now_ns();

	if (!x)
		return peer_refuse(q, "no memory");
	omp_set_dynamic(0);
	for (k = 0; k < passes && !is_dynamic; k++) {
#pragma omp parallel for num_threads(workers) schedule(static)
		for (i = 0; i < nr; i++)
			x[i] += (uint32_t)i | 1;
	}
	for (k = 0; k < passes && is_dynamic; k++) {
#pragma omp parallel for num_threads(workers) schedule(dynamic, chunk)
		for (i = 0; i < nr; i++)
			x[i] += (uint32_t)i | 1;
	}
	q->out[0] = (double)(peer_now_ns() - start);
	q->out[1] = (double)loop_wrong(x, (uint64_t)nr, passes);
	free(x);
	return 2;
}

#endif
