/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An executor has noted the kind of the body that it runs, whichever way the
 * body is called, and has it again when a join or a run within it has ended.
 * A probe is not needed: kinds are told to be noted, as one would have it.
 */
#include "core/runtime.h"
#include "task/ctx.h"
#include "task/kind.h"
#include "tests/api/api.h"

#define NR_KINDS 3
#define NR_STEPS 96 /* of a chain: kinds are not sampled any more */
#define DEPTH 6
#define NR_TREES 8

struct node {
	int kind, depth;
};

static struct lkdf_kind *kinds[NR_KINDS];
static struct node nodes[NR_KINDS][DEPTH + 1];
static atomic_int nr_wrong, nr_bodies;

static void look(struct lkdf_ctx *c, const struct node *n)
{
	if (a_load(&c->ex->noted, relaxed) != kinds[n->kind]->trace_name)
		nr_wrong++;
}

/* Of all kinds: children are of other kinds, the last one of the same. */
static int body(struct lkdf_ctx *c, void *arg)
{
	const struct node *n = arg;
	int i, k;

	nr_bodies++;
	look(c, n);
	for (i = 1; n->depth && i <= NR_KINDS; i++) {
		k = (n->kind + i) % NR_KINDS;
		must(lkdf_spawn(c, kinds[k], &nodes[k][n->depth - 1]));
		if (i == 2)
			must(lkdf_join(c));
		look(c, n);
	}
	must(lkdf_join(c));
	look(c, n);
	return 0;
}

static void run_chain(struct lkdf *rt)
{
	int i, id, last = 0;
	struct lkdf_event done;
	struct lkdf_graph *g;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < NR_STEPS; i++) {
		id = must(lkdf_graph_add(g, kinds[i % NR_KINDS],
					 &nodes[i % NR_KINDS][i % 16 == 9],
					 NULL, 0));
		if (i)
			must(lkdf_graph_order(g, last, id));
		last = id;
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 4; i++) {
		must(lkdf_graph_run(g, NULL, NULL, &done));
		must(lkdf_event_wait(done, -1));
	}
	lkdf_graph_put(g);
}

static void run_trees(struct lkdf *rt)
{
	int i;

	for (i = 0; i < NR_TREES; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = kinds[i % NR_KINDS],
				      .arg = &nodes[i % NR_KINDS][DEPTH]),
				 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
}

static void note(struct lkdf_kind *k, void *notes)
{
	a_or(&k->slow, *(uint32_t *)notes, relaxed);
}

static void make_kinds(struct lkdf *rt, uint32_t notes)
{
	char name[16];
	int k, d;

	for (k = 0; k < NR_KINDS; k++) {
		snprintf(name, sizeof(name), "k%d", k);
		kinds[k] = api_kind(rt, name, body, 0, 0);
		pthread_mutex_lock(&rt->lock);
		kind_each_copy(kinds[k], note, &notes);
		pthread_mutex_unlock(&rt->lock);
		for (d = 0; d <= DEPTH; d++)
			nodes[k][d] = (struct node){ k, d };
	}
}

static bool none_is_noted(struct lkdf *rt)
{
	int i;

	for (i = 0; i < rt->nr_executors; i++)
		if (a_load(&rt->executors[i].noted, relaxed))
			return false;
	return true;
}

static void body_has_its_kind(const char *what, const char *options,
			      uint32_t notes)
{
	struct lkdf *rt = api_open(options);
	bool is_empty;
	int k;

	nr_wrong = nr_bodies = 0;
	make_kinds(rt, notes);
	run_chain(rt);
	run_trees(rt);
	run_chain(rt);
	is_empty = none_is_noted(rt);
	for (k = 0; k < NR_KINDS; k++)
		lkdf_kind_put(kinds[k]);
	must(lkdf_close(rt));
	ok(nr_bodies && !nr_wrong && is_empty,
	   "%s (%s): %d of %d looks were wrong, then none is noted", what,
	   options, nr_wrong, nr_bodies);
}

int main(void)
{
	tap_start(120);
	body_has_its_kind("noted", "workers=1,signal=off", SLOW_NOTED);
	body_has_its_kind("noted", "workers=2,signal=off", SLOW_NOTED);
	body_has_its_kind("noted", "workers=1,signal=off,static_runs=0",
			  SLOW_NOTED);
	body_has_its_kind("noted and counted, without rows",
			  "workers=2,signal=off", SLOW_NOTES);
	body_has_its_kind("noted and counted", "workers=2,signal=off,kinds=yes",
			  0);
	body_has_its_kind("noted and counted",
			  "workers=1,static_runs=0,signal=off,kinds=yes", 0);
	return tap_end();
}
