/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds at a gate (mechanism/gate/gate.h). A kind whose gate is narrowed has
 * SLOW_GATED, one more bit of a word that is loaded before each body anyway, so
 * kinds without a gate, and gates that are as wide as the runtime, cost
 * nothing.
 *
 * Run loops ask the gate before a body, and may have its item put aside: tasks
 * of graphs in chain_before(), submitted and spawned ones in
 * task_run_in_turn(). Elsewhere bodies lie on top of others, in joins and in
 * spawns that run their child: there a worker takes a token if there is one,
 * and runs the body in any case. In these ways a body runs that has no token:
 *
 *	ring full			items in joins, waits and inlined spawns
 *	of a class but NORMAL		LKDF_PINNED, placed and planned tasks
 *	a continuation			ALWAYS tasks of runs that are cancelled
 *	on a spare thread		what a region of a seal has taken in
 *	after a rest in a join		whoever has lost its token meanwhile
 *	with a deadline, of the task, its run or a scope above
 *
 * Never aside: cancelled tasks, which are skipped at once. Tasks that are
 * cancelled while they lie aside are skipped by whoever takes them, as in a
 * deque. A static order ends where a token is wanted. A runtime of one worker,
 * serial mode too, never narrows a gate. A forked child has no worker that
 * could come to one.
 *
 *	kind.gate	set once under the runtime's lock; any worker looks
 *	kind.slow	SLOW_GATED comes and goes under the runtime's lock
 */
#ifndef TASK_GATE_H
#define TASK_GATE_H

#include "mechanism/gate/gate.h"
#include "task/kind.h"

/* Values of option narrow. */
enum narrow_wish {
	NARROW_WISH_OFF,
	NARROW_WISH_AUTO,
	NARROW_WISH_FORCE, /* all kinds of the user, for tests */
};

struct lkdf;

/*
 * A gate without kinds; it stays until the runtime closes. NULL: no memory, or
 * a library without gates.
 */
struct gate *gate_create(struct lkdf *rt);

/*
 * False: the kind is at another gate, or its bodies cannot wait there: those of
 * kinds with limits, that block, that are members of a gang, or the library's.
 */
bool gate_add(struct gate *g, struct lkdf_kind *k);

/* As gate_add(), under the lock of the runtime, where kinds stay. */
bool gate_add_locked(struct gate *g, struct lkdf_kind *k);

/*
 * Any thread: so many workers may run bodies of the set, 1 or more. As many as
 * there are, or more: the gate is out of the way, and what lies aside is for
 * all.
 */
void gate_set_cap(struct gate *g, uint32_t cap);

/* With narrow=force the new kind gets one of a few gates, if there is memory.
 */
void gate_force(struct lkdf_kind *k);

/* Is gate_before() to be called? slow: of the kind that comes next. */
static inline bool gate_concerns(struct worker *w, uint32_t slow)
{
	return unlikely(slow & SLOW_GATED || gate_is_at(w));
}

/* An item that may be put aside; 0: none may, for that reason. */
struct gate_item {
	uint64_t item;
	enum gate_pass why;
};

/* This worker only, before a body. False: the item was put aside. */
bool gate_before(struct worker *w, struct lkdf_kind *k, uint32_t slow,
		 struct gate_item i);

#endif
