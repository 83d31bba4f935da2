/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * OpenMP tasks; built twice, by gcc against libgomp and by clang against
 * libomp. fib N WORKERS: ns, result.
 */
#include "tests/bench/peer_loop.h"

#include <omp.h>

static long fib(int n)
{
	long x, y;

	if (n < 2)
		return n;
#pragma omp task shared(x) firstprivate(n)
	x = fib(n - 1);
#pragma omp task shared(y) firstprivate(n)
	y = fib(n - 2);
#pragma omp taskwait
	return x + y;
}

static int peer_answer(struct question *q)
{
	int n = (int)peer_number(q, 1);
	int64_t start = 0;
	long result = 0;

	if (!peer_is(q, "fib"))
		return peer_refuse(q, "unknown question");
	omp_set_dynamic(0);
#pragma omp parallel num_threads((int)peer_number(q, 2)) shared(result, start)
#pragma omp single
	{
		start = peer_now_ns();
		result = fib(n);
		start = peer_now_ns() - start;
	}
	q->out[0] = (double)start;
	q->out[1] = (double)result;
	return 2;
}

int main(void)
{
	return peer_loop();
}
