/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program that uses lkdf where it is installed, and else plain loops. Prints:
 *
 *   the squares of 0 to 999 make 332833500
 */
#ifdef WITHOUT_LKDF
#include "lkdf_fallback.h"
#else
#include <lkdf/lkdf.h>
#endif
#include <inttypes.h>
#include <stdio.h>

static uint64_t square[1000];

static int fill(uint64_t begin, uint64_t end, void *u)
{
	uint64_t *x = u, i;

	for (i = begin; i < end; i++)
		x[i] = i * i;
	return 0;
}

static int add(uint64_t begin, uint64_t end, void *acc, void *u)
{
	uint64_t *sum = acc, *x = u, i;

	for (i = begin; i < end; i++)
		*sum += x[i];
	return 0;
}

static int join(void *acc, const void *x, void *u)
{
	(void)u;
	*(uint64_t *)acc += *(const uint64_t *)x;
	return 0;
}

static int sum_squares(uint64_t *sum)
{
	struct lkdf_range all = { 0, 1000, 0 };
	struct lkdf_reduce_attr a = {
		.size = sizeof(a),
		.range = all,
		.fn = add,
		.join = join,
		.u = square,
		.acc = sum,
		.acc_bytes = sizeof(*sum),
	};
	struct lkdf *rt;
	int rc = lkdf_default(&rt);

	if (!rc)
		rc = lkdf_for(rt, all, fill, square);
	if (!rc)
		rc = lkdf_reduce(rt, &a);
	return rc ? rc : lkdf_default_put(rt);
}

int main(void)
{
	uint64_t sum = 0;
	int rc = sum_squares(&sum);

	if (!rc)
		printf("the squares of 0 to 999 make %" PRIu64 "\n", sum);
	return rc != 0;
}
