/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A worker that rests in a join: joiner.c as it is shipped, with the deque. It
 * is called for work below its root wherever that gets public, and by the last
 * child. No sleep times out here, so a lost call is a deadlock.
 */
#include "mc.h"
#include "sched/deque.h"
#include "sched/inbox.h"
#include "sched/joiner.h"

#define NR_WORKERS 3
#define BELOW 1 /* items, and one that is below nothing */
#define FOREIGN 3
#define JOINING (1 << 30)

static struct sched sched;
static struct worker workers[NR_WORKERS];
static struct deque *deque = &workers[0].deque[CLASS_NORMAL];
static _Atomic(uint64_t) slot[4];
static int victims[NR_WORKERS][NR_WORKERS];
static struct inbox inbox;
static struct link link;
static int root; /* its address */
static int done; /* plain: the end of a child orders it */
static _Atomic(int32_t) live;

static bool is_below(uint64_t item, const void *of)
{
	return of == &root && item != FOREIGN;
}

static void init(void)
{
	int i;

	sched.workers = workers;
	sched.nr_workers = sched.nr_regular = NR_WORKERS;
	sched.ops.is_below = is_below;
	a_store(&sched.nr_joiners, 0, relaxed);
	a_store(&inbox.head, NULL, relaxed);
	a_store(&live, 0, relaxed);
	plain_store(&done, 0);
	deque_init(deque, slot, 3);
	for (i = 0; i < NR_WORKERS; i++) {
		workers[i].sched = &sched;
		workers[i].victims = victims[i];
		victims[i][0] = (i + 1) % NR_WORKERS;
		victims[i][1] = (i + 2) % NR_WORKERS;
		a_store(&workers[i].attn, 0, relaxed);
		a_store(&workers[i].joiner.root, NULL, relaxed);
		a_store(&workers[i].joiner.nr_calls, 0, relaxed);
	}
	mc_name(&sched.nr_joiners, "nr_joiners");
	mc_name(&workers[1].joiner.root, "root 1");
	mc_name(&workers[1].joiner.nr_calls, "nr_calls 1");
	mc_name(&live, "live");
}

/* What is below the root, behind another item. */
static bool sees(void)
{
	uint64_t item;
	uint32_t i;

	for (i = 0; deque_peek_past(deque, i, &item); i++)
		if (is_below(item, &root))
			return true;
	return !inbox_is_empty(&inbox);
}

static bool take(void)
{
	uint64_t item;

	while (deque_steal(deque, &item) == DEQUE_TAKEN)
		if (item == BELOW)
			return true;
	return inbox_take_all(&inbox) != NULL;
}

/* As nap_joined(), until it has what it waits for. */
static void rest(struct worker *w, bool (*is_over)(void))
{
	uint32_t nr_calls;

	while (!is_over()) {
		nr_calls = joiner_announce(w, &root);
		if (sees()) {
			mc_see("sees");
		} else {
			joiner_sleep(w, nr_calls, -1);
			mc_see("called");
		}
		joiner_retract(w);
	}
}

static void none_rests(void)
{
	mc_assert(!a_load(&sched.nr_joiners, relaxed));
}

/* ---- scenarios ---------------------------------------------------------- */

static void a_share_calls(int id)
{
	if (id) {
		rest(&workers[id], take);
		return;
	}
	deque_push(deque, FOREIGN);
	deque_push(deque, BELOW);
	joiner_share_all(&workers[0], deque);
}

static void a_push_calls(int id)
{
	uint64_t item = link_item(&link);

	if (id) {
		rest(&workers[id], take);
		return;
	}
	inbox_push(&inbox, &link);
	if (joiner_is_any(&sched))
		joiner_tell(&sched, item);
}

/* Both rest below it: who is called does not keep the other from it. */
static void two_items(int id)
{
	if (id) {
		rest(&workers[id], take);
		return;
	}
	deque_push(deque, BELOW);
	joiner_share(&workers[0], deque);
	deque_push(deque, BELOW);
	joiner_share(&workers[0], deque);
}

/* As complete_child_left() and nap_joined(), a child that has run elsewhere. */
static void a_child_calls(int id)
{
	struct worker *w = &workers[1];
	uint32_t nr_calls;

	if (!id) {
		plain_store(&done, 1);
		if (a_sub(&live, 1, acq_rel) > JOINING / 2)
			joiner_tell_root(&sched, &root);
		return;
	}
	while (1 + a_load(&live, acquire)) {
		nr_calls = joiner_announce(w, &root);
		if (1 + a_add(&live, JOINING, seq_cst)) {
			joiner_sleep(w, nr_calls, -1);
			mc_see("called");
		}
		a_sub(&live, JOINING, relaxed);
		joiner_retract(w);
	}
	mc_assert(plain_load(&done) == 1);
}

static const struct mc_scenario table[] = {
	{ .name = "what a worker shares calls who waits above it",
	  .nr_threads = 2,
	  .bound = 3,
	  .timeouts = -1,
	  .init = init,
	  .thread = a_share_calls,
	  .final = none_rests,
	  .must_see = { "sees", "called" } },
	{ .name = "what comes to an inbox does",
	  .nr_threads = 2,
	  .bound = 3,
	  .timeouts = -1,
	  .init = init,
	  .thread = a_push_calls,
	  .final = none_rests,
	  .must_see = { "sees", "called" } },
	{ .name = "two wait, and have an item each",
	  .nr_threads = 3,
	  .bound = 1,
	  .stale = 1,
	  .timeouts = -1,
	  .limit = 60000,
	  .init = init,
	  .thread = two_items,
	  .final = none_rests,
	  .must_see = { "sees", "called" } },
	{ .name = "the last child calls",
	  .nr_threads = 2,
	  .bound = 3,
	  .timeouts = -1,
	  .init = init,
	  .thread = a_child_calls,
	  .final = none_rests,
	  .must_see = { "called" } },
};

MC_MAIN(table)
