/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The frame of most suites: one arm for each number of workers, and a list of
 * parts. A part is built for all arms, measured in interleaved rounds of all
 * arms behind the gate, printed and dropped.
 */
#ifndef TOOLS_BENCH_ARMS_H
#define TOOLS_BENCH_ARMS_H

#include "bench/bench.h"

#include <stddef.h>

/* Functions that return int: 0 or -errno, the reason is on stderr. */
struct bench_arms {
	size_t size; /* of an arm, which is zeros before open() */

	/* Once for each arm; close() also takes what open() left half done. */
	int (*open)(void *arm, int workers);
	void (*close)(void *arm);

	/* For a part; NULL: b->rounds. */
	const char *(*name)(unsigned part);
	unsigned (*rounds)(const struct bench *b, unsigned part);

	/* begin(), drop() and end() may be NULL; the latter two also take what
	 * is half done. */
	int (*begin)(unsigned part);
	int (*build)(const struct bench *b, void *arm, unsigned part);
	int (*round)(const struct bench *b, void *arm, unsigned part);
	void (*rows)(struct bench *b, const void *arm, const void *first,
		     unsigned part);
	void (*drop)(void *arm);
	void (*end)(void);
};

int bench_arms(struct bench *b, const struct bench_arms *how,
	       unsigned nr_parts);

/* The rounds of all parts. */
double bench_arms_steps(const struct bench *b, const struct bench_arms *how,
			unsigned nr_parts);

#endif
