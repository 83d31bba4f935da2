/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Work that is placed on a part of a node's workers, which all sleep on one
 * futex. A thread pushes one link and waits until it runs; the workers run
 * idle.c as it is shipped. A deadlock shows who was not called. And members of
 * a gang, which workers run before anything that other members have made.
 */
#include "mechanism/due/due.h"
#include "mechanism/part/part.h"
#include "strand.h"

static struct part part;
static struct part *parts[1];

/* Worker 1's; each worker's, if it only prefers the part. */
static bool is_bound;

/* Of worker 1 in a gang; or not used. */
static _Alignas(LINK_ALIGN) struct link member;
static bool has_begun; /* worker 1's */
static _Atomic(uint32_t) nr_members;

static bool is_member(const struct link *link, const void *u)
{
	(void)u;
	return link == &member;
}

/* As run_items() in run.c. True: the item is not the worker's. */
static bool leave_to_others(struct worker *w, uint64_t item)
{
	if (!due_is(w) || is_member(link_of_item(item), NULL))
		return false;
	mc_see("put back");
	inbox_push(&w->node->inbox, link_of_item(item));
	notify_any(&sched, w->node);
	return true;
}

static void run_member(struct worker *w)
{
	mc_assert(w->id == 1);
	has_begun = true;
	due_set(&sched, w->id, w->id + 1, 0);
	a_add(&nr_members, 1, relaxed);
}

static void run(struct worker *w, uint64_t item)
{
	if (leave_to_others(w, item))
		return;
	if (link_of_item(item) == &member) {
		run_member(w);
		return;
	}
	mc_assert(w->id != 1 || !sched.ops.precedes || has_begun);
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
	sched.ops.precedes = NULL;
	part_in(&sched)->parts = parts;
	part_in(&sched)->nr_parts = 1;
	a_store(&part_at(&nodes[0])->parts, NULL, relaxed);
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
	a_store(&part_at(&nodes[0])->parts, &part, relaxed);
}

static void init_bound_beside(void)
{
	init_part(3);
	a_store(&part_at(&nodes[0])->parts, &part, relaxed);
}

/* Worker 1 is in a body. */
static void init_wish(void)
{
	init_bound_beside();
	is_bound = false;
}

/* Worker 0 is the thread that runs the gang, as gang.c goes about it. */
static void init_gang(int nr)
{
	init_part(nr);
	a_store(&part_at(&nodes[0])->parts, &part, relaxed);
	sched.ops.precedes = is_member;
	member.type = 0;
	is_bound = has_begun = false;
	a_store(&nr_members, 0, relaxed);
	mc_name(&due_of(&workers[1])->is_due, "is_due1");
}

static void init_pair(void)
{
	init_gang(2);
}

static void init_pair_beside(void)
{
	init_gang(3);
}

/* The member, and then what member 0 makes. */
static void gang_of_two(int id)
{
	if (id) {
		worker_run(&workers[id]);
		return;
	}
	due_set(&sched, 1, 2, 1);
	part_push(&sched, 0, NULL, &member, true);
	plain_store(&payload, 1);
	inbox_push(&nodes[0].inbox, &child);
	notify_any(&sched, &nodes[0]);
	spin_until_started();
	while (!a_load(&nr_members, relaxed))
		a_pause();
	stop();
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
		a_store(&part_at(&nodes[0])->parts, &part, seq_cst);
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
	{ ROW("a member comes first", 2, 3, init_pair, gang_of_two) },
	{ ROW("a member, another worker beside it", 3, 1, init_pair_beside,
	      gang_of_two),
	  .limit = 60000, .must_see = { "helped" } },
};

MC_MAIN(table)
