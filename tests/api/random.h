/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Random numbers for tests: the seed is printed, and SEED=4711 repeats it. */
#ifndef TESTS_API_RANDOM_H
#define TESTS_API_RANDOM_H

#include "tests/api/loop.h"

#include <stdint.h>

static uint64_t seed;

__attribute__((unused)) static uint64_t next_random(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

__attribute__((unused)) static uint64_t below(uint64_t n)
{
	return next_random() % n;
}

static void seed_set(void)
{
	seed = tap_number("SEED");
	if (!seed)
		seed = (uint64_t)api_now_ns() & 0xffffffff;
	printf("# SEED=%llu\n", (unsigned long long)seed);
}

__attribute__((unused)) static struct lkdf_scope *scope_create(struct lkdf *rt,
							       const char *name)
{
	struct lkdf_scope *s = NULL;

	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = name), &s));
	return s;
}

#endif
