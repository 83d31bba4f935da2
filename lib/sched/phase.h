/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The engine's calls of mechanisms on the way of a worker that looks for work,
 * each in the phase in which it may come. Debug builds check that:
 *
 *	BUSY --enter--> LOOKS --take--> TOOK --leave--> BUSY
 *	                LOOKS --leave, nothing found--> BUSY
 *	                LOOKS --before_sleep--> DROWSY --after_wake--> LOOKS
 */
#ifndef SCHED_PHASE_H
#define SCHED_PHASE_H

#include "base/util.h"
#include "sched/sched.h"

CHECK_ONLY static const uint8_t phase_moves[] = {
	[PHASE_BUSY] = MOVE_TO(PHASE_LOOKS),
	[PHASE_LOOKS] = MOVE_TO(PHASE_TOOK) | MOVE_TO(PHASE_DROWSY) |
			MOVE_TO(PHASE_BUSY),
	[PHASE_TOOK] = MOVE_TO(PHASE_BUSY),
	[PHASE_DROWSY] = MOVE_TO(PHASE_LOOKS),
};

static inline void phase_move(struct worker *w, enum phase to)
{
	check_move(phase_moves, w->idle.phase, to);
	w->idle.phase = to;
}

/* It begins to look for work. */
static inline void phase_enter(struct worker *w)
{
	const struct mechanism_calls *c = &w->sched->calls;
	size_t i;

	phase_move(w, PHASE_LOOKS);
	for (i = 0; c->enter[i]; i++)
		c->enter[i](w);
}

/* A round over all places. True: *item is the caller's. */
static inline bool phase_take(struct worker *w, bool is_far, uint64_t *item)
{
	const struct mechanism_calls *c = &w->sched->calls;
	bool found = false;
	size_t i;

	check(w->idle.phase == PHASE_LOOKS);
	if (c->is_due(w))
		found = c->take_due(w, item);
	else
		for (i = 0; c->take[i] && !found; i++)
			found = c->take[i](w, is_far, item);
	check(!found || *item);
	if (found)
		phase_move(w, PHASE_TOOK);
	return found;
}

/* It has not found any. */
static inline void phase_before_sleep(struct worker *w)
{
	const struct mechanism_calls *c = &w->sched->calls;
	size_t i;

	phase_move(w, PHASE_DROWSY);
	for (i = 0; c->before_sleep[i]; i++)
		c->before_sleep[i](w);
}

/* It is about to say that it sleeps; a mechanism may do so while it looks. */
static inline void phase_announce(struct worker *w)
{
	const struct mechanism_calls *c = &w->sched->calls;
	size_t i;

	check(w->idle.phase == PHASE_LOOKS || w->idle.phase == PHASE_DROWSY);
	for (i = 0; c->announce[i]; i++)
		c->announce[i](w);
}

/* It has said so: the least of ns and what mechanisms answer; -1: for ever. */
static inline int64_t phase_nap(struct worker *w, int64_t ns)
{
	const struct mechanism_calls *c = &w->sched->calls;
	int64_t one;
	size_t i;

	check(w->idle.phase == PHASE_DROWSY);
	for (i = 0; c->nap[i]; i++) {
		one = c->nap[i](w);
		check(one >= -1);
		ns = (int64_t)min_u64((uint64_t)ns, (uint64_t)one);
	}
	return ns;
}

static inline void phase_after_wake(struct worker *w)
{
	const struct mechanism_calls *c = &w->sched->calls;
	size_t i;

	phase_move(w, PHASE_LOOKS);
	for (i = 0; c->after_wake[i]; i++)
		c->after_wake[i](w);
}

/* Outside of all bodies, until it may run: asleep it has no CPU to lose. */
static inline void phase_stand_by(struct worker *w)
{
	check(w->idle.phase == PHASE_BUSY || w->idle.phase == PHASE_DROWSY);
	w->sched->calls.stand_by(w);
}

/* It looks no more: it has taken something, or is told to stop. */
static inline void phase_leave(struct worker *w, bool has_found)
{
	const struct mechanism_calls *c = &w->sched->calls;
	size_t i;

	check(has_found == (w->idle.phase == PHASE_TOOK));
	phase_move(w, PHASE_BUSY);
	for (i = 0; c->leave[i]; i++)
		c->leave[i](w, has_found);
}

/* A row that leaves one of these out would lose work, or wake-ups. */
static inline void phase_check_row(const struct mechanism *m)
{
	CHECK_ONLY bool leaves = m->leave || m->after_wake;

	check_as(!m->take == !m->has, "take and has");
	check_as(!m->spin == !m->spin_ns, "spin and spin_ns");
	check_as(!m->has_news == !m->pop, "has_news and pop");
	check_as(!m->must_leave == !m->stand_by, "must_leave and stand_by");
	check_as(!m->is_watched == !m->watch, "is_watched and watch");
	check_as(!m->is_due == !m->take_due, "is_due and take_due");
	check_as(!m->answers || m->keeps, "answers without keeps");
	check_as(leaves || !(m->before_sleep || m->announce),
		 "before_sleep without after_wake");
}

#define CHECK_ALONE(field) \
	check_as(!one->field || !m->field, #field " is set by two rows")

/* Row nr: of a field for one row the engine would call the last one alone. */
static inline void phase_check_alone(const struct mechanism *const *rows,
				     size_t nr)
{
	CHECK_ONLY const struct mechanism *m = rows[nr], *one;
	size_t i;

	for (i = 0; i < nr; i++) {
		one = rows[i];
		CHECK_ALONE(keeps);
		CHECK_ALONE(answers);
		CHECK_ALONE(wakes_others);
		CHECK_ALONE(is_watched);
		CHECK_ALONE(watch);
		CHECK_ALONE(has_news);
		CHECK_ALONE(pop);
		CHECK_ALONE(must_leave);
		CHECK_ALONE(stand_by);
		CHECK_ALONE(is_due);
		CHECK_ALONE(take_due);
	}
}

#endif
