/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task gives a data on before it ends: here it could not end otherwise,
 * because the reader is the one who ends it. And a use that may turn out to
 * write nothing does not count as a write. Prints:
 *
 *   reader: 7
 *   writer: ended by the reader
 *   version 2
 *   version 2 after a use that left it untouched
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>

/* Writes, gives on, and goes on: until the event, which the reader signals. */
static int write_and_go_on(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_event *e = arg;
	int rc;

	rc = lkdf_hold(c, e);
	if (rc)
		return rc;
	*(int *)lkdf_ptr(c, 0) = 7;
	return lkdf_use_end(c, 0, false);
}

static int read_and_signal(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_event *e = arg;

	printf("reader: %d\n", *(int *)lkdf_ptr(c, 0));
	return lkdf_event_signal(*e, 0);
}

/* Clears what is negative: nothing, here. */
static int clear_negative(struct lkdf_ctx *c, void *arg)
{
	int *v = lkdf_ptr(c, 0);

	(void)arg;
	if (*v >= 0)
		return lkdf_use_end(c, 0, true);
	*v = 0;
	return 0;
}

static int submit(struct lkdf *rt, lkdf_fn fn, void *arg, struct lkdf_use use,
		  struct lkdf_event *done)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "body" };
	struct lkdf_task t = { .size = sizeof(t), .arg = arg, .nr_use = 1 };
	int rc;

	a.fn = fn;
	t.use = &use;
	rc = lkdf_kind_create(rt, &a, &t.kind);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, done);
	lkdf_kind_put(t.kind);
	return rc;
}

static int give_on(struct lkdf *rt, struct lkdf_data *d)
{
	struct lkdf_use w = { d, LKDF_WRITE, 0 }, r = { d, LKDF_READ, 0 };
	struct lkdf_event done, held;
	int rc, all;

	rc = submit(rt, write_and_go_on, &held, w, &done);
	if (rc)
		return rc;
	rc = submit(rt, read_and_signal, &held, r, NULL);
	if (rc)
		return rc;
	rc = lkdf_event_wait(done, -1);
	all = lkdf_scope_wait(rt, NULL, -1);
	if (rc || all)
		return rc ? rc : all;
	printf("writer: ended by the reader\n");
	printf("version %d\n", (int)lkdf_data_version(d));
	return 0;
}

static int leave_untouched(struct lkdf *rt, struct lkdf_data *d)
{
	struct lkdf_use maybe = { d, LKDF_RW | LKDF_MAYBE, 0 };
	int rc;

	rc = submit(rt, clear_negative, NULL, maybe, NULL);
	if (!rc)
		rc = lkdf_data_acquire(d, LKDF_READ, -1, NULL);
	if (rc)
		return rc;
	printf("version %d after a use that left it untouched\n",
	       (int)lkdf_data_version(d));
	return lkdf_data_release(d);
}

int main(void)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .bytes = sizeof(int) };
	static const int zero;
	struct lkdf_data *d = NULL;
	struct lkdf *rt;
	int rc, all;

	if (lkdf_open(NULL, &rt))
		return 1;
	a.init = &zero;
	rc = lkdf_data_create(rt, &a, &d);
	if (!rc)
		rc = give_on(rt, d);
	if (!rc)
		rc = leave_untouched(rt, d);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_data_put(d);
	all = lkdf_scope_wait(rt, NULL, -1);
	return lkdf_close(rt) || rc || all ? 1 : 0;
}
