/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds at a gate (mechanism/gate/gate.h). A kind whose gate is narrowed has
 * SLOW_GATED, one more bit of a word that is loaded before each body anyway, so
 * kinds without a gate, and gates that are as wide as the runtime, cost
 * nothing.
 *
 * The code that is about to call a body asks the gate, which may put the item
 * aside: tasks of graphs in chain_before(), all others in task_step_slowly(),
 * whether they come in turn, lie below a join, or go on. A join waits until
 * there is a token for what lies below it. In these ways a body runs that has
 * no token:
 *
 *	ring full			URGENT
 *	bound to a part of a node	ALWAYS tasks of runs that are cancelled
 *	with a deadline, of the task, its run or a scope above
 *	on a spare thread, or one of the blocking pool
 *	after a rest in a join		whoever has lost its token meanwhile
 *
 * Never aside: cancelled tasks, which are skipped at once. Tasks that are
 * cancelled while they lie aside are skipped by whoever takes them, as in a
 * deque. A static order ends where a token is wanted. A runtime of one worker,
 * serial mode too, never narrows a gate. A forked child has no worker that
 * could come to one.
 *
 *	kind.gate	changed under the runtime's lock; any worker looks, and
 *			may ask a gate that is not the kind's any more, which
 *			stays a gate: then a body has a token in vain
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
 * kinds that block or have CPUs of a team, that are members of a gang, or the
 * library's.
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

/*
 * Any thread: its kinds are at no gate from now on; it is out of the way, and
 * may get others.
 */
void gate_drop(struct gate *g);

/* With narrow=force the new kind gets one of a few gates, if there is memory.
 */
void gate_force(struct lkdf_kind *k);

/* Is gate_before() to be called? slow: of the kind that comes next. */
static inline bool gate_concerns(struct worker *w, uint32_t slow)
{
	return unlikely(slow & SLOW_GATED || gate_is_at(w));
}

/* This worker only, before a body. False: the item was put aside. */
bool gate_before(struct worker *w, struct lkdf_kind *k, uint32_t slow,
		 struct gate_item i);

#endif
