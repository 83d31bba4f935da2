/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A burst: as many tasks at once as there are workers, all of whom sleep. Its
 * row says when the last one begins, and is judged by the links of the chain of
 * wake-ups.
 */
#ifndef TESTS_BENCH_SUITES_BURST_H
#define TESTS_BENCH_SUITES_BURST_H

#include "bench/bench.h"

#include <lkdf/lkdf.h>

#define BURST_NS 300000 /* of a body */

struct burst {
	int workers;
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct samples last_us, links;
};

/* Of a runtime with so many workers. 0 or -errno, the reason is on stderr. */
int burst_open(struct burst *s, struct lkdf *rt, int workers);
void burst_close(struct burst *s);
int burst_round(struct burst *s, uint32_t units);
void burst_row(struct bench *b, const struct burst *s);

/* Units of work_for() that take so long, alone on a CPU. */
uint32_t burst_units(unsigned ns);

#endif
