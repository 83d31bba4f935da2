/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Work that is placed on a part of a node's workers, which all sleep on one
 * futex. A thread pushes one link and waits until it runs; the workers run
 * idle.c as it is shipped. A deadlock shows who was not called.
 */
#include "mechanism/part/part.h"
#include "strand.h"

static struct part part;
static struct part *parts[1];

/* Worker 1's; each worker's, if it only prefers the part. */
static bool is_bound;

static void run(struct worker *w, uint64_t item)
{
	mc_assert(link_of_item(item) == &child);
	mc_assert(plain_load(&payload) == 1);
	mc_assert(!is_bound || w->id == 1);
	if (w->id != 1)
		mc_see("helped");
	a_add(&nr_started, 1, relaxed);
}

static void init_queue(struct backlog *b)
{
	a_store(&b->first, NULL, relaxed);
	a_store(&b->lock.word, 0, relaxed);
	plain_store(&b->last, NULL);
}

/* Made, but in no list yet. */
static void init_part(int nr)
{
	init_with(nr, false);
	init_queue(&part.bound);
	init_queue(&part.wish);
	part.node = &nodes[0];
	part.next = NULL;
	part.first = 1;
	part.nr = 1;
	part.id = 0;
	parts[0] = &part;
	sched.parts = parts;
	sched.nr_parts = 1;
	a_store(&nodes[0].parts, NULL, relaxed);
	is_bound = true;
	mc_name(&workers[1].is_parking, "is_drowsy1");
	mc_name(&part.bound.first, "bound");
	mc_name(&part.wish.first, "wish");
}

static void init_new(void)
{
	init_part(2);
}

static void init_bound(void)
{
	init_part(2);
	a_store(&nodes[0].parts, &part, relaxed);
}

static void init_bound_beside(void)
{
	init_part(3);
	a_store(&nodes[0].parts, &part, relaxed);
}

/* Worker 1 is in a body. */
static void init_wish(void)
{
	init_bound_beside();
	is_bound = false;
}

static void push(bool bound)
{
	plain_store(&payload, 1);
	if (part_push(&sched, 0, NULL, &child, bound))
		mc_see("woken");
	spin_until_started();
	stop();
}

static void bound_to_part(int id)
{
	if (id)
		worker_run(&workers[id]);
	else
		push(true);
}

/* As part_make.c goes about it. */
static void bound_to_new_part(int id)
{
	if (!id)
		a_store(&nodes[0].parts, &part, seq_cst);
	bound_to_part(id);
}

static void prefers_part(int id)
{
	if (id == 1)
		spin_until_started();
	else if (id)
		worker_run(&workers[id]);
	else
		push(false);
}

#define ROW(text, nr, b, before, f)                             \
	.name = text, .nr_threads = nr, .bound = b, .stale = 1, \
	.timeouts = -1, .init = before, .thread = f, .final = ran_once

static const struct mc_scenario table[] = {
	{ ROW("bound to one that is idle", 2, 3, init_bound, bound_to_part),
	  .must_see = { "woken" } },
	{ ROW("another of its node sleeps, too", 3, 1, init_bound_beside,
	      bound_to_part),
	  .limit = 60000, .must_see = { "woken" } },
	{ ROW("the part is new", 2, 3, init_new, bound_to_new_part),
	  .must_see = { "woken" } },
	{ ROW("another one helps", 3, 1, init_wish, prefers_part),
	  .limit = 60000, .must_see = { "woken", "helped" } },
};

MC_MAIN(table)
