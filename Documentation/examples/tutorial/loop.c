/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parallel loops: fills an array, adds it up, and counts what is odd inside a
 * task. Prints:
 *
 *   the sum is 499999500000
 *   the first error: for: iterations 500 to 509: Numerical result out of range
 *   500000 are odd
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NR 1000000

static int fill(uint64_t begin, uint64_t end, void *u)
{
	uint64_t *x = u, i;

	for (i = begin; i < end; i++)
		x[i] = i;
	return 0;
}

static int add(uint64_t begin, uint64_t end, void *acc, void *u)
{
	const uint64_t *x = u;
	uint64_t *sum = acc, i;

	for (i = begin; i < end; i++)
		*sum += x[i];
	return 0;
}

static int join(void *acc, const void *other, void *u)
{
	(void)u;
	*(uint64_t *)acc += *(const uint64_t *)other;
	return 0;
}

static int sum_up(struct lkdf *rt, uint64_t *x)
{
	uint64_t sum = 0;
	struct lkdf_reduce_attr a = {
		.size = sizeof(a),
		.range = { 0, NR, 0 },
		.fn = add,
		.join = join,
		.u = x,
		.acc = &sum,
		.acc_bytes = sizeof(sum),
	};
	int rc;

	rc = lkdf_for(rt, (struct lkdf_range){ 0, NR, 0 }, fill, x);
	if (!rc)
		rc = lkdf_reduce(rt, &a);
	if (!rc)
		printf("the sum is %llu\n", (unsigned long long)sum);
	return rc;
}

static int fail(uint64_t begin, uint64_t end, void *u)
{
	(void)u;
	return begin <= 500 && end > 500 ? -ERANGE : 0;
}

static int fail_once(struct lkdf *rt)
{
	struct lkdf_range r = { 0, 1000, 10 };

	if (lkdf_for(rt, r, fail, NULL) != -ERANGE)
		return -EPROTO;
	printf("the first error: %s\n", lkdf_errmsg());
	return 0;
}

struct odd {
	const uint64_t *x;
	atomic_ulong nr;
};

static int count_odd(uint64_t begin, uint64_t end, void *u)
{
	struct odd *odd = u;
	unsigned long nr = 0;
	uint64_t i;

	for (i = begin; i < end; i++)
		nr += odd->x[i] % 2;
	atomic_fetch_add(&odd->nr, nr);
	return 0;
}

static int body(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_for_attr a = {
		.size = sizeof(a),
		.range = { 0, NR, 0 },
		.fn = count_odd,
		.u = arg,
	};

	return lkdf_for_in(c, &a);
}

static int run_task(struct lkdf *rt, const uint64_t *x)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "odd" };
	struct odd odd = { .x = x };
	struct lkdf_task t = { .size = sizeof(t), .arg = &odd };
	int rc;

	a.fn = body;
	rc = lkdf_kind_create(rt, &a, &t.kind);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	if (!rc)
		rc = lkdf_scope_wait(rt, NULL, -1);
	if (!rc)
		printf("%lu are odd\n", atomic_load(&odd.nr));
	lkdf_kind_put(t.kind);
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
	rc = sum_up(rt, x);
	if (!rc)
		rc = fail_once(rt);
	if (!rc)
		rc = run_task(rt, x);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	free(x);
	return lkdf_close(rt) || rc ? 1 : 0;
}
