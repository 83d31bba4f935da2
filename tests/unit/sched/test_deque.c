/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The deque from one thread: which item comes out where, what share and
 * reclaim move, when it is full, and that positions may wrap. What several
 * threads do to it is the model checker's part.
 */
#include "sched/deque.h"
#include "tests/tap.h"

#define SIZE 8

struct fixture {
	struct deque d;
	_Atomic(uint64_t) slot[SIZE];
};

/* An empty deque at the position at. */
static void make(struct fixture *f, uint32_t at)
{
	deque_init(&f->d, f->slot, SIZE - 1);
	f->d.head = f->d.split = at;
	f->d.limit = at + SIZE;
	a_store(&f->d.span, span_make(at, at), relaxed);
	a_store(&f->d.nr_read, at, relaxed);
}

/* Pushes first .. first + nr - 1; how many it took. */
static int push(struct fixture *f, uint64_t first, int nr)
{
	int i;

	for (i = 0; i < nr && deque_push(&f->d, first + (uint64_t)i); i++)
		;
	return i;
}

/* The item, or -1. */
static int64_t pop(struct fixture *f)
{
	uint64_t item;

	return deque_pop(&f->d, &item) ? (int64_t)item : -1;
}

static int64_t steal(struct fixture *f)
{
	uint64_t item;

	return deque_steal(&f->d, &item) == DEQUE_TAKEN ? (int64_t)item : -1;
}

static int64_t peek(struct fixture *f)
{
	uint64_t item;

	return deque_peek(&f->d, &item) ? (int64_t)item : -1;
}

static uint32_t nr_public(struct fixture *f)
{
	uint64_t span = a_load(&f->d.span, relaxed);

	return span_split(span) - span_tail(span);
}

static void owner_pops_the_youngest(void)
{
	struct fixture f;

	make(&f, 0);
	is(pop(&f), -1, "nothing to pop in a new deque");
	is(push(&f, 10, 3), 3, "three items fit");
	is(deque_size(&f.d), 3, "its size is three");
	is(pop(&f), 12, "the last one comes out first");
	is(pop(&f), 11, "then the one before");
	is(pop(&f), 10, "then the first");
	is(pop(&f), -1, "then nothing");
	is(deque_size(&f.d), 0, "its size is none");
}

static void private_items_are_not_stolen(void)
{
	struct fixture f;

	make(&f, 0);
	push(&f, 10, 4);
	ok(deque_has_private(&f.d), "pushed items are private");
	ok(!deque_has_public(&f.d), "and none is public");
	is(steal(&f), -1, "a thief finds nothing");
	is(peek(&f), -1, "nor does a look");
}

static void share_gives_the_older_half(void)
{
	struct fixture f;

	make(&f, 0);
	push(&f, 10, 5);
	deque_share(&f.d);
	is(nr_public(&f), 3, "of five private items three become public");
	is(peek(&f), 10, "a look shows the oldest");
	is(steal(&f), 10, "a thief takes the oldest");
	is(steal(&f), 11, "then the next");
	is(pop(&f), 14, "the owner still pops the youngest");
	deque_share(&f.d);
	is(nr_public(&f), 2, "of one private item one becomes public");
	is(steal(&f), 12, "the order goes on");
	is(steal(&f), 13, "to the end");
	is(steal(&f), -1, "then a thief finds nothing");
	is(pop(&f), -1, "and neither does the owner");
}

static void reclaim_takes_the_younger_half(void)
{
	struct fixture f;

	make(&f, 0);
	push(&f, 10, 8);
	deque_share(&f.d);
	deque_share(&f.d);
	deque_share(&f.d);
	deque_share(&f.d);
	is(nr_public(&f), 8, "all eight are public");
	ok(!deque_has_private(&f.d), "none is private");
	is(pop(&f), 17, "pop reclaims and gives the youngest");
	is(nr_public(&f), 4, "four stay public");
	ok(deque_has_private(&f.d), "three are private again");
	is(steal(&f), 10, "a thief takes the oldest");
	is(nr_public(&f), 3, "three are left to thieves");
	ok(deque_reclaim(&f.d), "reclaim by itself");
	is(nr_public(&f), 1, "of three public items two come back");
	is(deque_size(&f.d), 6, "none is lost");
}

