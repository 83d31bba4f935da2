/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program that hangs, for Documentation/debugging.rst: a task starts after an
 * event, and nobody signals the event. With "--for-ever" the main thread waits
 * for the task; else it asks lkdf_why() what waits, signals, and ends.
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

static int count(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	++*(int *)arg;
	return 0;
}

static int run(struct lkdf *rt, struct lkdf_kind *k, bool for_ever)
{
	struct lkdf_event go, done;
	int nr = 0, rc;

	rc = lkdf_event_create(rt, 1, 0, &go);
	if (rc)
		return rc;
	rc = lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &nr, .after = &go,
				   .nr_after = 1),
			 &done);
	if (!rc && !for_ever && lkdf_event_wait(done, 0) == 1) {
		lkdf_why(rt, "text", 1);
		lkdf_event_signal(go, 0);
	}
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	lkdf_event_put(go);
	return rc;
}

int main(int argc, char **argv)
{
	struct lkdf_kind *k;
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = lkdf_kind_create(rt, LKDF_KIND(.name = "count", .fn = count), &k);
	if (!rc) {
		rc = run(rt, k, argc > 1 && !strcmp(argv[1], "--for-ever"));
		lkdf_kind_put(k);
	}
	return lkdf_close(rt) || rc;
}
