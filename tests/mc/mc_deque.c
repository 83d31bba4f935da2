/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The split deque: every item is taken exactly once, with what its maker wrote,
 * while owner and thieves push, share, pop, reclaim, steal and wrap the ring,
 * and others make public what the owner keeps private.
 */
#include "mc.h"
#include "sched/deque.h"

#define MAX_ITEMS 4

static struct deque deque;
static _Atomic(uint64_t) slot[4];
static int payload[MAX_ITEMS + 1]; /* plain: the deque must order it */
static int taken[MAX_ITEMS + 1]; /* by which thread, each writes its own */
static int seen[MC_THREADS][MAX_ITEMS + 1];

static void init_with(uint32_t mask)
{
	int i, j;

	deque_init(&deque, slot, mask);
	mc_name(&deque.head, "head");
	mc_name(&deque.state, "state");
	mc_name(&deque.span, "span");
	for (i = 0; i < 4; i++)
		a_store(&slot[i], 0, relaxed);
	for (i = 0; i <= MAX_ITEMS; i++) {
		plain_store(&payload[i], 0);
		taken[i] = 0;
		for (j = 0; j < MC_THREADS; j++)
			seen[j][i] = 0;
	}
}

static void init(void)
{
	init_with(3);
}

static void init_small(void)
{
	init_with(1);
}

static void take(int id, uint64_t item)
{
	mc_assert(item >= 1 && item <= MAX_ITEMS);
	mc_assert(plain_load(&payload[item]) == (int)item * 10);
	seen[id][item]++;
}

static void push(int item)
{
	plain_store(&payload[item], item * 10);
	while (!deque_push(&deque, (uint64_t)item)) {
		mc_see("full");
		a_pause();
	}
}

static void pop_all(void)
{
	uint64_t item;

	while (deque_pop(&deque, &item))
		take(0, item);
}

static void steal(int id)
{
	uint64_t item;

	if (deque_steal(&deque, &item) == DEQUE_TAKEN) {
		mc_see("stolen");
		take(id, item);
	}
}

/* What is left when all have stopped is taken by nobody twice. */
static void each_once(int nr)
{
	uint64_t item;
	int i, j, sum;

	while (deque_pop(&deque, &item))
		take(0, item);
	for (i = 1; i <= nr; i++) {
		for (sum = 0, j = 0; j < MC_THREADS; j++)
			sum += seen[j][i];
		mc_assert(sum == 1);
	}
}

static void share_and_pop(int id)
{
	if (id) {
		steal(id);
		steal(id);
		return;
	}
	push(1);
	push(2);
	push(3);
	deque_share(&deque);
	pop_all();
}

static void three_once(void)
{
	each_once(3);
}

/* A position is popped, pushed again and shared while a thief looks at it. */
static void reuse_position(int id)
{
	uint64_t item;

	if (id) {
		steal(id);
		return;
	}
	push(1);
	deque_share(&deque);
	if (deque_pop(&deque, &item))
		take(0, item);
	push(2);
	deque_share(&deque);
	push(3);
	pop_all();
}

/* Two slots for four items: the owner must wait for a thief that reads. */
static void wrap(int id)
{
	int i;

	if (id) {
		steal(id);
		steal(id);
		return;
	}
	for (i = 1; i <= 3; i++) {
		plain_store(&payload[i], i * 10);
		if (!deque_push(&deque, (uint64_t)i)) {
			mc_see("full");
			seen[0][i]++;
			continue;
		}
		if (!deque_has_public(&deque))
			deque_share(&deque);
	}
	pop_all();
}

/* The same, where nothing is public unless somebody publishes it. */
static void wrap_published(int id)
{
	int i;

	if (id) {
		if (deque_publish_for(&deque))
			mc_see("published");
		steal(id);
		steal(id);
		return;
	}
	for (i = 1; i <= 3; i++) {
		plain_store(&payload[i], i * 10);
		if (deque_push(&deque, (uint64_t)i))
			continue;
		mc_see("full");
		seen[0][i]++;
	}
	pop_all();
}

