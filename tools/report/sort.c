/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT 11
#define NR_DIGITS (1u << DIGIT)

static bool is_sorted(const uint64_t *time, size_t nr, uint64_t *bits)
{
	bool sorted = true;
	size_t i;

	*bits = 0;
	for (i = 0; i < nr; i++) {
		*bits |= time[i];
		if (i && time[i - 1] > time[i])
			sorted = false;
	}
	return sorted;
}

static void deal(const uint64_t *from, uint64_t *to, size_t nr, unsigned shift)
{
	size_t first[NR_DIGITS] = { 0 }, i, n, sum = 0;

	for (i = 0; i < nr; i++)
		first[from[i] >> shift & (NR_DIGITS - 1)]++;
	for (i = 0; i < NR_DIGITS; i++) {
		n = first[i];
		first[i] = sum;
		sum += n;
	}
	for (i = 0; i < nr; i++)
		to[first[from[i] >> shift & (NR_DIGITS - 1)]++] = from[i];
}

void sort_times(uint64_t *time, uint64_t *spare, size_t nr)
{
	uint64_t bits, *from = time, *to = spare, *swap;
	unsigned shift;

	if (is_sorted(time, nr, &bits))
		return;
	for (shift = 0; shift < 64 && bits >> shift; shift += DIGIT) {
		deal(from, to, nr, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != time)
		memcpy(time, from, nr * sizeof(*time));
}
