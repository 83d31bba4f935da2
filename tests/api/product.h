/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A reduction of tests: products of words of 64 bits. */
#ifndef TESTS_API_PRODUCT_H
#define TESTS_API_PRODUCT_H

#include <stdint.h>

static void ones(void *acc, uint64_t bytes)
{
	uint64_t i;

	for (i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)acc)[i] = 1;
}

static int multiply(void *acc, const void *x, uint64_t bytes)
{
	uint64_t i;

	for (i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)acc)[i] *= ((const uint64_t *)x)[i];
	return 0;
}

#endif
