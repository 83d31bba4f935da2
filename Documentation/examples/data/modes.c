/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A hundred tasks add to one sum, in any order: once one at a time on the sum
 * itself (COMMUTE), once all at the same time, each thread on a copy (REDUCE).
 * Prints:
 *
 *   commute: 4950
 *   reduce: 4950
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

static int add(struct lkdf_ctx *c, void *arg)
{
	*(long *)lkdf_ptr(c, 0) += *(int *)arg;
	return 0;
}

static int combine(void *acc, const void *x, uint64_t bytes)
{
	(void)bytes;
	*(long *)acc += *(const long *)x;
	return 0;
}

static void neutral(void *acc, uint64_t bytes)
{
	(void)bytes;
	*(long *)acc = 0;
}

static int create(struct lkdf *rt, const char *name, struct lkdf_data **out)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .name = name };
	static const long zero;

	a.bytes = sizeof(zero);
	a.init = &zero;
	a.reduce = combine;
	a.neutral = neutral;
	return lkdf_data_create(rt, &a, out);
}

static int run(struct lkdf *rt, struct lkdf_kind *k, uint32_t mode,
	       const char *what)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .nr_use = 1 };
	struct lkdf_use use = { .mode = mode };
	void *bytes;
	int i, rc;

	rc = create(rt, what, &use.data);
	if (rc)
		return rc;
	t.use = &use;
	t.arg = &i;
	for (i = 0; i < 100 && !rc; i++)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	if (!rc)
		rc = lkdf_data_acquire(use.data, LKDF_READ, -1, &bytes);
	if (!rc) {
		printf("%s: %ld\n", what, *(long *)bytes);
		rc = lkdf_data_release(use.data);
	}
	lkdf_data_put(use.data);
	return rc ? rc : lkdf_scope_wait(rt, NULL, -1);
}

int main(void)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "add" };
	struct lkdf_kind *k = NULL;
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	a.fn = add;
	a.arg_size = sizeof(int); /* so each task has its own */
	rc = lkdf_kind_create(rt, &a, &k);
	if (!rc)
		rc = run(rt, k, LKDF_COMMUTE, "commute");
	if (!rc)
		rc = run(rt, k, LKDF_REDUCE, "reduce");
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_kind_put(k);
	return lkdf_close(rt) || rc ? 1 : 0;
}
