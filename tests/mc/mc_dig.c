/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Joins that wait for items aside at a gate: each item runs, with a token, also
 * where two joins on two nodes wait for each other's node.
 */
#include "gated.h"

static void init_crossed(void)
{
	init_gate_on(2, 1, 4, true);
	is_bound = true;
	plain_store(&payload, 1);
}

static void until_so_many_aside(uint32_t nr)
{
	while (a_load(&nr_aside, relaxed) < nr)
		a_pause();
}

static void until_no_token(void)
{
	while (gate_running(a_load(&gate.state, relaxed)))
		a_pause();
}

static bool is_child(uint64_t it, const void *u)
{
	return link_of_item(it) == u;
}

static const struct gate_wanted child_1 = { .fits = is_child,
					    .u = &item[1],
					    .nr = 1 };

/* Worker 1 puts a child of worker 0's body aside, which waits for it. */
static void join_digs(int id)
{
	struct worker *w = &workers[id];
	uint64_t it;

	if (id) {
		worker_run(&workers[id]);
		return;
	}
	begin_body(&workers[0]);
	push_rest(1);
	until_aside();
	while (!gate_dig(w, &child_1, &it))
		a_pause();
	mc_see("dug");
	body_begins();
	body_ends();
	body_ends();
	gate_release(&workers[0]);
}

/*
 * Worker 1 waits in a join for a child of its own, which lies aside, and rests
 * without a token until there is one.
 */
static void join_waits(int id)
{
	struct worker *w = &workers[id];
	uint64_t it;

	if (!id) {
		begin_body(w);
		plain_store(&payload, 1);
		until_aside();
		body_ends();
		gate_release(w);
		return;
	}
	run_child(w);
	if (!a_load(&nr_aside, relaxed))
		return;
	while (!gate_dig(w, &child_1, &it))
		a_pause();
	mc_see("waited");
	run_one(w, it);
	gate_release(w);
}

/* A body in which the other worker's child, which is bound here, lies aside. */
static void body_of_join(struct worker *w, uint32_t nr)
{
	begin_body(w);
	until_so_many_aside(nr);
	body_ends();
	gate_release(w);
}

/* As descend_slowly() in task/descend.c: nobody else may run those. */
static void join_both(struct worker *w)
{
	const struct gate_wanted bound = { .nr = 1 };
	uint64_t it;

	while (a_load(&nr_done, relaxed) < nr_items) {
		if (gate_has_bound(w) && gate_dig(w, &bound, &it)) {
			mc_see("another's");
			run_one(w, it);
		}
		gate_release(w);
		a_pause();
	}
}

/*
 * Each worker waits in a join for a child of its own, which lies aside, bound
 * to the other one's node. Nobody has the token.
 */
static void joins_cross(int id)
{
	struct worker *w = &workers[id];

	if (!id) {
		body_of_join(w, 1);
		until_body();
		run_one(w, link_item(&item[1]));
	} else {
		until_body();
		run_one(w, link_item(&item[0]));
		until_no_token();
		body_of_join(w, 2);
	}
	join_both(w);
}

static const struct mc_scenario table[] = {
	{ ROW("a join digs", 2, 3, init_raised, join_digs),
	  .must_see = { "aside", "dug" } },
	{ ROW("a join waits for a token", 2, 3, init_two, join_waits),
	  .must_see = { "aside", "waited" } },
	{ ROW("two joins, each for what is bound to the other's node", 2, 3,
	      init_crossed, joins_cross),
	  .must_see = { "aside", "another's" } },
};

MC_MAIN(table)
