/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A histogram of durations against sorted values. */
#include "tests/tap.h"
#include "tools/durations.c"

#define NR 20000

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void quantiles_are_right_to_three_per_cent(uint64_t seed)
{
	static const double shares[] = { 0, 0.01, 0.5, 0.9, 0.99, 0.9999 };
	static uint64_t value[NR];
	static struct durations d;
	uint64_t x = seed, got, want, total = 0;
	double worst = 0, off;
	size_t i;

	memset(&d, 0, sizeof(d));
	for (i = 0; i < NR; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		/* From 0 to 2^47, all octaves alike. */
		value[i] = (x >> 16) >> (x % 48);
		total += value[i];
		durations_add(&d, value[i]);
	}
	qsort(value, NR, sizeof(*value), compare);
	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		got = durations_quantile(&d, shares[i]);
		want = value[(size_t)(shares[i] * NR)];
		off = want ? (double)got / (double)want - 1 : (double)got;
		off = off < 0 ? -off : off;
		worst = off > worst ? off : worst;
	}
	ok(worst <= 1.0 / 32, "seed %llu: quantiles are off by %.3f at most",
	   (unsigned long long)seed, worst);
	is(d.nr, NR, "all are counted");
	ok(d.total == total, "their sum is exact");
	ok(d.longest == value[NR - 1], "so is the longest");
}

int main(void)
{
	static struct durations d;

	tap_start(40);
	quantiles_are_right_to_three_per_cent(1);
	quantiles_are_right_to_three_per_cent(2);
	is(durations_quantile(&d, 0.5), 0, "nothing has quantile 0");
	durations_add(&d, UINT64_MAX);
	ok(durations_quantile(&d, 0.5) > UINT64_MAX / 33 * 32,
	   "the largest number has a bucket");
	return tap_end();
}
