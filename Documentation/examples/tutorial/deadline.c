/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task that starts after an event, and does not wait for it longer than a
 * millisecond where it is told so. Prints:
 *
 *   the body runs
 *   in time: Success
 *   late: Timer expired
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	printf("the body runs\n");
	return 0;
}

static int late_or_not(struct lkdf *rt, struct lkdf_kind *k, bool is_late)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = k };
	struct lkdf_event go, done;
	int rc;

	rc = lkdf_event_create(rt, 1, 0, &go);
	if (rc)
		return rc;
	t.after = &go;
	t.nr_after = 1;
	t.deadline_ns = is_late ? 1000000 : 0;
	rc = lkdf_submit(rt, NULL, &t, &done);
	if (!is_late)
		lkdf_event_signal(go, 0);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (is_late)
		lkdf_event_signal(go, 0);
	lkdf_event_put(go);
	return rc;
}

int main(void)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "body" };
	struct lkdf_kind *k;
	struct lkdf *rt;

	if (lkdf_open(NULL, &rt))
		return 1;
	a.fn = body;
	if (lkdf_kind_create(rt, &a, &k))
		return 1;
	printf("in time: %s\n", strerror(-late_or_not(rt, k, false)));
	printf("late: %s\n", strerror(-late_or_not(rt, k, true)));
	/* The scope knows of it, too. */
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
	return lkdf_close(rt) ? 1 : 0;
}
