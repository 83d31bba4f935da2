/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Numbers from a seed: SplitMix64 (Steele, Lea, Flood 2014). The same seed
 * gives the same program everywhere.
 */
#ifndef TESTS_ORACLE_RANDOM_H
#define TESTS_ORACLE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct rng {
	uint64_t state;
};

static inline uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* The same for 16 bits: of different x different numbers. */
static inline uint16_t mix16(uint16_t x)
{
	x = (uint16_t)((x ^ x >> 8) * 0x88b5u);
	x = (uint16_t)((x ^ x >> 7) * 0xdb2du);
	return (uint16_t)(x ^ x >> 9);
}

static inline uint64_t rng_next(struct rng *r)
{
	return mix(r->state += 0x9e3779b97f4a7c15u);
}

/* Where the seeds of a run begin: ORACLE_BASE in the environment, else 1. */
static inline uint64_t base_seed(void)
{
	const char *base = getenv("ORACLE_BASE");

	return base ? strtoull(base, NULL, 0) : 1;
}

/* low .. high, both possible. */
static inline uint32_t rng_range(struct rng *r, uint32_t low, uint32_t high)
{
	return low + (uint32_t)(rng_next(r) % ((uint64_t)high - low + 1));
}

/* True in one of n cases. */
static inline bool rng_one_in(struct rng *r, uint32_t n)
{
	return rng_next(r) % n == 0;
}

#endif