static void reclaim_takes_a_single_item(void)
{
	struct fixture f;

	make(&f, 0);
	push(&f, 10, 1);
	deque_share(&f.d);
	is(nr_public(&f), 1, "the only item is public");
	is(pop(&f), 10, "the owner gets it back");
	is(nr_public(&f), 0, "nothing is public then");
	ok(!deque_reclaim(&f.d), "reclaim says so");
}

static void full_ring_refuses(void)
{
	struct fixture f;

	make(&f, 0);
	is(push(&f, 10, SIZE + 3), SIZE, "a ring of 8 takes 8");
	ok(!deque_push(&f.d, 99), "the next is refused");
	is(pop(&f), 17, "a pop makes room");
	is(push(&f, 20, 2), 1, "for one");
	is(pop(&f), 20, "which comes out again");
}

static void room_waits_for_the_reader(void)
{
	struct fixture f;

	make(&f, 0);
	push(&f, 10, SIZE);
	deque_share(&f.d);
	/* A thief that has won and has not read: tail moves, nr_read not. */
	a_add(&f.d.span, 1, relaxed);
	ok(!deque_push(&f.d, 99), "no room while a winner has not read");
	a_add(&f.d.nr_read, 1, relaxed);
	ok(deque_push(&f.d, 20), "room once it has");
	ok(!deque_push(&f.d, 99), "for one item");
	is(steal(&f), 11, "the item after the first is not written over");
	is(pop(&f), 20, "the new item is the youngest");
}

static void steal_makes_room(void)
{
	struct fixture f;
	int i;

	make(&f, 0);
	push(&f, 10, SIZE);
	deque_share(&f.d);
	for (i = 0; i < 4; i++)
		is(steal(&f), 10 + i, "thieves take item %d", i);
	is(push(&f, 20, 6), 4, "four stolen items make room for four");
	is(deque_size(&f.d), SIZE, "the ring is full again");
}

/* Everything once more while head, split and tail pass 2^32. */
static void positions_wrap(void)
{
	uint64_t next_in = 100, next_out = 100;
	struct fixture f;
	int i, nr_bad = 0;

	make(&f, UINT32_MAX - 20);
	for (i = 0; i < 20; i++) {
		nr_bad += push(&f, next_in, 5) != 5;
		next_in += 5;
		deque_share(&f.d);
		nr_bad += steal(&f) != (int64_t)next_out++;
		nr_bad += steal(&f) != (int64_t)next_out++;
		nr_bad += steal(&f) != (int64_t)next_out++;
		nr_bad += pop(&f) != (int64_t)--next_in;
		nr_bad += pop(&f) != (int64_t)--next_in;
		next_out = next_in;
		nr_bad += deque_size(&f.d) != 0;
	}
	is(nr_bad, 0, "20 rounds across 2^32 give each item once, in order");
	ok(f.d.head < UINT32_MAX - 20, "head has wrapped");
	is(push(&f, 1, SIZE + 1), SIZE, "after it the ring still takes 8");
}

static void wrap_keeps_full_full(void)
{
	struct fixture f;

	make(&f, UINT32_MAX - 3);
	is(push(&f, 10, SIZE + 1), SIZE, "8 fit with the wrap in the middle");
	deque_share(&f.d);
	is(nr_public(&f), 4, "four are public, up to position 0");
	is(steal(&f), 10, "a thief takes the oldest");
	deque_share(&f.d);
	is(nr_public(&f), 5, "split goes on behind the wrap");
	is(pop(&f), 17, "the owner pops the youngest");
	ok(deque_reclaim(&f.d), "reclaim across the wrap");
	is(nr_public(&f), 2, "keeps the two oldest public");
	is(steal(&f), 11, "in order");
}

int main(void)
{
	tap_start(60);
	owner_pops_the_youngest();
	private_items_are_not_stolen();
	share_gives_the_older_half();
	reclaim_takes_the_younger_half();
	reclaim_takes_a_single_item();
	full_ring_refuses();
	room_waits_for_the_reader();
	steal_makes_room();
	positions_wrap();
	wrap_keeps_full_full();
	return tap_end();
}
