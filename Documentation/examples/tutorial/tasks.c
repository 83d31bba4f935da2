/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks without a graph: a body spawns children and joins them. While it waits
 * the worker runs children, so nothing blocks. Prints:
 *
 *   fib(20) = 6765
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

struct fib {
	struct lkdf_kind *kind;
	int n;
	long result;
};

static int fib(struct lkdf_ctx *c, void *arg)
{
	struct fib *f = arg, a = *f, b = *f;
	int rc, joined;

	if (f->n < 2) {
		f->result = f->n;
		return 0;
	}
	a.n = f->n - 1;
	b.n = f->n - 2;
	rc = lkdf_spawn(c, f->kind, &a);
	if (!rc)
		rc = lkdf_spawn(c, f->kind, &b);
	/* a and b are borrowed, not copied: they live until the join is over */
	joined = lkdf_join(c);
	f->result = a.result + b.result;
	return rc ? rc : joined;
}

int main(void)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "fib" };
	struct lkdf_task t = { .size = sizeof(t) };
	struct fib f = { .n = 20 };
	struct lkdf_event done;
	struct lkdf *rt;
	int rc;

	rc = lkdf_open(NULL, &rt);
	if (rc) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		return 1;
	}
	a.fn = fib;
	rc = lkdf_kind_create(rt, &a, &f.kind);
	if (!rc) {
		t.kind = f.kind;
		t.arg = &f;
		rc = lkdf_submit(rt, NULL, &t, &done);
	}
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	else
		printf("fib(%d) = %ld\n", f.n, f.result);
	lkdf_kind_put(f.kind);
	lkdf_close(rt);
	return rc ? 1 : 0;
}
