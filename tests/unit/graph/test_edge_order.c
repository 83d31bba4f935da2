/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The order in which the edges of a task are resolved, as seal leaves it: what
 * leaves a loop, what stays, what closes the loop. Branches are numbered so
 * that sorted numbers give another order. tests/mc/mc_loop.c shows what goes
 * wrong in that order.
 */
#include "graph/control.h"
#include "graph/graph.h"
#include "graph/region.h"
#include "tests/api/api.h"

/* The loop of INNER lies in that of OUTER; CHOICE leads out of both. */
enum task {
	START,
	OUTER,
	INNER,
	CHOICE,
	ONE,
	TWO,
	LATCH,
	END,
	AFTER,
	NR_TASKS,
};

static int returned; /* by CHOICE */

static int choose(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return (intptr_t)arg == CHOICE ? returned : LKDF_NO_BRANCH;
}

static struct lkdf_graph *make_graph(struct lkdf *rt, struct lkdf_kind *k)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	intptr_t t;

	for (t = START; t < NR_TASKS; t++)
		must(lkdf_graph_add(g, k, (void *)t, NULL, 0));
	must(lkdf_graph_order(g, START, OUTER));
	must(lkdf_graph_order(g, OUTER, INNER));
	must(lkdf_graph_order(g, INNER, CHOICE));
	must(lkdf_graph_back(g, CHOICE, 0, INNER));
	must(lkdf_graph_branch(g, CHOICE, 1, ONE));
	must(lkdf_graph_branch(g, CHOICE, 2, AFTER));
	must(lkdf_graph_branch(g, CHOICE, 3, TWO));
	must(lkdf_graph_back(g, CHOICE, 4, OUTER));
	must(lkdf_graph_branch(g, CHOICE, 5, ONE));
	must(lkdf_graph_branch(g, CHOICE, 7, END));
	must(lkdf_graph_order(g, CHOICE, LATCH));
	must(lkdf_graph_branch(g, ONE, 0, LATCH));
	must(lkdf_graph_branch(g, TWO, 0, LATCH));
	must(lkdf_graph_back(g, LATCH, 0, INNER));
	must(lkdf_graph_branch(g, LATCH, 1, END));
	must(lkdf_graph_back(g, END, 0, OUTER));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

/* The first edge is 0, then 1, then 2: never less than the one before. */
static int turn_of(const struct control_edge *e)
{
	if (e->flags & CONTROL_EXIT)
		return 0;
	return e->flags & CONTROL_BACK ? 2 : 1;
}

static void check_task(const struct lkdf_graph *g, uint32_t t)
{
	const struct rec *r = &g->recs[graph_index(g, t)];
	const struct control_edge *e;
	uint32_t i;
	bool good = true;

	if (r->nr_succ != REC_CONTROL)
		return;
	e = g->control->out + r->succ[0];
	for (i = 1; i < r->succ[1]; i++)
		good &= turn_of(&e[i - 1]) <= turn_of(&e[i]);
	ok(good, "task %u resolves its %u edges in order", t, r->succ[1]);
}

static void edges_are_in_order(const struct lkdf_graph *g)
{
	const struct rec *r = &g->recs[graph_index(g, CHOICE)];
	const struct control_edge *e = g->control->out + r->succ[0];
	uint32_t t, i, nr[3] = { 0 };

	for (t = 0; t < g->nr_tasks; t++)
		check_task(g, t);
	for (i = 0; i < r->succ[1]; i++)
		nr[turn_of(&e[i])]++;
	ok(nr[0] == 3 && nr[1] == 4 && nr[2] == 1,
	   "3 edges leave, 4 stay, 1 closes the loop");
	is(e->nr_dense, 6, "all of 0 .. 5 are branches");
}

static void edges_beside_arms_are_in_order(const struct lkdf_graph *g)
{
	const struct choices *all = &g->control->choices;
	const struct choice *ch;
	uint32_t i, nr = 0;
	bool good = true;

	ok(all->nr, "the graph has a choice with arms");
	for (ch = all->choice; ch < all->choice + all->nr; ch++, nr++)
		for (i = 1; i < ch->nr_others; i++)
			good &= all->other[ch->first_other + i - 1] <
				all->other[ch->first_other + i];
	ok(good && nr, "what is told beside the arms is told in order");
}

static void regions_have_branches_by_number(const struct lkdf_graph *g)
{
	struct region **all = g->control->regions;
	const struct region_task *t;
	uint32_t l, i, nr = 0;
	bool good = true;

	for (l = 0; l < g->control->nr_loops; l++) {
		if (!all || !all[l])
			continue;
		nr++;
		for (t = all[l]->task; t < all[l]->task + all[l]->nr; t++)
			for (i = t->first_branch + 1; i < t->end; i++)
				good &= all[l]->edge[i - 1].branch <=
					all[l]->edge[i].branch;
	}
	is((int)nr, 2, "both loops have a region");
	ok(good, "its edges are sorted by branch");
}

static void a_refusal_lists_branches_by_number(struct lkdf_graph *g)
{
	struct lkdf_event done;

	returned = 6;
	must(lkdf_graph_run(g, NULL, NULL, &done));
	is(lkdf_event_wait(done, -1), -ERANGE, "6 is no branch");
	ok(strstr(lkdf_errmsg(), "0, 1, 2, 3, 4, 5, 7"),
	   "the message lists branches by number: %s", lkdf_errmsg());
}

int main(void)
{
	struct lkdf_kind *k;
	struct lkdf_graph *g;
	struct lkdf *rt;

	tap_start(60);
	setenv("LKDF_LOG", "none", 0);
	must(lkdf_open("workers=1,loop_regions=yes", &rt));
	k = api_kind(rt, "choose", choose, 0, 0);
	g = make_graph(rt, k);
	edges_are_in_order(g);
	edges_beside_arms_are_in_order(g);
	regions_have_branches_by_number(g);
	a_refusal_lists_branches_by_number(g);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
