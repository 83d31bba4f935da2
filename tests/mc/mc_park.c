/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sleeping and waking: no wake-up is lost, no worker sleeps for ever while
 * there is public work, and the counts come out even. A lost wake-up shows as
 * a deadlock, since no sleep times out here.
 */
#include "base/bell.h"
#include "mc.h"
#include "policy/policy.h"
#include "sched/deque.h"
#include "sched/inbox.h"
#include "sched/park.h"

static struct park park;
static struct inbox inbox;
static struct link link[2];
static struct deque deque;
static _Atomic(uint64_t) slot[4];
static int payload; /* plain: a token must order it */
static _Atomic(uint32_t) nr_done, is_stopping, is_parking;

static void init(void)
{
	park_init(&park);
	a_store(&park.bell, 0, relaxed);
	a_store(&park.is_watched, 0, relaxed);
	a_store(&inbox.head, NULL, relaxed);
	deque_init(&deque, slot, 3);
	a_store(&nr_done, 0, relaxed);
	a_store(&is_stopping, 0, relaxed);
	a_store(&is_parking, 0, relaxed);
	plain_store(&payload, 0);
	mc_name(&park.word, "park");
}

/* One of the sleepers sleeps on it. */
static void init_with_bell(void)
{
	init();
	mc_bell_init();
	park_set_bell(&park, 0);
	mc_name(&park.is_watched, "is_watched");
}

static bool anything_public(void)
{
	uint64_t span = a_load(&deque.span, seq_cst);

	return !inbox_is_empty(&inbox) || span_tail(span) != span_split(span);
}

static bool look(void)
{
	struct link *l = inbox_take_all(&inbox);
	uint64_t item;

	for (; l; l = a_load(&l->next, relaxed))
		a_add(&nr_done, 1, relaxed);
	if (deque_steal(&deque, &item) == DEQUE_TAKEN)
		a_add(&nr_done, 1, relaxed);
	return a_load(&nr_done, relaxed) != 0;
}

static bool is_over(void)
{
	return a_load(&is_stopping, seq_cst) != 0;
}

/* A worker as idle.c goes about it, until one piece of work was done. */
static void work(void)
{
	park_spin(&park);
	while (!look() && !is_over()) {
		park_announce(&park);
		if (anything_public() || is_over()) {
			mc_see("retracted");
			park_retract(&park);
			continue;
		}
		park_sleep(&park, -1);
	}
	park_found(&park);
	/* There was one piece of work: the others may go home. Who goes may
	 * have taken the token of one that sleeps on, so all wake all. */
	a_store(&is_stopping, 1, seq_cst);
	park_wake_all(&park);
}

static void counts_are_even(void)
{
	uint64_t word = a_load(&park.word, relaxed);

	mc_assert(park_spinners(word) == 0);
	mc_assert(park_sleepers(word) == 0);
	mc_assert(((uint32_t)word & 0xffff) == 0);
}

static void inbox_wakes(int id)
{
	if (id) {
		work();
		return;
	}
	inbox_push(&inbox, &link[0]);
	if (park_notify(&park))
		mc_see("woken");
}

static void share_wakes(int id)
{
	if (id) {
		work();
		return;
	}
	deque_push(&deque, 1);
	deque_share(&deque);
	if (park_notify(&park))
		mc_see("woken");
}

static void stop_wakes_all(int id)
{
	if (id) {
		work();
		return;
	}
	a_store(&is_stopping, 1, seq_cst);
	park_wake_all(&park);
}

/* Sleeps that time out and wake-ups meet: the counts stay even. */
static void timeouts_and_wakes(int id)
{
	if (id == 0) {
		park_notify(&park);
		park_notify(&park);
		return;
	}
	park_spin(&park);
	park_announce(&park);
	if (park_sleep(&park, 1000))
		mc_see("timed out");
	else
		mc_see("woken");
	park_found(&park);
}

/* Who takes a token sees what its giver did. */
static void token_carries(int id)
{
	if (id == 0) {
		plain_store(&payload, 1);
		if (park_notify(&park))
			mc_see("woken");
		return;
	}
	park_spin(&park);
	park_announce(&park);
	if (park_sleep(&park, 1000) == 0)
		mc_assert(plain_load(&payload) == 1);
	park_found(&park);
}

/* The kernel rings while somebody may be about to watch, or gives up. */
static void the_bell_rings(int id)
{
	if (id == 0) {
		inbox_push(&inbox, &link[0]);
		bell_ring(0);
		return;
	}
	if (id == 1) {
		work();
		return;
	}
	park_notify(&park);
}

/*
 * One of two sleepers is called while tokens are about, which either may take:
 * what it was called for is done, and by nobody else.
 */
static void work_when_called(void)
{
	park_spin(&park);
	for (;;) {
		if (inbox_take_all(&inbox))
			break;
		a_store(&is_parking, 1, seq_cst);
		park_announce(&park);
		if (!inbox_is_empty(&inbox)) {
			park_retract(&park);
			mc_see("retracted");
		} else {
			park_sleep_uncalled(&park, -1, &is_parking, 1);
			mc_see("called");
		}
		a_store(&is_parking, 0, relaxed);
	}
	park_found(&park);
}

