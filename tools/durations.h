/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How long things took, as a histogram of bounded size: 32 steps an octave, so
 * a quantile is right to 3 per cent.
 */
#ifndef TOOLS_DURATIONS_H
#define TOOLS_DURATIONS_H

#include <stdint.h>

#define DURATIONS_STEPS 32
#define DURATIONS_BUCKETS (64 * DURATIONS_STEPS)

struct durations {
	uint64_t nr, total, longest; /* ns */
	uint64_t bucket[DURATIONS_BUCKETS];
};

void durations_add(struct durations *d, uint64_t ns);

/* share: 0 .. 1 of them take no longer; 0 where there are none. */
uint64_t durations_quantile(const struct durations *d, double share);

#endif
