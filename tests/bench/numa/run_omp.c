/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * OpenMP tasks with depend clauses, built by gcc for libgomp and by clang for
 * libomp. The tasks are made while it runs: there is no graph to keep.
 */
#include "tests/bench/numa/driver.h"

#include <stdlib.h>

#ifdef __clang__
#define NAME "libomp"
#else
#define NAME "libgomp"
#endif

static char *token;

/* Predecessors that a task does not have are its own token: no edge. */
static void submit(struct task *t)
{
	uint32_t a = t->nr_preds > 0 ? t->pred[0] : t->id;
	uint32_t b = t->nr_preds > 1 ? t->pred[1] : a;
	uint32_t c = t->nr_preds > 2 ? t->pred[2] : a;
	uint32_t self = t->id;

	if (!t->nr_preds) {
#pragma omp task depend(out : token[self]) firstprivate(t)
		program_body(t, t->at);
	} else {
#pragma omp task depend(in                                                    \
			: token[a], token[b], token[c]) depend(out            \
							       : token[self]) \
	firstprivate(t)
		program_body(t, t->at);
	}
}

static void submit_all(struct program *p)
{
	uint32_t run, i;

	for (run = 0; run < p->nr_repeats; run++) {
		for (i = 0; i < p->nr_tasks; i++)
			submit(&p->task[i]);
#pragma omp taskwait
	}
}

static int prepare(struct program *p)
{
	token = calloc(p->nr_tasks, 1);
	return token ? 0 : -1;
}

static int run(struct program *p)
{
#pragma omp parallel num_threads(PROGRAM_WORKERS)
#pragma omp single
	submit_all(p);
	return 0;
}

static void finish(void)
{
	free(token);
	token = NULL;
}

int main(int argc, char **argv)
{
	static const struct driver d = { NAME, prepare, run, finish };

	return driver_main(&d, argc, argv);
}
