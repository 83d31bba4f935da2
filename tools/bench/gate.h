/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Others share the CPUs. The gate spins all of them for a moment, looks at
 * how much of that time was really delivered, and waits until it is enough.
 */
#ifndef TOOLS_BENCH_GATE_H
#define TOOLS_BENCH_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct gate {
	/* Constant after gate_init(). */
	int nr_cpus;
	double need; /* share of each CPU, mean over all */
	int64_t patience_ns; /* of one wait */

	/* Left for all waits together; then the gate only looks. */
	int64_t budget_ns;

	/* Since gate_reset(). */
	unsigned nr_rounds, nr_good;
	double last;
};

void gate_init(struct gate *g, int64_t patience_ns, int64_t budget_ns);
void gate_reset(struct gate *g);

/* True: the CPUs are there. False: gave up. Counted either way. */
bool gate_wait(struct gate *g);

/* Enough rounds since gate_reset() had their CPUs. */
bool gate_was_fair(const struct gate *g);

#endif
