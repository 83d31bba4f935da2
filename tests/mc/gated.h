/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A gate and its items for the scenarios of mc_gate.c and mc_dig.c. Workers run
 * idle.c, worker.c and gate.c as they are shipped; an item that nobody comes
 * for is a deadlock.
 */
#ifndef MC_GATED_H
#define MC_GATED_H

#include "mechanism/gate/gate.h"
#include "strand.h"

#define NR_ITEMS 4
#define ROOM 2

static _Alignas(LINK_ALIGN) struct link item[NR_ITEMS];
static struct gate gate;
static struct gate_node rings[2];
static uint64_t room[2][NR_GATE_RINGS][ROOM];
static _Atomic(uint32_t) nr_now, nr_done, nr_aside;
static uint32_t nr_items, most; /* of bodies, at once */
static bool is_away, is_bound;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

static void body_ends(void)
{
	a_sub(&nr_now, 1, relaxed);
	if (a_add(&nr_done, 1, relaxed) + 1 == nr_items)
		stop();
}

static void body_begins(void)
{
	uint32_t now = a_add(&nr_now, 1, relaxed) + 1;

	mc_assert(now <= most);
}

/* Who meets an item that is bound is of its node. */
static struct gate_item item_of(const struct worker *w, uint64_t it)
{
	struct gate_item i = { .item = it,
			       .why = GATE_PASS_URGENT,
			       .node = GATE_HERE,
			       .ring = GATE_NORMAL };

	if (is_bound && it) {
		i.node = w->id;
		i.ring = GATE_BOUND;
	}
	return i;
}

static void run_one(struct worker *w, uint64_t it)
{
	if (!gate_enter(&gate, w, item_of(w, it))) {
		a_add(&nr_aside, 1, relaxed);
		mc_see("aside");
		return;
	}
	mc_assert(plain_load(&payload) == 1);
	body_begins();
	body_ends();
}

/* As run_items() in run/run.c. */
static void run(struct worker *w, uint64_t it)
{
	do {
		run_one(w, it);
	} while (worker_pop(w, &it) || gate_next(w, &it));
	mc_assert(!a_load(&gate_of(w)->gate, relaxed));
}

static uint64_t away_ns(const struct worker *w)
{
	return is_away && w->id == 0 ? GATE_AWAY_NS : 0;
}

static void init_rings(void)
{
	int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < NR_GATE_RINGS; k++) {
			a_store(&rings[i].ring[k].nr, 0, relaxed);
			rings[i].ring[k].first = 0;
			rings[i].ring[k].room = ROOM;
			rings[i].ring[k].at = room[i][k];
		}
}

static void init_gate_on(int nr, uint32_t cap, uint32_t items, bool is_spread)
{
	int i;

	init_with(nr, is_spread);
	for (i = 0; i < NR_ITEMS; i++)
		item[i].class = CLASS_NORMAL;
	gate.sched = &sched;
	gate.look_ticks = GATE_LOOK_NS;
	gate.patience_ticks = GATE_PATIENCE_NS;
	gate.turn_ticks = GATE_TURN_NS;
	gate.turn = GATE_TURN;
	gate.home = -1;
	a_store(&gate.kept_for, -1, relaxed);
	gate.nr_turns = 0;
	a_store(&gate.state, gate_make(cap, 0, 0), relaxed);
	a_store(&gate.looked_at, 0, relaxed);
	a_store(&gate.lock.word, 0, relaxed);
	gate.most_running = 0;
	gate.node = rings;
	gate.room_most = ROOM;
	init_rings();
	gate.nr_aside = gate.nr_held = gate.nr_revoked = 0;
	memset(gate.nr_over, 0, sizeof(gate.nr_over));
	gate.seen = gate.seen_at = 0;
	gate.next = NULL;
	a_store(&gate_in(&sched)->gates, &gate, relaxed);
	a_store(&nr_now, 0, relaxed);
	a_store(&nr_done, 0, relaxed);
	a_store(&nr_aside, 0, relaxed);
	nr_items = items;
	most = cap;
	is_away = is_bound = false;
	sched.ops.away_ns = away_ns;
	mc_name(&gate.state, "gate");
	mc_name(&gate.lock.word, "lock");
	mc_name(&gate_of(&workers[0])->gate, "token0");
	mc_name(&gate_of(&workers[1])->gate, "token1");
	mc_name(&nr_done, "nr_done");
}

static void init_gate(int nr, uint32_t cap, uint32_t items)
{
	init_gate_on(nr, cap, items, false);
}

/* Worker 0 pushes those for others while it is in a body of its own. */
static void push_rest(uint32_t from)
{
	struct worker *w = &workers[0];
	uint32_t i;

	plain_store(&payload, 1);
	for (i = from; i < nr_items; i++)
		worker_push(w, CLASS_NORMAL, link_item(&item[i]));
	worker_share_all(w);
}

static void begin_body(struct worker *w)
{
	mc_assert(gate_enter(&gate, w, item_of(w, 0)));
	body_begins();
}

static void until_aside(void)
{
	while (!a_load(&nr_aside, relaxed))
		a_pause();
}

static void until_body(void)
{
	while (!a_load(&nr_now, relaxed))
		a_pause();
}

static void until_done(uint32_t nr)
{
	while (a_load(&nr_done, relaxed) < nr)
		a_pause();
}

static void init_two(void)
{
	init_gate(2, 1, 2);
}

/* Another worker has one more token than there are. */
static void init_raised(void)
{
	init_gate(2, 1, 2);
	most = 2;
}

/* It meets its child while worker 0 has the only token, or none has it. */
static void run_child(struct worker *w)
{
	until_body();
	run_one(w, link_item(&item[1]));
}

static void all_done(void)
{
	uint64_t state = a_load(&gate.state, relaxed);

	mc_assert(a_load(&nr_done, relaxed) == nr_items);
	mc_assert(!gate_running(state) && !gate_aside(state));
	if (gate.nr_over[GATE_PASS_FULL])
		mc_see("over");
}

#pragma GCC diagnostic pop

#define ROW(text, nr, b, before, f)                             \
	.name = text, .nr_threads = nr, .bound = b, .stale = 1, \
	.timeouts = -1, .init = before, .thread = f, .final = all_done

#endif
