/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A crew is the range of one loop, offered to the idle workers of a node: they
 * see it while they look for work, and take part without a steal. There is one
 * crew a node, so one loop at a time has it.
 *
 * Each worker has a seat with a range of units of its own, and so has the
 * leader, the thread that opened the crew. A thread takes units from the front
 * of its range, and from the back of another one when its own is empty. Both
 * are one compare-and-swap on one word, which holds begin and end: the word
 * says all, so an old one that comes again does no harm.
 *
 *	 claim        open         dry
 *	FREE ---> SET -------> OPEN -------> DRY
 *	  ^      leader    \     leader    /  whoever finds all seats empty
 *	  +---- SET <-------+--------------+
 *	  all are out       close
 *
 * Members are counted by groups of four seats, so that few CPUs share a line:
 *
 *	worker                           leader
 *	(A) nr_in of its group + 1       (C) state is SET
 *	(B) looks at the state           (D) looks at nr_in of all groups
 *
 * All four are seq_cst. Either B sees C and the worker is no member, or D sees
 * A and the leader waits for it. A leader that sleeps says so in is_waited,
 * and looks once more; a member that leaves looks there after it has left.
 */
#ifndef MECHANISM_CREW_H
#define MECHANISM_CREW_H

#include "base/atomic.h"
#include "base/util.h"
#include "mechanism/rows.h"
#include "sched/worker.h"

#include <stdbool.h>
#include <stdint.h>

#define CREW_GROUP 4

enum crew_state {
	CREW_FREE, /* no loop has it */
	CREW_SET, /* the leader's alone, but for members that go */
	CREW_OPEN, /* idle workers come in */
	CREW_DRY, /* members work on, and nobody else has a reason to come */
};

struct crew_seat {
	/* Any member and the leader: units, begin : 32 | end : 32. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) range;

	/* Set at create, constant afterwards: what its worker runs to enter. */
	uint64_t item;
};

struct crew_group {
	/* Any worker of the group. */
	_Alignas(CACHE_LINE) _Atomic(uint32_t) nr_in;
};

struct crew {
	/* The leader; a member makes it dry. Read by all idle workers. */
	_Alignas(CACHE_LINE) _Atomic(uint32_t) state;
	_Atomic(uint32_t) leader; /* its seat; while SET its alone */

	/* Set while SET, constant while there are members. */
	void *work;

	/* Set at create, constant afterwards. */
	uint32_t nr_seats, nr_groups; /* of workers; the last seat has none */
	struct crew_seat *seat;
	struct crew_group *group;
	void *items; /* freed with it */

	/* Any member: wake-ups that are still worth it. */
	_Alignas(CACHE_LINE) _Atomic(int32_t) nr_wakes;

	/* The leader sets, members clear: a futex. */
	_Atomic(uint32_t) is_waited;
};

/* For each node. */
struct crew_node {
	/* Set once, by the first loop; constant afterwards, freed at the end.
	 */
	_Atomic(struct crew *) crew; /* NULL: none yet */
};

extern const struct mechanism crew_mechanism;

static inline struct crew_node *crew_at(const struct sched_node *node)
{
	return node->data[SLOT_CREW];
}

/* Seats for so many workers, numbered from 0, and one more. NULL: no memory. */
struct crew *crew_create(uint32_t nr_workers);
void crew_destroy(struct crew *c); /* NULL-safe */

/* ---- leader ------------------------------------------------------------- */

/* False: another loop has it. */
bool crew_claim(struct crew *c);

/* The leader deals units 0 .. nr - 1: a share for each seat up to last. */
void crew_deal(struct crew *c, uint32_t nr, uint32_t last);

/* The leader's seat is no worker's meanwhile. */
void crew_open(struct crew *c, uint32_t leader, void *work);

/* Nobody comes in any more. */
void crew_close(struct crew *c);

/* After the close: are all out, and what they did seen? */
bool crew_is_out(struct crew *c);

/*
 * The leader is about to sleep on is_waited while it is 1, if that is still
 * right: the next member that leaves makes it 0 and wakes the leader.
 */
void crew_is_awaited(struct crew *c);

/* All are out: the next loop may have it. */
void crew_free(struct crew *c);

/* ---- workers ------------------------------------------------------------ */

/* A look: has the worker of that seat a reason to enter? */
static inline bool crew_offers(struct crew *c, uint32_t seat)
{
	/* [crew.look] after park_announce(), for a sleeper; pairs with
	 * [crew.open]. */
	return a_load(&c->state, seq_cst) == CREW_OPEN &&
	       a_load(&c->leader, relaxed) != seat;
}

/* The item with which a worker takes part in the crew of its node. */
static inline bool crew_offered(_Atomic(struct crew *) *of_node, uint32_t seat,
				uint64_t *item)
{
	/* [crew.node] seats of a new one; pairs with itself. */
	struct crew *c = a_load(of_node, acquire);

	if (!c || !crew_offers(c, seat))
		return false;
	*item = c->seat[seat].item;
	return true;
}

/* False: it is over. Else crew_leave() it. */
bool crew_enter(struct crew *c, uint32_t seat);
void crew_leave(struct crew *c, uint32_t seat);

/* ---- members and the leader --------------------------------------------- */

/* Units from the front of the own range, at most so many; 0: none. */
uint32_t crew_take(struct crew *c, uint32_t seat, uint32_t most,
		   uint32_t *begin);

/*
 * From the back of another range to the own one, which is empty: half, or all
 * if that is no more than few. False: no seat has any; then it is dry.
 */
bool crew_steal(struct crew *c, uint32_t seat, uint32_t few);

/* So many of the wake-ups that are left are the caller's to do. */
uint32_t crew_take_wakes(struct crew *c, uint32_t most);

#endif
