/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Every decision of the scheduler that is not forced: pure functions over
 * topology and summaries, so that the workers, the tests and a simulator call
 * the very same code. Nothing here reads a clock or shared memory.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/util.h"

/* Priority classes, lowest first. */
enum sched_class {
	CLASS_IDLE,
	CLASS_NORMAL,
	CLASS_HIGH,
	CLASS_URGENT,
	CLASS_SPARE, /* URGENT tasks for spare threads too, task/urgent.h */
	NR_CLASSES,
};

/* Facts about a possible victim before the first run. */
struct policy_peer {
	int distance; /* 10 is local */
	bool shares_cache; /* last-level cache */
};

/*
 * Victims in the order a worker tries them: nearest first; among equals the
 * next higher number first, so that thieves start at different places.
 * order receives nr - 1 numbers. Returns how many of them are near: on the
 * thief's own node.
 */
int policy_steal_order(const struct policy_peer *peer, int nr, int self,
		       int *order);

/*
 * Which class to look at first: the highest that has work, but at every
 * POLICY_AGE'th pick the lowest, so that none starves. mask: one bit a class.
 */
#define POLICY_AGE 64
static inline enum sched_class policy_class(unsigned mask, uint32_t nr_picks)
{
	if (unlikely(nr_picks % POLICY_AGE == 0))
		return (enum sched_class)__builtin_ctz(mask);
	return (enum sched_class)(31 - __builtin_clz(mask));
}

/*
 * Which deque to look at first, where the bits above the classes stand for
 * children that the NORMAL deque had no room for, and above those for work that
 * is bound to the node. Both rank as NORMAL, and before it: those children are
 * younger, and fewer may run what is bound; at every POLICY_AGE'th pick after
 * it.
 */
static inline unsigned policy_deque(unsigned mask, uint32_t nr_picks)
{
	unsigned classes = mask & ((1u << NR_CLASSES) - 1);
	unsigned highest = 31 - (unsigned)__builtin_clz(mask);
	unsigned class;

	if (likely(classes == mask))
		return policy_class(mask, nr_picks);
	if (!classes)
		return highest;
	class = policy_class(classes, nr_picks);
	return class > CLASS_NORMAL || nr_picks % POLICY_AGE == 0 ? class
								  : highest;
}

/*
 * Is the work behind short bodies worth a wake-up? Rent or buy (Karlin et al.
 * 1990): once as much time has gone by as the wake-up costs. Bodies not known
 * to be short never wait.
 */
static inline bool policy_wake_now(uint64_t behind_ticks, uint64_t wake_ticks,
				   bool is_short)
{
	return !is_short || behind_ticks >= wake_ticks;
}

/*
 * Before a body: is all that is ready made public, and not half of it? Before
 * one that may be long, and before one that takes as long as handing over an
 * item does, if several are ready: idle workers would find half of them after
 * the body only. A chain has one, which stays where it is.
 */
static inline bool policy_share_all(uint64_t body_ticks, uint64_t share_ticks,
				    uint32_t nr_ready, bool is_short)
{
	return !is_short || (body_ticks >= share_ticks && nr_ready > 1);
}

/*
 * A serial stage has run and somebody asks for work: does the worker go on with
 * the stage, and leave the wave to others? A stage that waits behind the rest
 * of its wave until a thief has come for it is late by what handing over takes.
 * A wave that is handed over waits as long, but no other wave waits for it.
 */
static inline bool policy_keep_stage(uint64_t body_ticks, uint64_t share_ticks)
{
	return body_ticks >= share_ticks / 2;
}

/*
 * Pauses between two looks of an idle worker: the more workers look, the more
 * rarely each does, so that those at work keep their lines for as long.
 */
static inline int policy_pauses(int nr_workers)
{
	return nr_workers < 16 ? 1 : nr_workers < 64 ? nr_workers / 8 : 8;
}

/*
 * Does an idle worker go on looking for work? If there are more than
 * POLICY_SPINNERS on a node, half of them do, those of even number: whoever
 * finds work wakes others.
 */
#define POLICY_SPINNERS 16
static inline bool policy_spins_on(uint32_t nr_spin, uint32_t nr_sleep, int id)
{
	return nr_spin <= POLICY_SPINNERS || nr_spin <= nr_sleep || id % 2 == 0;
}

/*
 * A worker has found an item and others sleep: does it wake several at once? A
 * body that is over before they are awake needs nobody.
 */
static inline bool policy_wake_tree(uint64_t body_ticks, uint64_t wake_ticks)
{
	return body_ticks >= wake_ticks;
}

/*
 * How many sleepers it wakes: one for each public item that those who look for
 * work will leave. A worker wakes POLICY_TREE at most: the woken wake others.
 */
#define POLICY_TREE 4
static inline uint32_t policy_nr_wakes(uint32_t nr_public, uint32_t nr_spin,
				       uint32_t nr_sleep, uint32_t most)
{
	uint64_t nr;

	if (nr_public <= nr_spin)
		return 0;
	nr = min_u64(nr_public - nr_spin, most);
	return (uint32_t)min_u64(nr, nr_sleep);
}

/*
 * A thread makes so many items at once, all of bodies that outlast a wake-up:
 * how many workers shall be awake or on their way when it goes on? Each of
 * these wakes others for the rest.
 */
static inline uint32_t policy_nr_first(uint32_t nr_items)
{
	return nr_items / POLICY_TREE + (nr_items % POLICY_TREE != 0);
}

/* May a thief go far? URGENT work at once, else after half its spin window. */
static inline bool policy_steal_far(uint64_t idle_ticks, uint64_t window_ticks)
{
	return idle_ticks * 2 >= window_ticks;
}

#endif