static void call(void)
{
	inbox_push(&inbox, &link[0]);
	if (a_load(&is_parking, seq_cst) && a_xchg(&is_parking, 0, relaxed))
		park_call(&park);
}

/* A worker that ends with one item, and tells others of what is left. */
static void take_one(void)
{
	uint64_t item;

	park_spin(&park);
	while (deque_steal(&deque, &item) != DEQUE_TAKEN) {
		park_announce(&park);
		if (anything_public())
			park_retract(&park);
		else
			park_sleep(&park, -1);
	}
	a_add(&nr_done, 1, relaxed);
	if (park_found(&park) && anything_public() && park_notify(&park))
		mc_see("told on");
}

/* As many items as workers, which a single look at the word wakes. */
static void make_items(uint32_t nr)
{
	uint32_t i, woken;

	for (i = 0; i < nr; i++)
		deque_push(&deque, i * 2 + 1);
	deque_share_all(&deque);
	woken = park_wake_some(&park, nr, POLICY_TREE);
	if (woken == nr)
		mc_see("all at once");
	if (!woken)
		park_notify(&park);
}

static void several_wake(int id)
{
	if (id)
		take_one();
	else
		make_items(2);
}

static void three_wake(int id)
{
	if (id)
		take_one();
	else
		make_items(3);
}

static void two_were_done(void)
{
	counts_are_even();
	mc_assert(a_load(&nr_done, relaxed) == 2);
}

static void three_were_done(void)
{
	counts_are_even();
	mc_assert(a_load(&nr_done, relaxed) == 3);
}

/* Nothing but the call wakes it. */
static void a_call_is_enough(int id)
{
	if (id)
		work_when_called();
	else
		call();
}

static void a_call_wakes_its_worker(int id)
{
	if (id == 1) {
		work_when_called();
		return;
	}
	if (id == 2) {
		park_spin(&park);
		park_announce(&park);
		park_sleep(&park, 1000);
		park_found(&park);
		return;
	}
	call();
	park_wake_all(&park);
}

static const struct mc_scenario table[] = {
	{ .name = "a push to the inbox wakes",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = init,
	  .thread = inbox_wakes,
	  .final = counts_are_even,
	  .must_see = { "woken", "retracted" } },
	{ .name = "a share wakes one of two",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init,
	  .thread = share_wakes,
	  .final = counts_are_even,
	  .must_see = { "woken", "retracted" } },
	{ .name = "stopping wakes all",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init,
	  .thread = stop_wakes_all,
	  .final = counts_are_even },
	{ .name = "a push wakes who sleeps on the bell",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = init_with_bell,
	  .thread = inbox_wakes,
	  .final = counts_are_even,
	  .must_see = { "woken", "retracted" } },
	{ .name = "a share wakes one of two, one on the bell",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init_with_bell,
	  .thread = share_wakes,
	  .final = counts_are_even,
	  .must_see = { "woken", "retracted" } },
	{ .name = "stopping wakes all, one on the bell",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init_with_bell,
	  .thread = stop_wakes_all,
	  .final = counts_are_even },
	{ .name = "the bell wakes as well",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init_with_bell,
	  .thread = the_bell_rings,
	  .final = counts_are_even },
	{ .name = "items wake as many as there are",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init,
	  .thread = several_wake,
	  .final = two_were_done,
	  .must_see = { "all at once", "told on" } },
	{ .name = "three items, three workers",
	  .nr_threads = 4,
	  .bound = 1,
	  .stale = 1,
	  .timeouts = -1,
	  .limit = 60000,
	  .init = init,
	  .thread = three_wake,
	  .final = three_were_done,
	  .must_see = { "all at once", "told on" } },
	{ .name = "several items, one on the bell",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = -1,
	  .init = init_with_bell,
	  .thread = several_wake,
	  .final = two_were_done },
	{ .name = "timeouts meet wake-ups",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = 2,
	  .spurious = 1,
	  .init = init,
	  .thread = timeouts_and_wakes,
	  .final = counts_are_even,
	  .must_see = { "timed out", "woken" } },
	{ .name = "a call wakes its worker, and no other one",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = 1,
	  .init = init,
	  .thread = a_call_wakes_its_worker,
	  .final = counts_are_even,
	  .must_see = { "called", "retracted" } },
	{ .name = "the same, one on the bell",
	  .nr_threads = 3,
	  .bound = 2,
	  .stale = 1,
	  .timeouts = 1,
	  .init = init_with_bell,
	  .thread = a_call_wakes_its_worker,
	  .final = counts_are_even,
	  .must_see = { "called", "retracted" } },
	{ .name = "a call is enough",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = init,
	  .thread = a_call_is_enough,
	  .final = counts_are_even,
	  .must_see = { "called", "retracted" } },
	{ .name = "a call is enough on the bell",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = -1,
	  .init = init_with_bell,
	  .thread = a_call_is_enough,
	  .final = counts_are_even,
	  .must_see = { "called", "retracted" } },
	{ .name = "a token carries what was done",
	  .nr_threads = 2,
	  .bound = -1,
	  .timeouts = 1,
	  .init = init,
	  .thread = token_carries,
	  .final = counts_are_even,
	  .must_see = { "woken" } },
};

MC_MAIN(table)
