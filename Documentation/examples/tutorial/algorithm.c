/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sorts an array, finds an element, and adds up all before each. Prints:
 *
 *   sorted: yes
 *   the first of 500000 and more is number 250000
 *   the sum of all is 249999500001
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <stdlib.h>

#define NR 500000

static int compare(const void *a, const void *b, void *u)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	(void)u;
	return x < y ? -1 : x > y;
}

static int sort(struct lkdf *rt, uint64_t *x)
{
	struct lkdf_sort_attr a = {
		.size = sizeof(a),
		.base = x,
		.nr = NR,
		.bytes = sizeof(*x),
		.compare = compare,
	};

	return lkdf_sort(rt, &a);
}

static int is_large(uint64_t begin, uint64_t end, uint64_t *at, void *u)
{
	const uint64_t *x = u;

	for (*at = begin; *at < end; (*at)++)
		if (x[*at] >= 500000)
			return 1;
	return 0;
}

static int find(struct lkdf *rt, uint64_t *x)
{
	struct lkdf_find_attr a = {
		.size = sizeof(a),
		.range = { 0, NR, 0 },
		.fn = is_large,
		.u = x,
	};
	uint64_t at;
	int rc = lkdf_find(rt, &a, &at);

	if (rc > 0)
		printf("the first of 500000 and more is number %llu\n",
		       (unsigned long long)at);
	return rc < 0 ? rc : 0;
}

static int add(uint64_t begin, uint64_t end, void *acc, void *u)
{
	const uint64_t *x = u;
	uint64_t *sum = acc, i;

	for (i = begin; i < end; i++)
		*sum += x[i];
	return 0;
}

/* acc is the sum of all before begin. */
static int store(uint64_t begin, uint64_t end, void *acc, void *u)
{
	uint64_t *x = u, *sum = acc, i;

	for (i = begin; i < end; i++) {
		*sum += x[i];
		x[i] = *sum;
	}
	return 0;
}

static int join(void *acc, const void *other, void *u)
{
	(void)u;
	*(uint64_t *)acc += *(const uint64_t *)other;
	return 0;
}

static int add_up(struct lkdf *rt, uint64_t *x)
{
	uint64_t sum = 0;
	struct lkdf_scan_attr a = {
		.size = sizeof(a),
		.range = { 0, NR, 0 },
		.fn = add,
		.write = store,
		.join = join,
		.u = x,
		.acc = &sum,
		.acc_bytes = sizeof(sum),
	};

	return lkdf_scan(rt, &a);
}

static int run(struct lkdf *rt, uint64_t *x)
{
	uint64_t i;
	int rc;

	/* Each number once, mixed; the numbers leave out every second one. */
	for (i = 0; i < NR; i++)
		x[i] = 2 * (i * 7919 % NR);
	x[0] = 1;
	rc = sort(rt, x);
	for (i = 1; i < NR && x[i - 1] < x[i]; i++)
		;
	printf("sorted: %s\n", i == NR ? "yes" : "no");
	if (!rc)
		rc = find(rt, x);
	if (!rc)
		rc = add_up(rt, x);
	if (!rc)
		printf("the sum of all is %llu\n",
		       (unsigned long long)x[NR - 1]);
	return rc;
}

int main(void)
{
	uint64_t *x = malloc(NR * sizeof(*x));
	struct lkdf *rt;
	int rc;

	if (!x || lkdf_open(NULL, &rt)) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		return 1;
	}
	rc = run(rt, x);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	free(x);
	return lkdf_close(rt) || rc ? 1 : 0;
}
