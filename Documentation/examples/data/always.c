/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task of a kind that always runs sees why what it reads is not there, and
 * may do without. Prints:
 *
 *   a: Input/output error, so b is the default
 *   b: 1
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

/* Should write a. */
static int load(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "the file is gone");
}

/* Reads a, writes b. */
static int next_or_default(struct lkdf_ctx *c, void *arg)
{
	int why = lkdf_input_error(c, 0), *b = lkdf_ptr(c, 1);

	(void)arg;
	if (!why) {
		*b = *(const int *)lkdf_ptr(c, 0) + 1;
		return 0;
	}
	printf("a: %s, so b is the default\n", strerror(-why));
	*b = 1;
	return 0;
}

static int submit(struct lkdf *rt, lkdf_fn fn, uint32_t flags,
		  const struct lkdf_use *use, unsigned nr)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "body" };
	struct lkdf_task t = { .size = sizeof(t), .use = use, .nr_use = nr };
	int rc;

	a.fn = fn;
	a.flags = flags;
	rc = lkdf_kind_create(rt, &a, &t.kind);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	lkdf_kind_put(t.kind);
	return rc;
}

static int program(struct lkdf *rt, struct lkdf_data *a, struct lkdf_data *b)
{
	struct lkdf_use w[] = { { a, LKDF_WRITE, 0 } };
	struct lkdf_use rw[] = { { a, LKDF_READ, 0 }, { b, LKDF_WRITE, 0 } };
	void *bytes;
	int rc;

	rc = submit(rt, load, 0, w, 1);
	if (!rc)
		rc = submit(rt, next_or_default, LKDF_ALWAYS, rw, 2);
	if (!rc)
		rc = lkdf_data_acquire(b, LKDF_READ, -1, &bytes);
	if (rc)
		return rc;
	printf("b: %d\n", *(int *)bytes);
	return lkdf_data_release(b);
}

int main(void)
{
	struct lkdf_data_attr attr = { .size = sizeof(attr) };
	struct lkdf_data *a = NULL, *b = NULL;
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	attr.bytes = sizeof(int);
	rc = lkdf_data_create(rt, &attr, &a);
	if (!rc)
		rc = lkdf_data_create(rt, &attr, &b);
	if (!rc)
		rc = program(rt, a, b);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_data_put(a);
	lkdf_data_put(b);
	/* The failure of load is still one: it is looked at here */
	if (lkdf_scope_wait(rt, NULL, -1) != -EIO)
		rc = -EBADMSG;
	return lkdf_close(rt) || rc ? 1 : 0;
}
