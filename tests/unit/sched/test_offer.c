/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Ready tasks of a worker that runs bodies: what others find, and when. */
#include "sched/sched.h"
#include "tests/tap.h"
#include "tests/unit/sched/lay.h"
#include "trace/counters.h"

#include <string.h>

#define MASK 15
#define GRAIN 100 /* ticks: bodies of that share all */

static struct sched s;
static struct sched_node node;
static struct worker workers[2], *const owner = &workers[0];
static struct executor executor;
static struct counters counters;
static struct lkdf_stats_block block;
static struct trace_ring ring;
static _Atomic(uint64_t) events[EVENT_RECORDS * 3];
static _Atomic(uint64_t) slots[NR_DEQUES][MASK + 1];
static int near[1];

/* A worker with so many ready tasks beside one that spins, and has asked. */
static void start(int nr_ready)
{
	int d;

	memset(workers, 0, sizeof(workers));
	memset(&counters, 0, sizeof(counters));
	park_init(&node.park);
	node.near = near;
	s.workers = workers;
	s.nodes = &node;
	s.nr_workers = s.nr_regular = 2;
	s.nr_nodes = s.nr_worker_nodes = 1;
	mechanism_sort(&s.calls, mechanism_rows, 1024);
	lay_data(&s);
	s.share_ticks = GRAIN;
	s.wake_ticks = UINT64_MAX;
	s.ticks_per_1024ns = 512; /* a tick is 2 ns */
	ring.block = &block;
	ring.events = events;
	executor.counters = &counters;
	executor.ring = &ring;
	owner->executor = &executor;
	owner->sched = &s;
	owner->node = &node;
	for (d = 0; d < NR_DEQUES; d++)
		deque_init(&owner->deque[d], slots[d], MASK);
	for (d = 1; d <= nr_ready; d++)
		worker_push(owner, CLASS_NORMAL, (uint64_t)d * 2 + 1);
	park_spin(&node.park);
	a_or(&owner->attn, ATTN_STEAL, relaxed);
}

static int nr_public(void)
{
	uint64_t span = a_load(&owner->deque[CLASS_NORMAL].span, relaxed);

	return (int)(span_split(span) - span_tail(span));
}

static uint64_t hidden_ns(void)
{
	return a_load(&counters.v[COUNTER_HIDDEN_NS], relaxed);
}

static void many_are_ready(void)
{
	start(5);
	worker_offer(owner, true, GRAIN - 1);
	is(nr_public(), 3, "a body that is very short: half is shared");
	ok(!worker_has_request(owner), "and others ask again");
	is(hidden_ns(), 2 * (GRAIN - 1),
	   "the other half is hidden for as long as the body takes");
	start(5);
	worker_offer(owner, true, GRAIN);
	is(nr_public(), 5, "a body of some length: all is shared");
	is(hidden_ns(), 0, "and nothing is hidden");
	ok(worker_has_request(owner), "nobody need ask while somebody spins");
	worker_push(owner, CLASS_NORMAL, 101);
	worker_offer(owner, true, GRAIN);
	is(nr_public(), 6, "so what is ready next is shared, too");
	park_found(&node.park);
	worker_offer(owner, true, GRAIN);
	ok(!worker_has_request(owner), "nobody spins: the request is over");
	start(5);
	worker_offer(owner, false, 0);
	is(nr_public(), 5, "a body that may be long: all is shared");
}

static void one_is_ready(void)
{
	start(1);
	worker_offer(owner, true, GRAIN);
	is(nr_public(), 1, "one task beside the body: it is shared");
	ok(!worker_has_request(owner), "as ever, and who wants more asks");
}

static bool is_below(uint64_t item, const void *root)
{
	return root == &block && item == 101;
}

/* Beside one that rests in a join and nobody else who is idle. */
static void start_joined(int nr_ready)
{
	start(nr_ready);
	park_found(&node.park);
	s.ops.is_below = is_below;
	a_store(&s.nr_joiners, 1, relaxed);
	a_store(&workers[1].joiner.root, &block, relaxed);
}

static uint32_t nr_calls(void)
{
	return a_load(&workers[1].joiner.nr_calls, relaxed);
}

static void a_join_rests(void)
{
	start_joined(1);
	worker_offer(owner, true, GRAIN);
	is(nr_public(), 1, "a join has asked: a task is shared");
	is(nr_calls(), 0, "which is not below it: nobody is called");
	ok(!worker_has_request(owner), "and the request is over");
	a_or(&owner->attn, ATTN_STEAL, relaxed);
	worker_push(owner, CLASS_NORMAL, 101);
	worker_push(owner, CLASS_NORMAL, 5);
	worker_offer(owner, true, GRAIN);
	is(nr_public(), 3, "it has asked again: more is shared");
	is(nr_calls(), 1, "one is below it: its worker is called");
	worker_push(owner, CLASS_NORMAL, 101);
	worker_offer(owner, true, GRAIN);
	is(nr_calls(), 1, "once, until it rests again");
	a_store(&s.nr_joiners, 0, relaxed);
}

int main(void)
{
	tap_start(30);
	many_are_ready();
	one_is_ready();
	a_join_rests();
	return tap_end();
}
