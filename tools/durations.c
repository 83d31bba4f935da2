/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "durations.h"

/* The octave, and the five bits below its first. */
static unsigned bucket_of(uint64_t ns)
{
	unsigned octave =
		ns < DURATIONS_STEPS ? 5 : 63 - (unsigned)__builtin_clzll(ns);

	if (ns < DURATIONS_STEPS)
		return (unsigned)ns;
	return (octave - 4) * DURATIONS_STEPS +
	       (unsigned)(ns >> (octave - 5) & (DURATIONS_STEPS - 1));
}

/* The middle of what lies in it. */
static uint64_t middle_of(unsigned bucket)
{
	unsigned octave = bucket / DURATIONS_STEPS + 4;
	uint64_t step = bucket % DURATIONS_STEPS;

	if (bucket < DURATIONS_STEPS)
		return bucket;
	return (DURATIONS_STEPS + step) << (octave - 5) |
	       ((1ull << (octave - 5)) >> 1);
}

void durations_add(struct durations *d, uint64_t ns)
{
	d->nr++;
	d->total += ns;
	if (ns > d->longest)
		d->longest = ns;
	d->bucket[bucket_of(ns)]++;
}

uint64_t durations_quantile(const struct durations *d, double share)
{
	uint64_t rank = (uint64_t)(share * (double)d->nr), seen = 0, middle;
	unsigned i;

	if (!d->nr)
		return 0;
	for (i = 0; i < DURATIONS_BUCKETS - 1; i++) {
		seen += d->bucket[i];
		if (seen > rank)
			break;
	}
	middle = middle_of(i);
	return middle > d->longest ? d->longest : middle;
}
