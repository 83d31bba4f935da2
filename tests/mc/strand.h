/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For programs in which workers run idle.c as it is shipped while a body, or a
 * thread that is no worker, waits until the child has started. The program
 * defines run().
 */
#ifndef MC_STRAND_H
#define MC_STRAND_H

#include "lay.h"
#include "mc.h"
#include "rows_below.h"
#include "sched/notify.h"
#include "sched/sched.h"
#include "trace/counters.h"

#include <string.h>

#define NR_WORKERS 3

static struct sched sched;
static struct sched_node nodes[NR_WORKERS];
static int near[NR_WORKERS][NR_WORKERS];
static struct worker workers[NR_WORKERS];
static struct executor executors[NR_WORKERS];
static struct counters counters[NR_WORKERS];
static _Atomic(uint64_t) slots[NR_WORKERS][NR_DEQUES][4];
static int victims[NR_WORKERS][NR_WORKERS];
static _Alignas(LINK_ALIGN) struct link child;
static int payload;
static _Atomic(uint32_t) nr_started;

static bool is_kept; /* node 0's work is not for others */

/* Instead of far.c: who may not take it may not do so ever, nor is it told. */
void far_look(struct worker *w, uint64_t idle_ticks)
{
	(void)w;
	(void)idle_ticks;
}

bool far_allows(const struct worker *w, const struct sched_node *victim)
{
	return !is_kept || w->node == victim || victim != &nodes[0];
}

int64_t far_nap(struct worker *w)
{
	(void)w;
	return -1;
}

bool far_may_wake(struct sched_node *node)
{
	(void)node;
	return false;
}

static void run(struct worker *w, uint64_t item);

/* All on node 0, or each on a node of its own. */
static void init_worker(int id, int nr, bool is_spread)
{
	struct worker *w = &workers[id];
	int i;

	a_store(&w->attn, 0, relaxed);
	a_store(&w->is_parking, 0, relaxed);
	w->offers.has_deferred = false;
	w->executor = &executors[id];
	w->executor->worker = w;
	w->executor->counters = &counters[id];
	memset(&counters[id], 0, sizeof(counters[id]));
	w->sched = &sched;
	w->node = &nodes[is_spread ? id : 0];
	w->id = id;
	w->victims = victims[id];
	w->nr_near = is_spread ? 0 : nr - 1;
	a_store(&w->other_classes, 0, relaxed);
	w->idle.phase = PHASE_BUSY;
	w->looks.nr_picks = 0;
	w->looks.look_at = INBOX_EVERY;
	for (i = 0; i < nr - 1; i++)
		victims[id][i] = (id + 1 + i) % nr;
	for (i = 0; i < NR_DEQUES; i++)
		deque_init(&w->deque[i], slots[id][i], 3);
	w->offers.behind_ticks = w->offers.offered_at = 0;
}

static void init_node(int id, int nr)
{
	struct sched_node *n = &nodes[id];
	int i;

	park_init(&n->park);
	a_store(&n->inbox.head, NULL, relaxed);
	a_store(&n->bound.head, NULL, relaxed);
	for (i = 0; i < NR_DEQUES; i++) {
		a_store(&n->backlog[i].first, NULL, relaxed);
		a_store(&n->backlog[i].lock.word, 0, relaxed);
		plain_store(&n->backlog[i].last, NULL);
	}
	n->nr_workers = 0;
	n->near = near[id];
	for (i = 0; i < nr; i++)
		near[id][i] = (id + i) % nr;
}

static void init_with(int nr, bool is_spread)
{
	int i;

	rows_sort(&sched);
	sched.ops.run = run;
	sched.workers = workers;
	sched.nodes = nodes;
	sched.nr_workers = sched.nr_regular = nr;
	sched.nr_nodes = sched.nr_worker_nodes = is_spread ? nr : 1;
	sched.ticks_per_1024ns = 1;
	sched.wake_ticks = 0;
	sched.share_ticks = UINT64_MAX;
	a_store(&sched.is_stopping, 0, relaxed);
	lay_data(&sched);
	timers_init(&sched.timers);
	for (i = 0; i < sched.nr_nodes; i++)
		init_node(i, sched.nr_nodes);
	for (i = 0; i < nr; i++)
		init_worker(i, nr, is_spread);
	for (i = 0; i < NR_WORKERS; i++)
		a_store(&nodes[i].load.nr_tasks, 0, relaxed);
	is_kept = false;
	child.type = 0;
	a_store(&nr_started, 0, relaxed);
	plain_store(&payload, 0);
	mc_name(&nodes[0].park.word, "park");
	mc_name(&nodes[0].inbox.head, "inbox");
	mc_name(&nodes[1].park.word, "park1");
	mc_name(&nodes[1].bound.head, "bound1");
	mc_name(&workers[0].deque[CLASS_NORMAL].span, "span0");
	mc_name(&nr_started, "nr_started");
	mc_name(&sched.is_stopping, "is_stopping");
}

/* As join_workers() in sched.c. */
__attribute__((unused)) static void stop(void)
{
	a_store(&sched.is_stopping, 1, seq_cst);
	notify_all(&sched);
}

__attribute__((unused)) static void spin_until_started(void)
{
	while (!a_load(&nr_started, relaxed))
		a_pause();
}

__attribute__((unused)) static void ran_once(void)
{
	mc_assert(a_load(&nr_started, relaxed) == 1);
}

#endif
