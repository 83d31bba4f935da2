/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A limit: tasks of the kind start only when a token is there, and give it
 * back however they end. Nobody waits on a thread for it. Prints:
 *
 *   100 tasks have run, never more than 2 at a time
 */
#include <lkdf/lkdf.h>
#include <stdatomic.h>
#include <stdio.h>

struct count {
	atomic_int nr_now, nr_runs, is_over;
};

static int body(struct lkdf_ctx *c, void *arg)
{
	struct count *n = arg;

	(void)c;
	if (atomic_fetch_add(&n->nr_now, 1) >= 2)
		atomic_store(&n->is_over, 1);
	atomic_fetch_add(&n->nr_runs, 1);
	atomic_fetch_sub(&n->nr_now, 1);
	return 0;
}

static int run(struct lkdf *rt, struct lkdf_limit *l, struct count *n)
{
	struct lkdf_limit_use use = { .limit = l, .tokens = 1 };
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "body" };
	struct lkdf_task t = { .size = sizeof(t), .arg = n };
	int i, rc;

	a.fn = body;
	a.limit = &use;
	a.nr_limit = 1;
	rc = lkdf_kind_create(rt, &a, &t.kind);
	for (i = 0; i < 100 && !rc; i++)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	if (!rc)
		rc = lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(t.kind);
	return rc;
}

int main(void)
{
	struct lkdf_limit *l = NULL;
	struct count n = { 0, 0, 0 };
	struct lkdf *rt;
	int rc;

	rc = lkdf_open("workers=4", &rt);
	if (rc) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		return 1;
	}
	rc = lkdf_limit_create(rt, 2, &l);
	if (!rc)
		rc = run(rt, l, &n);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	else if (!n.is_over)
		printf("%d tasks have run, never more than 2 at a time\n",
		       n.nr_runs);
	lkdf_limit_put(l);
	lkdf_close(rt);
	return rc ? 1 : 0;
}
