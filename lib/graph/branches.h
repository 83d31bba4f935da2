/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The branches of a task: numbers in ascending order, each once. Most programs
 * number them one after another, from 0, 1 or 1,000 on, so the place of such a
 * number is its distance to the first one. Any other number is found by
 * halving, in 12 steps among 4,000, or, in a region, in a table of hashes.
 */
#ifndef GRAPH_BRANCHES_H
#define GRAPH_BRANCHES_H

#include <stdint.h>

/* The numbers that one task has among the control's. */
struct branches {
	uint32_t first, nr;
};

/* How many of nr numbers follow one another, from the first one on. */
static inline uint32_t branches_dense(const uint16_t *number, uint32_t nr)
{
	uint32_t n = 0;

	while (n < nr && number[n] == number[0] + n)
		n++;
	return n;
}

/* The place of branch among nr numbers, by halving; nr: it is none of them. */
static inline uint32_t branches_halve(const uint16_t *number, uint32_t nr,
				      uint32_t branch)
{
	uint32_t at = 0, left = nr, half;

	if (!nr)
		return nr;
	while (left > 1) {
		half = left / 2;
		at = number[at + half] <= branch ? at + half : at;
		left -= half;
	}
	return number[at] == branch ? at : nr;
}

/* A table of nr numbers has 2 to the power of this slots; half are free. */
static inline unsigned branches_bits(uint32_t nr)
{
	unsigned bits = 1;

	while (1u << bits < 2 * nr)
		bits++;
	return bits;
}

/* The slot of a number in such a table; the next ones where it is not free.
 * Knuth 1973: numbers at any fixed distance are far from each other. */
static inline uint32_t branches_slot(uint32_t branch, unsigned bits)
{
	return branch * 2654435769u >> (32 - bits);
}

/* The place of branch among nr numbers; nr: it is none of them. */
static inline uint32_t branches_find(const uint16_t *number, uint32_t nr,
				     uint32_t branch)
{
	uint32_t at = nr ? branch - number[0] : 0;

	if (at < nr && number[at] == branch)
		return at;
	return branches_halve(number, nr, branch);
}

#endif
