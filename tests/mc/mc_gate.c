/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Items that are put aside at a gate: none is lost, whoever sleeps, and no more
 * bodies run at once than there are tokens. Workers run idle.c, worker.c and
 * gate.c as they are shipped; an item that nobody comes for is a deadlock.
 */
#include "mechanism/gate/gate.h"
#include "strand.h"

#define NR_ITEMS 4
#define ROOM 2

static _Alignas(LINK_ALIGN) struct link item[NR_ITEMS];
static struct gate gate;
static uint64_t ring[ROOM];
static _Atomic(uint32_t) nr_now, nr_done, nr_aside;
static uint32_t nr_items, most; /* of bodies, at once */
static bool is_away;

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

static void run_one(struct worker *w, uint64_t it)
{
	if (!gate_enter(&gate, w, it, GATE_PASS_FULL)) {
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

static void init_gate(int nr, uint32_t cap, uint32_t items)
{
	int i;

	init_with(nr, false);
	for (i = 0; i < NR_ITEMS; i++)
		item[i].class = CLASS_NORMAL;
	gate_init(&gate, &sched);
	a_store(&gate.state, gate_make(cap, 0, 0), relaxed);
	a_store(&gate.looked_at, 0, relaxed);
	a_store(&gate.lock.word, 0, relaxed);
	gate.first = gate.most_running = 0;
	gate.ring = ring;
	gate.room = gate.room_most = ROOM;
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
	is_away = false;
	sched.ops.away_ns = away_ns;
	mc_name(&gate.state, "gate");
	mc_name(&gate.lock.word, "lock");
	mc_name(&gate_of(&workers[0])->gate, "token0");
	mc_name(&gate_of(&workers[1])->gate, "token1");
	mc_name(&nr_done, "nr_done");
}

static void init_two(void)
{
	init_gate(2, 1, 2);
}

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

/* Another worker has one more token than there are. */
static void init_raised(void)
{
	init_gate(2, 1, 2);
	most = 2;
}

static void init_away(void)
{
	init_raised();
	is_away = true;
	gate.look_ticks = 0;
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
	mc_assert(gate_enter(&gate, w, 0, GATE_PASS_JOIN));
	body_begins();
}

static void until_aside(void)
{
	while (!a_load(&nr_aside, relaxed))
		a_pause();
}

static void until_done(uint32_t nr)
{
	while (a_load(&nr_done, relaxed) < nr)
		a_pause();
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

static bool is_child(uint64_t it, const void *u)
{
	return link_of_item(it) == u;
}

/* Worker 1 puts a child of worker 0's body aside, which waits for it. */
static void join_digs(int id)
{
	uint64_t it;

	if (id) {
		worker_run(&workers[id]);
		return;
	}
	begin_body(&workers[0]);
	push_rest(1);
	until_aside();
	while (!gate_dig(&sched, 1, is_child, &item[1], &it))
		a_pause();
	mc_see("dug");
	body_begins();
	body_ends();
	body_ends();
	gate_release(&workers[0]);
}

/* ---- ends ---------------------------------------------------------------- */

static void all_done(void)
{
	uint64_t state = a_load(&gate.state, relaxed);

	mc_assert(a_load(&nr_done, relaxed) == nr_items);
	mc_assert(!gate_running(state) && !gate_aside(state));
	if (gate.nr_over[GATE_PASS_FULL])
		mc_see("over");
}

#define ROW(text, nr, b, before, f)                             \
	.name = text, .nr_threads = nr, .bound = b, .stale = 1, \
	.timeouts = -1, .init = before, .thread = f, .final = all_done

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
	{ ROW("a join digs", 2, 3, init_raised, join_digs),
	  .must_see = { "aside", "dug" } },
};

MC_MAIN(table)
