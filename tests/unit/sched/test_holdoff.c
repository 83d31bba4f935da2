/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A worker that keeps its work: what others may see, and when they may come. */
#include "mechanism/holdoff/holdoff.h"

#include "sched/sched.h"
#include "tests/tap.h"
#include "tests/unit/sched/lay.h"
#include "trace/counters.h"

#include <string.h>

#define MASK 15
#define FOR_EVER (UINT64_MAX / 2)
#define NR_WORKERS 6

static struct sched s;
static struct sched_node node;
static struct worker workers[NR_WORKERS], *const owner = &workers[0],
						 *const thief = &workers[1];
static struct executor executors[NR_WORKERS];
static struct counters counters[NR_WORKERS];
static struct lkdf_stats_block blocks[NR_WORKERS];
static struct trace_ring rings[NR_WORKERS];
static _Atomic(uint64_t) events[NR_WORKERS][EVENT_RECORDS * 3];
static _Atomic(uint64_t) slots[NR_WORKERS][NR_DEQUES][MASK + 1];
static int victims[NR_WORKERS][NR_WORKERS - 1], near[1];

static void start(void)
{
	struct worker *w;
	int i, d;

	memset(workers, 0, sizeof(workers));
	park_init(&node.park);
	node.near = near;
	s.workers = workers;
	s.nodes = &node;
	s.nr_workers = s.nr_regular = NR_WORKERS;
	s.nr_nodes = s.nr_worker_nodes = 1;
	mechanism_sort(&s.calls, mechanism_rows, 1024);
	lay_data(&s);
	for (i = 0; i < NR_WORKERS; i++) {
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
		w->nr_near = NR_WORKERS - 1;
		for (d = 0; d < NR_WORKERS - 1; d++)
			victims[i][d] = (i + 1 + d) % NR_WORKERS;
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
	ok(!holdoff_is_on(owner) && !holdoff_holds(thief, owner),
	   "nothing is kept");
	holdoff_begin(owner, FOR_EVER, 0);
	ok(holdoff_is_on(owner) && holdoff_holds(thief, owner),
	   "it keeps its work");
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
	holdoff_begin(owner, FOR_EVER, 0);
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
	holdoff_begin(owner, FOR_EVER, 0);
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
	holdoff_begin(owner, HELD_OFF_LATELY + 1, 0);
	ok(holdoff_is_on(owner) && !holdoff_holds(thief, owner),
	   "its time is over");
	holdoff_look(owner);
	ok(!holdoff_is_on(owner), "it sees that");
}

static void sleepers_are_told(void)
{
	uint64_t wakes;

	start();
	holdoff_begin(owner, FOR_EVER, 0);
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
	holdoff_begin(owner, FOR_EVER, 0);
	is(holdoff_nap(thief), HOLDOFF_NAP_MIN_NS, "a short nap");
	is(holdoff_nap(thief), 2 * HOLDOFF_NAP_MIN_NS, "a longer one");
	for (nr = 0; nr < 10; nr++)
		ns = holdoff_nap(thief);
	is(ns, HOLDOFF_NAP_MAX_NS, "but not for ever");
	holdoff_of(thief)->nap_ns = 0;
	holdoff_end(owner);
	for (nr = 0; nr < 20 && (ns = holdoff_nap(thief)) >= 0; nr++)
		sum += ns;
	ok(nr > 1 && nr < 20 && sum >= HOLDOFF_NAP_MAX_NS,
	   "who kept its work lately is looked at %d times more", nr);
	is(holdoff_nap(owner), -1, "oneself does not count");
}

/* Widths of 1, 2 and 4 of six workers: groups are 0-1, 2-3, 4-5 and 0-3. */
static void a_group_is_not_held_off(void)
{
	uint32_t width;
	int i;

	start();
	for (width = 0; width <= 2; width++) {
		holdoff_begin(&workers[1], FOR_EVER, width);
		for (i = 0; i < NR_WORKERS; i++)
			if (i != 1)
				is(holdoff_holds(&workers[i], &workers[1]),
				   i >> width != 1 >> width,
				   "a width of %d: worker 1, thief %d",
				   1 << width, i);
		is(holdoff_is_alone(&workers[1]), width == 0,
		   "it is alone or not");
	}
	holdoff_join(&workers[3], &workers[1]);
	ok(holdoff_is_on(&workers[3]) && !holdoff_is_alone(&workers[3]),
	   "who takes of it keeps what it makes");
	ok(holdoff_holds(&workers[4], &workers[3]) &&
		   !holdoff_holds(&workers[0], &workers[3]),
	   "for the group");
	holdoff_leave(&workers[3]);
	ok(!holdoff_is_on(&workers[3]), "until it has nothing to do");
	holdoff_begin(&workers[1], FOR_EVER, 0);
	holdoff_join(&workers[3], &workers[1]);
	ok(!holdoff_is_on(&workers[3]),
	   "who takes of one that is alone does not");
	holdoff_leave(&workers[1]);
	ok(holdoff_is_on(&workers[1]), "and that one goes on");
}

/* True: such a worker, asleep, was called as the owner was asked. */
static bool is_called(int id)
{
	a_store(&workers[id].is_parking, 1, relaxed);
	a_or(&owner->attn, ATTN_STEAL, relaxed);
	worker_offer(owner, true, 0);
	return !a_load(&workers[id].is_parking, relaxed);
}

static void a_group_is_called(void)
{
	struct deque *d = &owner->deque[CLASS_NORMAL];
	uint64_t wakes, item;
	int i;

	start();
	holdoff_begin(owner, FOR_EVER, 1);
	ok(!is_called(1), "nobody is called for nothing");
	ok(!worker_has_request(owner), "who asks is put off");
	worker_push(owner, CLASS_NORMAL, 1);
	ok(worker_has_request(owner), "until there is work");
	for (i = 2; i <= 4; i++)
		worker_push(owner, CLASS_NORMAL, (uint64_t)i);
	park_spin(&node.park);
	park_announce(&node.park);
	wakes = a_load(&counters[0].v[COUNTER_WAKES], relaxed);
	ok(is_called(1), "one of the group is called");
	is(deque_size(d) - 2, 2, "to half of the work");
	ok(deque_steal(d, &item) == DEQUE_TAKEN &&
		   deque_steal(d, &item) == DEQUE_TAKEN &&
		   deque_steal(d, &item) == DEQUE_EMPTY,
	   "which is public");
	ok(!worker_has_request(owner), "the request is answered");
	ok(!is_called(2), "one outside is not");
	is(a_load(&counters[0].v[COUNTER_WAKES], relaxed), wakes,
	   "and nobody is woken by chance");
}

int main(void)
{
	tap_start(60);
	a_group_is_not_held_off();
	a_group_is_called();
	one_is_public();
	a_request_is_deferred();
	it_ends();
	sleepers_are_told();
	sleepers_come_back();
	return tap_end();
}
