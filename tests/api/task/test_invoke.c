/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Several functions at once: each is called once, here or in a body. */
#include "tests/api/api.h"

#include <lkdf/loop.h>

#define NR 100

struct callee {
	atomic_int nr;
	int returns;
};

static int call(void *u)
{
	struct callee *e = u;

	atomic_fetch_add(&e->nr, 1);
	return e->returns;
}

static struct callee callees[NR];
static struct lkdf_call list[NR];

static void reset_all(void)
{
	int i;

	for (i = 0; i < NR; i++) {
		atomic_store(&callees[i].nr, 0);
		callees[i].returns = 0;
		list[i] = (struct lkdf_call){ call, &callees[i] };
	}
}

static int nr_called(int times)
{
	int i, nr = 0;

	for (i = 0; i < NR; i++)
		nr += atomic_load(&callees[i].nr) == times;
	return nr;
}

static int invoke_in_body(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_invoke_in(c, list, NR);
}

static void each_is_called_once(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "body", invoke_in_body, 0, 0);

	reset_all();
	is(lkdf_invoke(rt, list, NR), 0, "%d functions", NR);
	is(nr_called(1), NR, "each is called once");
	is(api_call(rt, k, NULL), 0, "in a body");
	is(nr_called(2), NR, "each is called once");
	callees[7].returns = 3;
	is(lkdf_invoke(rt, list, NR), 0, "what is no error is no result");
	callees[7].returns = -EIO;
	is(lkdf_invoke(rt, list, NR), -EIO, "an error");
	is(api_call(rt, k, NULL), -EIO, "and in a body");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
}

static void nonsense_is_refused(struct lkdf *rt)
{
	reset_all();
	is(lkdf_invoke(rt, NULL, 0), 0, "no function");
	is(lkdf_invoke(rt, NULL, 1), -EINVAL, "no list");
	list[1].fn = NULL;
	is(lkdf_invoke(rt, list, 2), -EINVAL, "a function that is NULL");
	has(lkdf_errmsg(), "function 1 is NULL", "by number");
	is(nr_called(0), NR, "and none was called");
	is(lkdf_invoke_in(NULL, list, 1), -EINVAL, "no context");
}

static void test_all(struct lkdf *rt, const char *options)
{
	(void)options;
	each_is_called_once(rt);
	nonsense_is_refused(rt);
}

int main(void)
{
	tap_start(30);
	api_each(test_all);
	return tap_end();
}
