/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task that fails leaves bytes that nobody must use: they are poisoned, and
 * so is what would have been made from them. A successful write heals. Prints:
 *
 *   first: Input/output error, 1 failed, 1 skipped: load: line 12 is too long
 *   b: Input/output error
 *   after another load: b = 43
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

struct kinds {
	struct lkdf_kind *load, *next;
};

/* Writes a; fails where it is told to. */
static int load(struct lkdf_ctx *c, void *arg)
{
	if (*(bool *)arg)
		return lkdf_fail(c, -EIO, "line %d is too long", 12);
	*(int *)lkdf_ptr(c, 0) = 42;
	return 0;
}

/* Reads a, writes b. */
static int next(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(int *)lkdf_ptr(c, 1) = *(int *)lkdf_ptr(c, 0) + 1;
	return 0;
}

/* load -> a -> next -> b */
static int submit_both(struct lkdf *rt, const struct kinds *k,
		       struct lkdf_data *a, struct lkdf_data *b, bool fails)
{
	struct lkdf_use w[] = { { a, LKDF_WRITE, 0 } };
	struct lkdf_use rw[] = { { a, LKDF_READ, 0 }, { b, LKDF_WRITE, 0 } };
	struct lkdf_task t = { .size = sizeof(t), .kind = k->load };
	int rc;

	t.arg = &fails;
	t.use = w;
	t.nr_use = 1;
	rc = lkdf_submit(rt, NULL, &t, NULL);
	t.kind = k->next;
	t.use = rw;
	t.nr_use = 2;
	return rc ? rc : lkdf_submit(rt, NULL, &t, NULL);
}

static int show_failure(struct lkdf *rt, struct lkdf_data *b)
{
	struct lkdf_error e = { .size = sizeof(e) };
	int rc;

	rc = lkdf_scope_wait(rt, NULL, -1);
	lkdf_scope_error(rt, NULL, &e);
	printf("first: %s, %d failed, %d skipped: %s\n", strerror(-rc),
	       (int)e.nr_failed, (int)e.nr_skipped, e.why);
	rc = lkdf_data_acquire(b, LKDF_READ, -1, NULL);
	printf("b: %s\n", strerror(-rc));
	return rc ? 0 : -EBADMSG;
}

static int run(struct lkdf *rt, const struct kinds *k, struct lkdf_data *a,
	       struct lkdf_data *b)
{
	void *bytes;
	int rc;

	rc = submit_both(rt, k, a, b, true);
	if (!rc)
		rc = show_failure(rt, b);
	if (!rc)
		rc = submit_both(rt, k, a, b, false);
	if (!rc)
		rc = lkdf_data_acquire(b, LKDF_READ, -1, &bytes);
	if (rc)
		return rc;
	printf("after another load: b = %d\n", *(int *)bytes);
	return lkdf_data_release(b);
}

static int make_kinds(struct lkdf *rt, struct kinds *k)
{
	struct lkdf_kind_attr l = { .size = sizeof(l), .name = "load" };
	struct lkdf_kind_attr n = { .size = sizeof(n), .name = "next" };
	int rc;

	l.fn = load;
	l.arg_size = sizeof(bool);
	n.fn = next;
	rc = lkdf_kind_create(rt, &l, &k->load);
	return rc ? rc : lkdf_kind_create(rt, &n, &k->next);
}

int main(void)
{
	struct lkdf_data_attr attr = { .size = sizeof(attr) };
	struct lkdf_data *a = NULL, *b = NULL;
	struct kinds k = { 0 };
	struct lkdf *rt;
	int rc, all;

	if (lkdf_open(NULL, &rt))
		return 1;
	attr.bytes = sizeof(int);
	rc = make_kinds(rt, &k);
	if (!rc)
		rc = lkdf_data_create(rt, &attr, &a);
	if (!rc)
		rc = lkdf_data_create(rt, &attr, &b);
	if (!rc)
		rc = run(rt, &k, a, b);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_data_put(a);
	lkdf_data_put(b);
	lkdf_kind_put(k.load);
	lkdf_kind_put(k.next);
	all = lkdf_scope_wait(rt, NULL, -1);
	return lkdf_close(rt) || rc || all ? 1 : 0;
}
