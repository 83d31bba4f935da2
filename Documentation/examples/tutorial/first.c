/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Two tasks and a variable: one task writes it, the other one reads it, so
 * their order follows. README.md shows the three functions below. Prints:
 *
 *   x is 42
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

static int set(struct lkdf_ctx *c, void *value)
{
	*(int *)lkdf_ptr(c, 0) = *(int *)value;
	return 0;
}

static int show(struct lkdf_ctx *c, void *name)
{
	printf("%s is %d\n", (char *)name, *(int *)lkdf_ptr(c, 0));
	return 0;
}

static int start(struct lkdf *rt, const struct lkdf_task *t,
		 struct lkdf_data *x)
{
	struct lkdf_task first = t[0], second = t[1];
	int rc;

	first.use = &(struct lkdf_use){ x, LKDF_WRITE, 0 };
	second.use = &(struct lkdf_use){ x, LKDF_READ, 0 };
	rc = lkdf_submit(rt, NULL, &first, NULL);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &second, NULL);
	return rc ? rc : lkdf_scope_wait(rt, NULL, -1);
}

static int run(struct lkdf *rt, struct lkdf_task *t)
{
	struct lkdf_data *x = NULL;
	int rc;

	rc = lkdf_kind_create(rt, LKDF_KIND(.name = "set", .fn = set),
			      &t[0].kind);
	if (!rc)
		rc = lkdf_kind_create(rt, LKDF_KIND(.name = "show", .fn = show),
				      &t[1].kind);
	if (!rc)
		rc = lkdf_data_create(
			rt, LKDF_ATTR(lkdf_data_attr, .bytes = sizeof(int)),
			&x);
	if (!rc)
		rc = start(rt, t, x);
	lkdf_data_put(x);
	lkdf_kind_put(t[0].kind);
	lkdf_kind_put(t[1].kind);
	return rc;
}

int main(void)
{
	int value = 42;
	struct lkdf_task t[] = {
		{ .size = sizeof(*t), .arg = &value, .nr_use = 1 },
		{ .size = sizeof(*t), .arg = "x", .nr_use = 1 },
	};
	struct lkdf *rt;
	int rc;

	rc = lkdf_open(NULL, &rt);
	if (!rc) {
		rc = run(rt, t);
		if (rc)
			fprintf(stderr, "first: %s\n", lkdf_errmsg());
		lkdf_close(rt);
	}
	return rc ? 1 : 0;
}
