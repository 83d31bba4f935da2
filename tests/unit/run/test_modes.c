/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The mode of a run: each graph has the one that is for it, in each run anew,
 * and its tasks run in it.
 */
#include "core/runtime.h"
#include "graph/graph.h"
#include "run/mode.h"
#include "tests/api/using.h"

#include <string.h>

#define NR_TASKS 4
#define NR_ROUNDS 3

static int nr_calls;

static int count(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	nr_calls++;
	return 0;
}

/* Goes back until it has been called so often. */
static int turn(struct lkdf_ctx *c, void *arg)
{
	int *nr = arg;

	(void)c;
	nr_calls++;
	return ++*nr % NR_ROUNDS == 0;
}

static int touch(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	memset(lkdf_ptr(c, 0), 1, 64);
	nr_calls++;
	return 0;
}

static const char *mode_of(const struct lkdf_graph *g)
{
	return g->frames[0].mode ? g->frames[0].mode->name : "none";
}

static struct lkdf_graph *chain_of(struct lkdf *rt, struct lkdf_kind *k,
				   uint32_t inflight)
{
	struct lkdf_graph *g = api_graph(rt, inflight);
	int i;

	for (i = 0; i < NR_TASKS; i++) {
		must(lkdf_graph_add(g, k, NULL, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, i - 1, i));
	}
	return g;
}

/* Seals and runs it so often, and puts it; all its tasks have run. */
static void runs_as(struct lkdf_graph *g, int times, int calls,
		    const char *mode)
{
	int i;

	must(lkdf_graph_seal(g, NULL));
	is(strcmp(mode_of(g), "none"), 0, "%s: no mode before a run", mode);
	nr_calls = 0;
	for (i = 0; i < times; i++)
		must(api_run(g, NULL, NULL));
	ok(!strcmp(mode_of(g), mode), "%s is its mode", mode);
	is(nr_calls, times * calls, "%s: its tasks run once a run", mode);
	lkdf_graph_put(g);
}

static void chains(struct lkdf *rt)
{
	struct lkdf_kind *plain = api_kind(rt, "plain", count, 0, 0);

	runs_as(chain_of(rt, plain, 0), 1, NR_TASKS, "plain");
	runs_as(chain_of(rt, plain, 0), 9, NR_TASKS, "static");
	/* The kind may not overlap itself, so runs wait for each other. */
	runs_as(chain_of(rt, plain, 4), 1, NR_TASKS, "tokens");
	lkdf_kind_put(plain);
}

static void loops(const char *options, const char *mode)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *plain = api_kind(rt, "plain", count, 0, 0);
	struct lkdf_kind *latch = api_kind(rt, "latch", turn, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 0);
	int nr = 0, last;

	must(lkdf_graph_add(g, plain, NULL, NULL, 0));
	must(lkdf_graph_add(g, plain, NULL, NULL, 0));
	last = must(lkdf_graph_add(g, latch, &nr, NULL, 0));
	must(lkdf_graph_add(g, plain, NULL, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_order(g, 1, last));
	must(lkdf_graph_back(g, last, 0, 1));
	must(lkdf_graph_branch(g, last, 1, 3));
	runs_as(g, 2, 2 + 2 * NR_ROUNDS, mode);
	lkdf_kind_put(plain);
	lkdf_kind_put(latch);
	api_close(rt);
}

/* Bytes that live in the run alone. */
static void once(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "touch", touch, 0, 0);
	struct lkdf_data *d = DATA(rt, .bytes = 64, .flags = LKDF_DATA_ONCE);
	struct lkdf_graph *g = api_graph(rt, 0);
	const struct lkdf_use write = { .data = d, .mode = LKDF_WRITE };

	must(lkdf_graph_add(g, k, NULL, &write, 1));
	runs_as(g, 1, 1, "transient");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

int main(void)
{
	struct lkdf *rt;

	tap_start(60);
	rt = api_open("workers=1,static_runs=4");
	chains(rt);
	once(rt);
	api_close(rt);
	loops("workers=1", "regions");
	loops("workers=1,loop_regions=no", "control");
	return tap_end();
}
