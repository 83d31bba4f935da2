/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calls that run a graph several times: each repetition leaves its data as a
 * run of its own would, whether or not somebody else gets his turn in between.
 */
#include "tests/api/using.h"

/* Which run fails, counted from 0. */
struct plan {
	int run, fails;
};

static int fail_in_turn(struct lkdf_ctx *c, void *arg)
{
	struct plan *p = arg;

	*(uint64_t *)lkdf_ptr(c, 0) = 7;
	return p->run++ == p->fails ? -ERANGE : 0;
}

static int fail_io(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "on purpose");
}

/* The first heals what was there before; a later one fails, or none. */
static void a_repetition_heals(struct lkdf *rt, const char *how, int fails)
{
	struct lkdf_data *d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 1 });
	struct lkdf_kind *bad = api_kind(rt, "bad", fail_io, 0, 0);
	struct lkdf_kind *k = api_kind(rt, "plan", fail_in_turn, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int expected = fails < 3 ? -ERANGE : 0;
	/* The first error stays until it is healed. */
	int left = fails ? expected : -EIO;
	struct plan p = { .fails = fails };

	must(add_on(g, k, &p, ON(d, LKDF_WRITE)));
	must(lkdf_graph_seal(g, NULL));
	must(submit_on(rt, bad, NULL, ON(d, LKDF_WRITE), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "%s: a task fails", how);
	is(api_run(g, NULL, ATTR(lkdf_run, .times = 3)), expected,
	   "%s: then of three runs in one call %d", how, fails);
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), left,
	   "%s: the data has the first error since it was good", how);
	if (!left)
		must(lkdf_data_release(d));
	is((int)lkdf_data_version(d), 1 + (fails < 3 ? fails : 3),
	   "%s: and as many versions as runs that were good", how);
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(bad);
	lkdf_kind_put(k);
}

int main(void)
{
	static const char *const options[] = { "workers=1", "workers=2",
					       "serial=yes" };
	struct lkdf *rt;
	size_t i;
	int fails;

	tap_start(60);
	for (i = 0; i < LENGTH(options); i++) {
		rt = api_open(options[i]);
		for (fails = 0; fails <= 3; fails++)
			a_repetition_heals(rt, options[i], fails);
		is(lkdf_close(rt), 0, "%s: the runtime closes", options[i]);
	}
	return tap_end();
}
