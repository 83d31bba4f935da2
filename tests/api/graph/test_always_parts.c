/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A whole that was bad in one part before the run, and that a task with
 * LKDF_ALWAYS leaves as it was: the other parts stay good, whatever became of
 * the run.
 */
#include "tests/api/graph/always.h"

#define NR_PARTS 3

static int leave(struct lkdf_ctx *c, void *arg)
{
	int *nr = arg;

	*nr += lkdf_input_error(c, 0) == -EIO;
	return lkdf_use_end(c, 0, true);
}

static int write_one(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) = 5;
	return 0;
}

static int reads(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_data *x,
		 uint32_t part)
{
	atomic_int nr = 0;
	struct lkdf_event done;
	int rc;

	must(submit_on(rt, k, &nr, ON_PART(x, LKDF_READ, part), &done));
	rc = lkdf_event_wait(done, -1);
	return rc ? rc : nr - 1;
}

static void parts_keep_their_own(struct kinds *k)
{
	static const uint64_t init[NR_PARTS] = { 1, 1, 1 };
	struct lkdf_kind *leaves =
		api_kind(k->rt, "leaves", leave, 0, LKDF_ALWAYS);
	struct lkdf_kind *writes = api_kind(k->rt, "writes", write_one, 0, 0);
	struct lkdf_data *x = DATA(k->rt, .bytes = sizeof(init), .init = init);
	struct lkdf_graph *g = api_graph(k->rt, 1);
	atomic_int nr_read = 0;
	int i, nr = 0;

	must(lkdf_data_split(x, NR_PARTS, sizeof(*init)));
	must(add_on(g, leaves, &nr, ON(x, LKDF_RW | LKDF_MAYBE)));
	must(add_on(g, k->count, &nr_read, ON(x, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	must(submit_on(k->rt, k->fails, NULL, ON_PART(x, LKDF_WRITE, 1), NULL));
	lkdf_scope_wait(k->rt, NULL, -1);
	for (i = 1; i <= 2; i++) {
		is(api_run(g, NULL, NULL), -EIO, "%s: run %d: one part is bad",
		   k->how, i);
		is(nr, i, "%s: the task has seen it", k->how);
	}
	is(nr_read, 0, "%s: a reader behind it is skipped", k->how);
	is(reads(k->rt, k->count, x, 1), -EIO, "%s: part 1 is bad", k->how);
	is(reads(k->rt, k->count, x, 2), 0, "%s: part 2 is good", k->how);
	must(submit_on(k->rt, writes, NULL, ON_PART(x, LKDF_WRITE, 1), NULL));
	is(reads(k->rt, k->count, x, 0), 0, "%s: all are, part 1 written anew",
	   k->how);
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(x);
	lkdf_kind_put(writes);
	lkdf_kind_put(leaves);
}

static void test(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct kinds k;

	kinds_init(&k, rt, options);
	parts_keep_their_own(&k);
	kinds_fini(&k);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

int main(void)
{
	tap_start(100);
	test("workers=1");
	test("workers=2");
	test("serial=yes");
	return tap_end();
}
