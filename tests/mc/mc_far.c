/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Rings of a node whose workers are all busy: io_far.c as it is shipped. An
 * idle worker of another node looks after them, whatever others do meanwhile,
 * and takes what lies there. Who sleeps on and should not is a deadlock.
 */
#include "ring.h"

/* An idle worker: as it is shipped, or no more than its looks and sleeps. */
static void (*be_idle)(struct worker *w);

/* As idle_find(), with no more than its looks and sleeps. */
static void look_and_nap(struct worker *w)
{
	uint64_t item;
	int64_t nap;

	park_spin(&w->node->park);
	while (!is_stopping()) {
		if (io_ring_poll(w) && worker_pop(w, &item)) {
			park_found(&w->node->park);
			io_far_leave(w);
			run(w, item);
			park_spin(&w->node->park);
			continue;
		}
		park_announce(&w->node->park);
		nap = io_far_look(w);
		if (is_stopping() || !nap)
			park_retract(&w->node->park);
		else
			park_sleep(&w->node->park, nap);
	}
	park_wake_all(&w->node->park);
	park_found(&w->node->park);
}

/* Worker 1 alone is of the ring's node, the others of the other one. */
static void init_far(uint32_t nr)
{
	int i;

	init_under_way(nr);
	rt.sched.ops.run = run;
	rt.sched.ops.poll = io_ring_poll;
	rt.sched.nr_nodes = rt.sched.nr_worker_nodes = NR_NODES;
	rt.sched.ops.nap = io_far_look;
	rt.sched.ops.leave = io_far_leave;
	be_idle = look_and_nap;
	for (i = 0; i < NR_WORKERS; i++)
		if (i != 1)
			workers[i].node = &nodes[1];
	mc_name(&nodes[1].park.word, "far park");
	mc_name(&unattended[0].mark, "mark");
}

static void init_far_one(void)
{
	init_far(1);
}

static void init_far_two(void)
{
	init_far(2);
}

static void init_far_shipped(void)
{
	init_far(1);
	be_idle = worker_run;
}

/* Worker 1 computes until what comes meanwhile has gone on elsewhere. */
static void compute_far(int id)
{
	uint32_t i;

	if (id) {
		be_idle(&workers[id == 1 ? 0 : 2]);
		return;
	}
	io_ring_guard(&workers[1]);
	for (i = 0; i < nr_wanted; i++) {
		complete(&ops[i]);
		while (a_load(&nr_ran, relaxed) <= i)
			a_pause();
	}
}

/* Who looked for work at first and has found some. */
static bool has_found[NR_WORKERS];

static void let_look(int id)
{
	has_found[id] = true;
	park_spin(&workers[id].node->park);
}

/* Turns to a body for good. */
static void find(int id)
{
	struct worker *w = &workers[id];

	if (has_found[id]) {
		park_found(&w->node->park);
		io_far_leave(w);
	}
	io_ring_guard(w);
}

/* Worker 2 sleeps until it looks after the node: else for ever. */
static void look_after(void)
{
	struct park *p = &workers[2].node->park;

	park_spin(p);
	park_announce(p);
	while (io_far_look(&workers[2]) < 0) {
		mc_see("sleeps");
		park_sleep(p, -1);
		park_announce(p);
	}
}

static void init_found(void)
{
	memset(has_found, 0, sizeof(has_found));
	init_far(1);
}

static void init_one_found(void)
{
	init_found();
	let_look(1);
}

static void init_far_found(void)
{
	init_found();
	let_look(0);
}

/* It has been in good hands for long. */
static void init_to_be_dropped(void)
{
	init_one_found();
	a_store(&unattended[0].mark, 3 << 1 | IO_UNATTENDED, relaxed);
	a_store(&unattended[0].nr_idle, 1000, relaxed);
}

/* By worker 0. */
static void init_looked_after(void)
{
	init_one_found();
	let_look(0);
	a_store(&unattended[0].mark, 1 << 1 | IO_UNATTENDED, relaxed);
}

/* Worker 1 turns to a body. */
static void one_finds(int id)
{
	if (id)
		look_after();
	else
		find(1);
}

/* So does 0, of whichever node. */
static void two_find(int id)
{
	if (id == 2)
		look_after();
	else
		find(id);
}

/* 0 is of the same node: it finds work while 1 submits. */
static void init_same_node(void)
{
	init_found();
	workers[0].node = nodes;
	let_look(0);
	a_store(&ring->nr_under_way, 0, relaxed);
}

static void one_submits(int id)
{
	/* As enlist_request(). */
	if (id == 1)
		a_store(&ring->nr_under_way, 1, relaxed);
	two_find(id);
}

#define ROW(text, nr, b, before, f)                             \
	.name = text, .nr_threads = nr, .bound = b, .stale = 1, \
	.timeouts = -1, .init = before, .thread = f

/* A nap ends when nobody else can move. */
#define FAR(text, nr, b, before, f)                             \
	.name = text, .nr_threads = nr, .bound = b, .stale = 1, \
	.init = before, .thread = f

#define LEFT(text, nr, before, f) ROW(text, nr, 4, before, f)

static const struct mc_scenario table[] = {
	{ FAR("all of its node compute", 2, 2, init_far_one, compute_far),
	  .final = all_came_once },
	{ FAR("all of its node compute, as shipped", 2, 1, init_far_shipped,
	      compute_far),
	  .final = all_came_once, .limit = 30000 },
	{ LEFT("all of its node have just found work", 2, init_one_found,
	       one_finds),
	  .must_see = { "sleeps" } },
	{ LEFT("it is left when it is to be dropped", 2, init_to_be_dropped,
	       one_finds) },
	{ LEFT("who was seen to look finds work", 3, init_far_found, two_find),
	  .must_see = { "sleeps" } },
	{ LEFT("it is left while who looked after it goes", 3,
	       init_looked_after, two_find),
	  .must_see = { "sleeps" } },
	{ LEFT("one submits, the other one finds work", 3, init_same_node,
	       one_submits),
	  .must_see = { "sleeps" } },
	{ FAR("who looked after it computes, another must", 3, 2, init_far_two,
	      compute_far),
	  .final = all_came_once, .limit = 60000,
	  .must_see = { "another went on" } },
};

MC_MAIN(table)
