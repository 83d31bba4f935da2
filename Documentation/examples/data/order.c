/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Four tasks of a sequential program. Nobody says which comes after which: what
 * they read and write does. The second and the third may run side by side.
 * Prints:
 *
 *   x = 21, written 2 times
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

static int set(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(int *)lkdf_ptr(c, 0) = 5;
	return 0;
}

static int twice(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(int *)lkdf_ptr(c, 1) = *(int *)lkdf_ptr(c, 0) * 2;
	return 0;
}

static int next(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(int *)lkdf_ptr(c, 1) = *(int *)lkdf_ptr(c, 0) + 1;
	return 0;
}

static int add(struct lkdf_ctx *c, void *arg)
{
	const int *y = lkdf_ptr(c, 0), *z = lkdf_ptr(c, 1);
	int *x = lkdf_ptr(c, 2);

	(void)arg;
	*x = *y + *z + 5;
	return 0;
}

/* A task of a kind of its own. */
static int submit(struct lkdf *rt, const char *name, lkdf_fn fn,
		  const struct lkdf_use *use, unsigned nr)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = name };
	struct lkdf_task t = { .size = sizeof(t), .use = use, .nr_use = nr };
	int rc;

	a.fn = fn;
	rc = lkdf_kind_create(rt, &a, &t.kind);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	lkdf_kind_put(t.kind);
	return rc;
}

static int program(struct lkdf *rt, struct lkdf_data *x, struct lkdf_data *y,
		   struct lkdf_data *z)
{
	struct lkdf_use a[] = { { x, LKDF_WRITE, 0 } };
	struct lkdf_use b[] = { { x, LKDF_READ, 0 }, { y, LKDF_WRITE, 0 } };
	struct lkdf_use c[] = { { x, LKDF_READ, 0 }, { z, LKDF_WRITE, 0 } };
	struct lkdf_use d[] = { { y, LKDF_READ, 0 },
				{ z, LKDF_READ, 0 },
				{ x, LKDF_WRITE, 0 } };
	int rc;

	rc = submit(rt, "set", set, a, 1); /* x = 5 */
	if (!rc)
		rc = submit(rt, "twice", twice, b, 2); /* y = 2 x */
	if (!rc)
		rc = submit(rt, "next", next, c, 2); /* z = x + 1 */
	if (!rc)
		rc = submit(rt, "add", add, d, 3); /* x = y + z + 5 */
	return rc;
}

static int show(struct lkdf_data *x)
{
	void *bytes;
	int rc;

	rc = lkdf_data_acquire(x, LKDF_READ, -1, &bytes);
	if (rc)
		return rc;
	printf("x = %d, written %d times\n", *(int *)bytes,
	       (int)lkdf_data_version(x));
	return lkdf_data_release(x);
}

int main(void)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .bytes = sizeof(int) };
	struct lkdf_data *x = NULL, *y = NULL, *z = NULL;
	struct lkdf *rt;
	int rc, all;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = lkdf_data_create(rt, &a, &x);
	if (!rc)
		rc = lkdf_data_create(rt, &a, &y);
	if (!rc)
		rc = lkdf_data_create(rt, &a, &z);
	if (!rc)
		rc = program(rt, x, y, z);
	if (!rc)
		rc = show(x);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_data_put(x);
	lkdf_data_put(y);
	lkdf_data_put(z);
	all = lkdf_scope_wait(rt, NULL, -1);
	return lkdf_close(rt) || rc || all ? 1 : 0;
}
