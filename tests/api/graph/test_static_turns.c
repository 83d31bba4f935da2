/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Long runs that go by their graph's static order, and what goes on beside
 * them: other tasks have their turn, runs overlap, arguments change.
 */
#include "tests/api/api.h"

#include <pthread.h>

#define NR_LINKS 5000
#define NR_OVERLAPPING 40

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, name, &nr));
	return nr;
}

static struct chain {
	struct lkdf *rt;
	struct lkdf_kind *child;
	atomic_int asks, is_there, has_run;
	int nr, ran_at, sum;
} chain;

static int note(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&chain.has_run, 1);
	return 0;
}

static int link_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	chain.sum += *(int *)arg;
	if (++chain.nr == 10 && atomic_load(&chain.asks)) {
		atomic_store(&chain.asks, 2);
		api_until(&chain.is_there);
	}
	if (!chain.ran_at && atomic_load(&chain.has_run))
		chain.ran_at = chain.nr;
	return 0;
}

static void *submit_when_asked(void *arg)
{
	while (atomic_load(&chain.asks) != 2)
		api_nap_ns(50000);
	must(lkdf_submit(chain.rt, NULL, ATTR(lkdf_task, .kind = chain.child),
			 NULL));
	atomic_store(&chain.is_there, 1);
	return arg;
}

static struct lkdf_graph *make_chain(struct lkdf *rt, struct lkdf_kind *k,
				     uint32_t inflight)
{
	struct lkdf_graph *g = api_graph(rt, inflight);
	int i, one = 1;

	for (i = 0; i < NR_LINKS; i++) {
		must(lkdf_graph_add(g, k, &one, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, i - 1, i));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/* A submitted task does not wait until a long run is over. */
static void others_have_their_turn(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "link", link_body, sizeof(int), 0);
	struct lkdf_graph *g = make_chain(rt, k, 1);
	uint64_t before;
	pthread_t thread;

	memset((void *)&chain, 0, sizeof(chain));
	chain.rt = rt;
	chain.child = api_kind(rt, "note", note, 0, 0);
	must(api_run(g, NULL, ATTR(lkdf_run, .times = 20)));
	before = stat_of(rt, "lkdf.runs.static");
	chain.nr = 0;
	atomic_store(&chain.asks, 1);
	pthread_create(&thread, NULL, submit_when_asked, NULL);
	must(api_run(g, NULL, NULL));
	pthread_join(thread, NULL);
	must(lkdf_scope_wait(rt, NULL, -1));
	is(chain.nr, NR_LINKS, "all links of the chain ran");
	ok(chain.ran_at && chain.ran_at < 200,
	   "a task that was submitted at 10 ran before %d of %d", chain.ran_at,
	   NR_LINKS);
	is((int)(stat_of(rt, "lkdf.runs.static") - before), 1,
	   "and the run went by its static order to the end");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(chain.child);
}

static void arguments_change(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "link", link_body, sizeof(int), 0);
	struct lkdf_graph *g = make_chain(rt, k, 1);
	int i, wrong = 0, want = NR_LINKS;

	memset((void *)&chain, 0, sizeof(chain));
	for (i = 0; i < 100; i++) {
		must(lkdf_graph_set(g, 7, &i));
		chain.sum = 0;
		must(api_run(g, NULL, NULL));
		wrong += chain.sum != want - 1 + i;
	}
	is(wrong, 0, "each run has the arguments that were set before it");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static atomic_int total;

static int count(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&total, 1);
	return 0;
}

/* Frames of one graph have each their own way through it. */
static void runs_overlap(struct lkdf *rt)
{
	struct lkdf_kind *k =
		api_kind(rt, "count", count, sizeof(int), LKDF_SHARED);
	struct lkdf_graph *g = make_chain(rt, k, 4);
	struct lkdf_event e[40];
	int i;

	atomic_store(&total, 0);
	for (i = 0; i < NR_OVERLAPPING; i++)
		must(lkdf_graph_run(g, NULL, NULL, &e[i]));
	for (i = 0; i < NR_OVERLAPPING; i++)
		must(lkdf_event_wait(e[i], -1));
	is(atomic_load(&total), NR_LINKS * NR_OVERLAPPING,
	   "runs that overlap: all of them, whole");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static void only_where_wanted(void)
{
	struct lkdf *rt = api_open("workers=1,static_runs=0,final");
	struct lkdf_kind *k = api_kind(rt, "link", link_body, sizeof(int), 0);
	struct lkdf_graph *g = make_chain(rt, k, 1);

	memset((void *)&chain, 0, sizeof(chain));
	must(api_run(g, NULL, ATTR(lkdf_run, .times = 50)));
	is(chain.nr, 50 * NR_LINKS, "static_runs=0: all ran");
	is((int)stat_of(rt, "lkdf.runs.static"), 0, "none by a static order");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

int main(void)
{
	struct lkdf *rt = api_open("workers=1,static_runs=1,final");

	tap_start(120);
	others_have_their_turn(rt);
	arguments_change(rt);
	runs_overlap(rt);
	must(lkdf_close(rt));
	only_where_wanted();
	return tap_end();
}
