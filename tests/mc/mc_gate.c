/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Items that are put aside at a gate: none is lost, whoever sleeps, and no more
 * bodies run at once than there are tokens. Workers run idle.c, worker.c and
 * gate.c as they are shipped; an item that nobody comes for is a deadlock.
 */
#include "gated.h"

static void init_three(void)
{
	init_gate(3, 1, 3);
}

static void init_two_tokens(void)
{
	init_gate(2, 2, 3);
}

/* More than fits, and what does not fit runs. */
static void init_full(void)
{
	init_gate(2, 1, 4);
	most = 2;
}

static void init_away(void)
{
	init_raised();
	is_away = true;
	gate.look_ticks = 0;
}

/* Each on a node of its own. */
static void init_bound(void)
{
	init_gate_on(2, 1, 2, true);
	is_bound = true;
}

/* The turn of a node is one body. */
static void init_turn(void)
{
	init_gate_on(2, 1, 3, true);
	nodes[0].nr_workers = nodes[1].nr_workers = 1;
	gate.turn = 1;
}

/* ---- threads ------------------------------------------------------------- */

/* A worker that comes while the body runs puts its item aside, and sleeps. */
static void holder_goes_on(int id)
{
	struct worker *w = &workers[id];
	uint64_t it;

	if (!id) {
		begin_body(w);
		push_rest(1);
		body_ends();
		if (worker_pop(w, &it) || gate_next(w, &it))
			run(w, it);
	}
	worker_run(w);
}

/* Others have put items aside, and sleep perhaps; or have run one. */
static void holder_was_late(int id)
{
	struct worker *w = &workers[id];
	uint64_t it;

	if (!id) {
		begin_body(w);
		push_rest(1);
		if (nr_items > ROOM + 1)
			until_done(1);
		else
			until_aside();
		body_ends();
		if (worker_pop(w, &it) || gate_next(w, &it))
			run(w, it);
	}
	worker_run(w);
}

/* It gives the token up, and does not come by any more. */
static void holder_leaves(int id)
{
	if (id) {
		worker_run(&workers[id]);
		return;
	}
	begin_body(&workers[0]);
	push_rest(1);
	until_aside();
	body_ends();
	gate_release(&workers[0]);
	until_done(nr_items);
}

/* Thread 2 is no worker. */
static void cap_is_raised(int id)
{
	if (id == 1) {
		worker_run(&workers[id]);
	} else if (id == 2) {
		until_aside();
		gate_limit(&gate, 2);
	} else {
		begin_body(&workers[0]);
		push_rest(1);
		until_done(nr_items - 1);
		body_ends();
		gate_release(&workers[0]);
	}
}

/* Two are in bodies, and one of both finds its token gone. */
static void cap_is_lowered(int id)
{
	struct worker *w = &workers[id];
	uint64_t it;

	if (id == 2) {
		while (a_load(&nr_now, relaxed) < 2)
			a_pause();
		gate_limit(&gate, 1);
		return;
	}
	begin_body(w);
	while (gate_cap(a_load(&gate.state, relaxed)) > 1)
		a_pause();
	if (!id)
		push_rest(2);
	body_ends();
	if (!gate_next(w, &it))
		mc_see("lost it");
	else
		run(w, it);
	worker_run(w);
}

static void holder_is_away(int id)
{
	if (id) {
		worker_run(&workers[id]);
		return;
	}
	begin_body(&workers[0]);
	push_rest(1);
	until_done(nr_items - 1);
	mc_see("taken back");
	body_ends();
	gate_release(&workers[0]);
}

/*
 * A holder on node 0, and an item aside that is bound to node 1, whose worker
 * sleeps perhaps: the holder has no item for itself, and wakes it.
 */
static void holder_is_far(int id)
{
	struct worker *w = &workers[id];
	uint64_t it;

	if (!id) {
		begin_body(w);
		plain_store(&payload, 1);
		until_aside();
		body_ends();
		mc_assert(!gate_next(w, &it));
		worker_run(w);
		return;
	}
	run_child(w);
	worker_run(w);
}

/*
 * The holder has an item of its own left, but its node's turn is over: the item
 * lies aside until worker 1, on another node, has had the token.
 */
static void turn_is_over(int id)
{
	struct worker *w = &workers[id];
	uint64_t it;

	if (!id) {
		begin_body(w);
		plain_store(&payload, 1);
		worker_push(w, CLASS_NORMAL, link_item(&item[2]));
		until_aside();
		body_ends();
		mc_assert(!gate_next(w, &it) && gate.nr_turns == 1);
		if (worker_pop(w, &it))
			run_one(w, it);
		until_done(2);
		worker_run(w);
		return;
	}
	run_child(w);
	worker_run(w);
}

static const struct mc_scenario table[] = {
	{ ROW("a holder takes what lies aside", 2, 3, init_two,
	      holder_goes_on) },
	{ ROW("two sleep, and two items", 3, 1, init_three, holder_was_late),
	  .limit = 60000, .must_see = { "aside" } },
	{ ROW("more than fits", 2, 2, init_full, holder_was_late),
	  .must_see = { "aside", "over" } },
	{ ROW("a holder leaves", 2, 3, init_two, holder_leaves),
	  .must_see = { "aside" } },
	{ ROW("the cap is raised", 3, 2, init_raised, cap_is_raised),
	  .must_see = { "aside" } },
	{ ROW("the cap is lowered", 3, 2, init_two_tokens, cap_is_lowered),
	  .limit = 60000, .must_see = { "aside", "lost it" } },
	{ ROW("a holder is away", 2, 3, init_away, holder_is_away),
	  .must_see = { "aside", "taken back" } },
	{ ROW("a node's turn is over", 2, 2, init_turn, turn_is_over),
	  .must_see = { "aside" } },
	{ ROW("a holder of another node", 2, 3, init_bound, holder_is_far),
	  .must_see = { "aside" } },
};

MC_MAIN(table)
