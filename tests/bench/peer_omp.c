/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * OpenMP tasks; built twice, by gcc against libgomp and by clang against
 * libomp. fib N WORKERS: ns, result; those of peer_omp_loop.h and
 * peer_submit.h. The submitting thread is one of the workers, and both
 * libraries let it run tasks itself once a few hundred wait, so that a held
 * submission is refused.
 */
#include "tests/bench/peer_submit.h"

#include <omp.h>

#include "tests/bench/peer_omp_loop.h"

static void forget_data(void)
{
}

static void run_task(uint32_t task)
{
	struct plan *p = &the_plan;
	uint32_t *word = p->word, k, own = word[task];

	for (k = p->use_at[task] + 1; k < p->use_at[task + 1]; k++)
		if (!plan_fits(p, p->use[k], word[p->use[k]], own))
			p->is_wrong = true;
	word[task] = own + 1;
}

/* One task; each number of dependences has its own statement, because a
 * list made at run time costs more. */
static void depend_on(uint32_t i, const uint32_t *u, uint32_t nr)
{
	uint32_t *w = the_plan.word;

	(void)w; /* gcc does not count what depend() names as used */
	switch (nr) {
	case 0:
#pragma omp task firstprivate(i)
		run_task(i);
		break;
	case 1:
#pragma omp task firstprivate(i) depend(inout : w[i])
		run_task(i);
		break;
	case 2:
#pragma omp task firstprivate(i) depend(inout : w[i]) depend(in : w[u[1]])
		run_task(i);
		break;
	case 3:
#pragma omp task firstprivate(i) depend(inout             \
					: w[i]) depend(in \
						       : w[u[1]], w[u[2]])
		run_task(i);
		break;
	case 4:
#pragma omp task firstprivate(i) depend(inout   \
					: w[i]) \
	depend(in                               \
	       : w[u[1]], w[u[2]], w[u[3]])
		run_task(i);
		break;
	case 5:
#pragma omp task firstprivate(i) depend(inout   \
					: w[i]) \
	depend(in                               \
	       : w[u[1]], w[u[2]], w[u[3]], w[u[4]])
		run_task(i);
		break;
	default:
#pragma omp task firstprivate(i) depend(inout                          \
					: w[i])                        \
	depend(in                                                      \
	       : w[u[1]], w[u[2]], w[u[3]], w[u[4]], w[u[5]], w[u[6]], \
		 w[u[7]])
		run_task(i);
	}
}

static int submit_plan(struct question *q, int workers, bool is_held)
{
	const struct plan *p = &the_plan;
	int64_t start = 0, submitted = 0, end = 0;
	uint32_t i, nr;

	if (is_held)
		return peer_refuse(q, "cannot hold tasks back");
	for (i = 0; i < p->nr_tasks; i++) {
		nr = p->use_at[i + 1] - p->use_at[i];
		if (nr > 5 && nr != PLAN_MAX_USES)
			return peer_refuse(q, "no statement with so many");
	}
	omp_set_dynamic(0);
#pragma omp parallel num_threads(workers) private(i)
#pragma omp single
	{
		start = peer_now_ns();
		for (i = 0; i < p->nr_tasks; i++)
			depend_on(i, p->use + p->use_at[i],
				  p->use_at[i + 1] - p->use_at[i]);
		submitted = peer_now_ns();
#pragma omp taskwait
		end = peer_now_ns();
	}
	q->out[0] = (double)(submitted - start);
	q->out[1] = (double)(end - submitted);
	return 0;
}

static void depend_on_tiles(const struct tile_op *op)
{
	const struct tiles *t = &the_tiles;
	uint32_t side = t->side;
	enum tile_fn fn = op->fn;
	double *out = tiles_at(t, op->out);
	double *a = tiles_at(t, op->in[0]), *b = tiles_at(t, op->in[1]);

	switch (op->nr_in) {
	case 0:
#pragma omp task firstprivate(fn, side, out) depend(inout : out[0])
		tiles_do(fn, side, NULL, NULL, out);
		break;
	case 1:
#pragma omp task firstprivate(fn, side, a, out) depend(inout     \
						       : out[0]) \
	depend(in                                                \
	       : a[0])
		tiles_do(fn, side, a, NULL, out);
		break;
	default:
#pragma omp task firstprivate(fn, side, a, b, out) depend(inout     \
							  : out[0]) \
	depend(in                                                   \
	       : a[0], b[0])
		tiles_do(fn, side, a, b, out);
	}
}

static int submit_tiles(struct question *q, int workers)
{
	int64_t start = 0;
	uint32_t i;

	omp_set_dynamic(0);
#pragma omp parallel num_threads(workers) shared(start) private(i)
#pragma omp single
	{
		start = peer_now_ns();
		for (i = 0; i < the_tiles.nr_ops; i++)
			depend_on_tiles(&the_tiles.op[i]);
#pragma omp taskwait
		start = peer_now_ns() - start;
	}
	q->out[0] = (double)start;
	return 0;
}

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

static int answer_fib(struct question *q)
{
	int n = (int)peer_number(q, 1);
	int64_t start = 0;
	long result = 0;

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

static int peer_answer(struct question *q)
{
	if (peer_is(q, "fib"))
		return answer_fib(q);
	if (peer_is(q, "loop"))
		return answer_loop(q);
	if (peer_is(q, "submit"))
		return answer_submit(q);
	if (peer_is(q, "tiles"))
		return answer_tiles(q);
	return peer_refuse(q, "unknown question");
}

int main(void)
{
	return peer_loop();
}
