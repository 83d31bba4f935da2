/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A worker that keeps its work: what others may see, and when they may come. */
#include "sched/holdoff.h"

#include "sched/sched.h"
#include "tests/tap.h"

#include <string.h>

#define MASK 15
#define FOR_EVER (UINT64_MAX / 2)

static struct sched s;
static struct sched_node node;
static struct worker workers[2], *const owner = &workers[0],
					*const thief = &workers[1];
static struct executor executors[2];
static struct counters counters[2];
static struct lkdf_stats_block blocks[2];
static struct trace_ring rings[2];
static _Atomic(uint64_t) events[2][EVENT_RECORDS * 3];
static _Atomic(uint64_t) slots[2][NR_DEQUES][MASK + 1];
static int victims[2][1] = { { 1 }, { 0 } }, near[1];

static void start(void)
{
	struct worker *w;
	int i, d;

	memset(workers, 0, sizeof(workers));
	park_init(&node.park);
	node.near = near;
	s.workers = workers;
	s.nodes = &node;
	s.nr_workers = 2;
	s.nr_nodes = s.nr_worker_nodes = 1;
	for (i = 0; i < 2; i++) {
		w = &workers[i];
		rings[i].block = &blocks[i];
		rings[i].events = events[i];
		executors[i].counters = &counters[i];
		executors[i].ring = &rings[i];
		w->executor = &executors[i];
		w->sched = &s;
		w->node = &node;
		w->id = i;
		w->victims = victims[i];
		w->nr_near = 1;
		for (d = 0; d < NR_DEQUES; d++)
			deque_init(&w->deque[d], slots[i][d], MASK);
	}
}

static bool is_public(unsigned deque)
{
	return deque_has_public(&owner->deque[deque]);
}

static void one_is_public(void)
{
	uint64_t item;

	start();
	ok(!holdoff_is_on(owner) && !holdoff_holds(owner), "nothing is kept");
	holdoff_begin(owner, FOR_EVER);
	ok(holdoff_is_on(owner) && holdoff_holds(owner), "it keeps its work");
	worker_push(owner, CLASS_NORMAL, 1);
	ok(is_public(CLASS_NORMAL), "what comes first is public");
	worker_push(owner, CLASS_NORMAL, 2);
	worker_push(owner, CLASS_NORMAL, 3);
	is(deque_size(&owner->deque[CLASS_NORMAL]), 3, "three items");
	ok(deque_has_private(&owner->deque[CLASS_NORMAL]), "more is not");
	is(deque_steal(&owner->deque[CLASS_NORMAL], &item), DEQUE_TAKEN,
	   "it is gone");
	worker_push(owner, CLASS_NORMAL, 4);
	ok(is_public(CLASS_NORMAL), "then another one is");
	while (worker_pop(owner, &item))
		;
	worker_push(owner, CLASS_NORMAL, 5);
	ok(is_public(CLASS_NORMAL), "also after it was empty");
}

static void a_request_is_deferred(void)
{
	uint64_t item;

	start();
	worker_push(owner, CLASS_NORMAL, 1);
	worker_push(owner, CLASS_NORMAL, 2);
	holdoff_begin(owner, FOR_EVER);
	a_or(&owner->attn, ATTN_STEAL, relaxed);
	ok(!is_public(CLASS_NORMAL), "what it had before is not public");
	worker_offer(owner, true, 0);
	ok(is_public(CLASS_NORMAL) && !worker_has_request(owner),
	   "somebody asks: one item is, and the rest waits");
	is(deque_steal(&owner->deque[CLASS_NORMAL], &item), DEQUE_TAKEN,
	   "one item");
	is(deque_steal(&owner->deque[CLASS_NORMAL], &item), DEQUE_EMPTY,
	   "not both");
	worker_push(owner, CLASS_HIGH, 3);
	ok(worker_has_request(owner), "what is urgent is not kept");
	worker_offer(owner, true, 0);
	ok(is_public(CLASS_HIGH) && !holdoff_is_on(owner),
	   "it is shared, and the rest with it");
}

static void it_ends(void)
{
	start();
	holdoff_begin(owner, FOR_EVER);
	worker_push(owner, CLASS_NORMAL, 1);
	worker_push(owner, CLASS_NORMAL, 2);
	holdoff_look(owner);
	ok(holdoff_is_on(owner), "not before its time");
	a_or(&owner->attn, ATTN_STEAL, relaxed);
	worker_offer(owner, false, 0);
	ok(!holdoff_is_on(owner) &&
		   !deque_has_private(&owner->deque[CLASS_NORMAL]),
	   "before a body that may be long all is shared");
	start();
	holdoff_begin(owner, HELD_OFF_LATELY + 1);
	ok(holdoff_is_on(owner) && !holdoff_holds(owner), "its time is over");
	holdoff_look(owner);
	ok(!holdoff_is_on(owner), "it sees that");
}

static void sleepers_are_told(void)
{
	uint64_t wakes;

	start();
	holdoff_begin(owner, FOR_EVER);
	worker_push(owner, CLASS_NORMAL, 1);
	park_spin(&node.park);
	park_announce(&node.park);
	wakes = a_load(&counters[0].v[COUNTER_WAKES], relaxed);
	worker_offer(owner, true, 0);
	is(a_load(&counters[0].v[COUNTER_WAKES], relaxed), wakes,
	   "nobody is woken for what is kept");
	holdoff_end(owner);
	is(a_load(&counters[0].v[COUNTER_WAKES], relaxed), wakes + 1,
	   "at the end somebody is");
	holdoff_end(owner);
	is(a_load(&counters[0].v[COUNTER_WAKES], relaxed), wakes + 1, "once");
}

static void sleepers_come_back(void)
{
	int64_t ns, sum = 0;
	int nr = 0;

	start();
	is(holdoff_nap(thief), -1, "nobody keeps anything");
	holdoff_begin(owner, FOR_EVER);
	is(holdoff_nap(thief), HOLDOFF_NAP_MIN_NS, "a short nap");
	is(holdoff_nap(thief), 2 * HOLDOFF_NAP_MIN_NS, "a longer one");
	for (nr = 0; nr < 10; nr++)
		ns = holdoff_nap(thief);
	is(ns, HOLDOFF_NAP_MAX_NS, "but not for ever");
	thief->holdoff_nap_ns = 0;
	holdoff_end(owner);
	for (nr = 0; nr < 20 && (ns = holdoff_nap(thief)) >= 0; nr++)
		sum += ns;
	ok(nr > 1 && nr < 20 && sum >= HOLDOFF_NAP_MAX_NS,
	   "who kept its work lately is looked at %d times more", nr);
	is(holdoff_nap(owner), -1, "oneself does not count");
}

int main(void)
{
	tap_start(60);
	one_is_public();
	a_request_is_deferred();
	it_ends();
	sleepers_are_told();
	sleepers_come_back();
	return tap_end();
}
