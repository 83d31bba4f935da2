/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Sorting of many times: by digits, least significant first. */
#ifndef REPORT_SORT_H
#define REPORT_SORT_H

#include <stddef.h>
#include <stdint.h>

/* @spare has room for @nr too. */
void sort_times(uint64_t *time, uint64_t *spare, size_t nr);

/* Among sorted times: the one below which the share @q lies; 0 if there is
 * none.
 */
static inline uint64_t quantile(const uint64_t *time, size_t nr, double q)
{
	size_t i = (size_t)(q * (double)nr);

	return nr ? time[i < nr ? i : nr - 1] : 0;
}

#endif
