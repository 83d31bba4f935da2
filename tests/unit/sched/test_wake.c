/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A worker that finds work wakes others: how many, and for which bodies. */
#include "mechanism/far/far.h"
#include "policy/deficit.h"
#include "sched/idle.h"
#include "sched/notify.h"
#include "sched/sched.h"
#include "tests/tap.h"
#include "tests/unit/sched/lay.h"
#include "trace/counters.h"

#include <sched.h>
#include <string.h>

#define MASK 63
#define NR_WORKERS 16
#define WAKE 100 /* ticks */

static struct sched s;
static struct sched_node node;
static struct worker workers[NR_WORKERS];
static struct executor executors[NR_WORKERS];
static struct counters counters;
static struct lkdf_stats_block block;
static struct trace_ring ring;
static _Atomic(uint64_t) events[EVENT_RECORDS * 3];
static _Atomic(uint64_t) slots[NR_WORKERS][NR_DEQUES][MASK + 1];
static int victims[NR_WORKERS][NR_WORKERS], near[1];
static _Alignas(LINK_ALIGN) struct link links[MASK];
static struct deficit_node deficit;
static uint64_t ticks;

static uint64_t body_ticks(uint64_t item, void *rt)
{
	(void)item;
	(void)rt;
	return ticks;
}

static void init_worker(int id)
{
	struct worker *w = &workers[id];
	int i;

	executors[id].counters = &counters;
	executors[id].ring = &ring;
	w->executor = &executors[id];
	w->sched = &s;
	w->node = &node;
	w->id = id;
	far_of(w)->node = &deficit;
	w->victims = victims[id];
	w->nr_near = NR_WORKERS - 1;
	for (i = 0; i < NR_WORKERS - 1; i++)
		victims[id][i] = (id + 1 + i) % NR_WORKERS;
	for (i = 0; i < NR_DEQUES; i++)
		deque_init(&w->deque[i], slots[id][i], MASK);
}

/* So many links in the inbox, all other workers asleep. */
static void start(int nr_links)
{
	int i;

	memset(&s, 0, sizeof(s));
	memset((void *)&node, 0, sizeof(node));
	memset((void *)workers, 0, sizeof(workers));
	memset((void *)&counters, 0, sizeof(counters));
	timers_init(&s.timers);
	ring.block = &block;
	ring.events = events;
	node.near = near;
	node.nr_workers = NR_WORKERS;
	s.ops.body_ticks = body_ticks;
	s.workers = workers;
	s.nodes = &node;
	s.nr_workers = s.nr_regular = NR_WORKERS;
	s.nr_nodes = s.nr_worker_nodes = 1;
	mechanism_sort(&s.calls, mechanism_rows, 1024);
	lay_data(&s);
	s.ticks_per_1024ns = 1024;
	s.wake_ticks = WAKE;
	for (i = 0; i < NR_WORKERS; i++)
		init_worker(i);
	park_init(&node.park);
	for (i = 1; i < NR_WORKERS; i++) {
		park_spin(&node.park);
		park_announce(&node.park);
	}
	for (i = 0; i < nr_links; i++) {
		links[i].class = CLASS_NORMAL;
		inbox_push(&node.inbox, &links[i]);
	}
}

/* How many a worker wakes that finds one of so many links. */
static uint32_t woken_by(int nr_links, uint64_t each)
{
	uint64_t item = 0;

	start(nr_links);
	ticks = each;
	ok(idle_find(&workers[0], &item), "%d items, bodies of %u: found one",
	   nr_links, (unsigned)each);
	is(a_load(&counters.v[COUNTER_WAKES], relaxed),
	   NR_WORKERS - 1 - park_sleepers(a_load(&node.park.word, relaxed)),
	   "the counter says how many were woken");
	return NR_WORKERS - 1 - park_sleepers(a_load(&node.park.word, relaxed));
}

static void a_burst_is_a_tree(void)
{
	is(woken_by(NR_WORKERS, WAKE), POLICY_TREE, "a burst: four at once");
	is(deque_has_private(&workers[0].deque[CLASS_NORMAL]), false,
	   "who find all of it public");
	is(woken_by(3, WAKE), 2, "as many as there are items");
	is(woken_by(1, WAKE), 0, "nobody for the last item");
	is(woken_by(NR_WORKERS, WAKE - 1), 0,
	   "nobody yet, where bodies are shorter than a wake-up");
}

/* Rounds of wake-ups until nobody sleeps who could have an item. */
static void its_depth_is_small(void)
{
	uint64_t item;
	int depth = 0, awake = 1, next = 0, round;

	start(NR_WORKERS);
	ticks = WAKE;
	while (park_sleepers(a_load(&node.park.word, relaxed)) && depth < 20) {
		for (round = awake; next < round; next++) {
			if (next) {
				park_sleep(&node.park, 0);
				park_found(&node.park);
				workers[next].idle.wake_link =
					wake_depth_take(&s.wakes);
			}
			idle_find(&workers[next], &item);
		}
		awake = NR_WORKERS -
			(int)park_sleepers(a_load(&node.park.word, relaxed));
		depth++;
	}
	is(depth, 2, "15 sleepers are awake after two rounds");
	is(a_load(&counters.v[COUNTER_WAKE_DEPTH], relaxed), 2,
	   "and the counter says so");
}

/* A thread has put so many links there, with so many spinning already. */
static uint32_t first_of(uint32_t nr_items, int nr_spin)
{
	start(0);
	for (; nr_spin; nr_spin--)
		park_spin(&node.park);
	return notify_first(&node, nr_items);
}

static void many_at_once_wake_a_fourth(void)
{
	is(first_of(16, 0), 4, "16 items at once: four are woken");
	is(first_of(16, 1), 3, "three beside one that looks for work");
	is(first_of(16, 4), 0, "nobody beside four");
	is(first_of(5, 0), 2, "two for five");
	is(first_of(1000, 0), NR_WORKERS - 1, "no more than there are");
}

/* It does not spin: this thread has its CPU. */
static void a_spinner_without_its_cpu_is_none(void)
{
	cpu_set_t before, set;

	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
	start(0);
	park_spin(&node.park);
	ok(notify_any(&s, &node), "a sleeper is woken beside it");
	ok(!notify_any(&s, &node), "and no other one while that one looks");
	sched_setaffinity(0, sizeof(before), &before);
}

int main(void)
{
	tap_start(30);
	a_burst_is_a_tree();
	its_depth_is_small();
	many_at_once_wake_a_fourth();
	a_spinner_without_its_cpu_is_none();
	return tap_end();
}
