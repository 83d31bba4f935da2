/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Keeps the workers busy while a suite submits. */
#ifndef TOOLS_BENCH_SUBMIT_H
#define TOOLS_BENCH_SUBMIT_H

#include "bench/bench.h"

#include <semaphore.h>

struct lkdf_kind;

/* Keeps all workers of a runtime in a body, so that nothing else runs. */
struct plug {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	int nr_workers;
	sem_t go;
	uint32_t nr_in;
};

int plug_open(struct plug *p, struct lkdf *rt, int nr_workers);
void plug_close(struct plug *p);

/* 0 once every worker is in its body; -errno. */
int plug_hold(struct plug *p);
void plug_release(struct plug *p);

#endif
