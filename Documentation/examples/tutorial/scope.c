/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A scope is waited for, cancelled and asked as a whole. A body keeps the only
 * worker busy until it is told to stop; the nine tasks behind it never start.
 * Prints:
 *
 *   not yet: 1
 *   wait: Operation canceled
 *   9 tasks were cancelled
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static int body(struct lkdf_ctx *c, void *arg)
{
	atomic_int *is_running = arg;

	atomic_store(is_running, 1);
	while (!lkdf_cancelled(c))
		continue;
	return 0;
}

static int fill(struct lkdf *rt, struct lkdf_scope *s, struct lkdf_kind *k)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = k };
	atomic_int is_running = 0;
	int i, rc;

	t.arg = &is_running;
	rc = lkdf_submit(rt, s, &t, NULL);
	while (!rc && !atomic_load(&is_running))
		continue;
	for (i = 0; i < 9 && !rc; i++)
		rc = lkdf_submit(rt, s, &t, NULL);
	if (!rc)
		printf("not yet: %d\n", lkdf_scope_wait(rt, s, 0));
	lkdf_scope_cancel(rt, s, -ECANCELED);
	return lkdf_scope_wait(rt, s, -1);
}

int main(void)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "body" };
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *s;
	struct lkdf_kind *k;
	struct lkdf *rt;

	/* "final": LKDF_WORKERS does not change it. */
	if (lkdf_open("workers=1,final", &rt))
		return 1;
	a.fn = body;
	if (lkdf_kind_create(rt, &a, &k) || lkdf_scope_create(rt, NULL, &s))
		return 1;
	printf("wait: %s\n", strerror(-fill(rt, s, k)));
	lkdf_scope_error(rt, s, &e);
	printf("%d tasks were cancelled\n", (int)e.nr_cancelled);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	return lkdf_close(rt) ? 1 : 0;
}