static void peek_and_steal(int id)
{
	uint64_t item;

	if (id) {
		if (deque_peek(&deque, &item))
			mc_assert(item >= 1 && item <= 3);
		steal(id);
		return;
	}
	share_and_pop(0);
}

static void publish(void)
{
	if (deque_publish_for(&deque))
		mc_see("published");
	else
		mc_see("not published");
}

static void publish_and_steal(int id)
{
	publish();
	steal(id);
}

/* What is private is made public while its owner goes on. */
static void pop_and_publish(int id)
{
	uint64_t item;

	if (id) {
		publish_and_steal(id);
		return;
	}
	push(1);
	push(2);
	if (deque_pop(&deque, &item))
		take(0, item);
	push(3);
	if (deque_pop(&deque, &item))
		take(0, item);
}

/* The owner shares and takes back meanwhile: split is where it was. */
static void share_and_publish(int id)
{
	uint64_t item;

	if (id) {
		publish_and_steal(id);
		return;
	}
	push(1);
	push(2);
	deque_share_some(&deque, 1);
	if (deque_pop(&deque, &item))
		take(0, item);
	if (deque_pop(&deque, &item))
		take(0, item);
	push(3);
	deque_share(&deque);
}

/* Again, before the owner has noticed. */
static void publish_twice(int id)
{
	uint64_t item;

	if (id) {
		publish();
		publish();
		return;
	}
	push(1);
	push(2);
	if (deque_pop(&deque, &item))
		take(0, item);
	push(3);
}

/* The owner takes its oldest private item, if it is left in peace. */
static void hold(int id)
{
	uint32_t head, first;
	uint64_t item;

	if (id) {
		publish_and_steal(id);
		return;
	}
	push(1);
	push(2);
	if (deque_hold(&deque, &head)) {
		first = deque.split;
		if (head != first) {
			mc_see("held");
			item = deque_at(&deque, first);
			a_store(&deque.slot[first & deque.mask],
				deque_at(&deque, head - 1), relaxed);
			take(0, item);
			head--;
		}
		deque_raise(&deque, head);
	}
	push(3);
}

static void push_and_publish(int id)
{
	if (id == 1)
		publish();
	else if (id)
		steal(id);
	if (id)
		return;
	push(1);
	push(2);
	push(3);
	push(4);
}

static void four_once(void)
{
	each_once(4);
}

#define ROW(text, nr, b, before, f, after)                          \
	.name = text, .nr_threads = nr, .bound = b, .init = before, \
	.thread = f, .final = after

static const struct mc_scenario table[] = {
	{ ROW("owner and one thief", 2, 4, init, share_and_pop, three_once),
	  .must_see = { "stolen" } },
	{ ROW("owner and two thieves", 3, 2, init, share_and_pop, three_once),
	  .must_see = { "stolen" } },
	{ ROW("a position used again", 3, 3, init, reuse_position, three_once),
	  .must_see = { "stolen" } },
	{ ROW("a ring that wraps", 3, 3, init_small, wrap, three_once),
	  .must_see = { "stolen", "full" } },
	{ ROW("peek, then steal", 2, 3, init, peek_and_steal, three_once),
	  .must_see = { "stolen" } },
	{ ROW("publish while the owner pops", 2, 3, init, pop_and_publish,
	      three_once),
	  .must_see = { "stolen", "published", "not published" } },
	{ ROW("publish while the owner shares", 2, 3, init, share_and_publish,
	      three_once),
	  .must_see = { "stolen", "published", "not published" } },
	{ ROW("publish behind a body", 3, 3, init, push_and_publish, four_once),
	  .must_see = { "stolen", "published", "not published" } },
	{ ROW("publish again", 2, 3, init, publish_twice, three_once),
	  .must_see = { "published", "not published" } },
	{ ROW("publish what the owner holds", 2, 3, init, hold, three_once),
	  .must_see = { "held", "stolen", "published", "not published" } },
	{ ROW("publish where the ring wraps", 2, 4, init_small, wrap_published,
	      three_once),
	  .must_see = { "stolen", "full", "published" } },
};

MC_MAIN(table)
