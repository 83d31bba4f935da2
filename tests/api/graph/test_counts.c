/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counts of a run that ended well: lkdf_event_error() tells how many tasks no
 * branch has chosen, in all repetitions of a run and all waves of a stream.
 */
#include "tests/api/api.h"

#define NR_WAVES 10

/* Chooses branch 1 of two. */
static int choose_one(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 1;
}

/* chooses -> nothing, nothing, nothing: two behind branch 0. */
static struct lkdf_graph *make_graph(struct lkdf *rt)
{
	struct lkdf_kind *first = api_kind(rt, "chooses", choose_one, 0, 0);
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 4);
	int i;

	must(lkdf_graph_add(g, first, NULL, NULL, 0));
	for (i = 1; i <= 3; i++) {
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
		must(lkdf_graph_branch(g, 0, i == 3, i));
	}
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(first);
	lkdf_kind_put(k);
	return g;
}

static void ok_counts(struct lkdf_graph *g, const struct lkdf_run *r,
		      uint64_t nr, const char *what)
{
	struct lkdf_error e = { .size = sizeof(e), .err = 1 };
	struct lkdf_event done;

	must(lkdf_graph_run(g, NULL, r, &done));
	while (lkdf_event_error(done, &e) == 1)
		api_nap_ns(100000);
	is(e.err, 0, "%s ends well", what);
	is(e.nr_unchosen, nr, "%s: tasks that were not chosen", what);
	is(e.nr_failed + e.nr_skipped + e.nr_cancelled, 0, "%s: no others",
	   what);
	has(e.graph, nr ? "graph" : "", "%s: of which graph", what);
	is(lkdf_event_wait(done, -1), 0, "%s: nor has a wait an error", what);
}

int main(void)
{
	struct lkdf_graph *g, *plain;
	struct lkdf_kind *k;
	struct lkdf *rt;

	tap_start(60);
	rt = api_open("workers=2");
	g = make_graph(rt);
	ok_counts(g,
		  ATTR(lkdf_run, .flags = LKDF_RUN_STREAM, .times = NR_WAVES),
		  2 * NR_WAVES, "a stream");
	ok_counts(g, NULL, 2, "a run");
	ok_counts(g, ATTR(lkdf_run, .times = 3), 6, "a run with repetitions");
	plain = api_graph(rt, 1);
	k = api_kind(rt, "nothing", api_nothing, 0, 0);
	must(lkdf_graph_add(plain, k, NULL, NULL, 0));
	must(lkdf_graph_seal(plain, NULL));
	ok_counts(plain, NULL, 0, "a run without branches");
	lkdf_kind_put(k);
	lkdf_graph_put(plain);
	lkdf_graph_put(g);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
