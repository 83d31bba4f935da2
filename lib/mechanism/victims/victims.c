/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/victims/victims.h"

#include "base/clock.h"
#include "mechanism/far/far.h"
#include "mechanism/holdoff/holdoff.h"
#include "sched/sched.h"
#include "sched/steal_request.h"
#include "trace/counters.h"
#include "trace/usdt.h"

/*
 * An only item may be the successor that a body has spawned and that its owner
 * takes at once. An item that is there after a few looks is worth it.
 */
static bool is_stale(struct deque *d)
{
	uint64_t span = a_load(&d->span, relaxed);
	int i;

	if (span_split(span) - span_tail(span) != 1)
		return true;
	for (i = 0; i < 4; i++) {
		if (!deque_has_public(d))
			return false;
		a_delay();
	}
	return true;
}

/* Another node's work: items that we may not take stay, see far.h. */
static enum deque_result steal_far(struct worker *w, struct worker *victim,
				   int level, uint64_t *item)
{
	struct deque *d = &victim->deque[level];
	uint64_t span;

	if (!deque_look(d, &span, item))
		return DEQUE_EMPTY;
	/* A worker that has seen it sees that there is planned work. */
	if (item_is_planned(*item) && !far_allows(w, victim->node))
		return DEQUE_EMPTY;
	return deque_steal_at(d, span, item);
}

/* A bit for each of the victim's deques that this worker may take from. */
static inline unsigned deques_for(const struct worker *w, struct worker *victim,
				  bool is_near)
{
	int highest = is_near ? DEQUE_BOUND : DEQUE_BOUND - 1;
	int lowest = holdoff_holds(w, victim) ? CLASS_NORMAL + 1 : 0;

	return worker_deques(victim) & ((2u << highest) - (1u << lowest));
}

static void tell_steal(struct worker *w, struct worker *victim, bool is_near,
		       uint64_t item)
{
	holdoff_join(w, victim);
	counter_add(w->executor->counters,
		    is_near ? COUNTER_STEALS_NEAR : COUNTER_STEALS_FAR, 1);
	trace_event(w->executor->ring, EVENT_STEAL, (uint32_t)victim->id,
		    far_why(w, is_near, item));
	usdt_3(steal, w->id, victim->id, !is_near);
}

static bool steal_from(struct worker *w, int i, uint64_t *item)
{
	struct worker *victim = &w->sched->workers[w->victims[i]];
	bool is_near = i < w->nr_near;
	unsigned deques = deques_for(w, victim, is_near), left;
	enum deque_result rc;
	int level;

	for (left = deques; left; left &= ~(1u << level)) {
		level = 31 - __builtin_clz(left);
		if (!is_stale(&victim->deque[level]))
			continue;
		do {
			rc = is_near ? deque_steal(&victim->deque[level], item)
				     : steal_far(w, victim, level, item);
		} while (rc == DEQUE_LOST &&
			 (level == CLASS_URGENT || level == CLASS_SPARE));
		if (rc == DEQUE_TAKEN) {
			tell_steal(w, victim, is_near, *item);
			return true;
		}
	}
	if (deques & 1u << CLASS_NORMAL)
		steal_request_send(victim);
	return false;
}

static bool take_victims(struct worker *w, bool is_far, uint64_t *item)
{
	struct sched *s = w->sched;
	int nr = is_far ? s->nr_workers - 1 : w->nr_near, i;

	if (is_far && s->nr_nodes > 1)
		far_look(w, clock_ticks() - w->idle.since);
	for (i = 0; i < nr; i++)
		if (steal_from(w, i, item))
			return true;
	return false;
}

/* Anything that we may take? See holdoff.h and, of another node, far.h. */
static bool is_left(struct worker *w, struct worker *victim, int level)
{
	struct deque *d = &victim->deque[level];
	/* [park.d] after park_announce(); pairs with [deque.share]. */
	uint64_t span = a_load(&d->span, seq_cst), item;

	if (span_tail(span) == span_split(span))
		return false;
	if (level == DEQUE_BOUND)
		return victim->node == w->node;
	return (level > CLASS_NORMAL || !holdoff_hides(w, victim)) &&
	       (!deque_peek(d, &item) || !item_is_planned(item) ||
		far_allows(w, victim->node));
}

/* It looks at deques. Bound work is for workers of the node. */
static unsigned has_victims(struct worker *w)
{
	struct sched *s = w->sched;
	unsigned deques, found = 0;
	struct worker *v;
	int level;

	for (v = s->workers; v < s->workers + s->nr_workers; v++) {
		deques = worker_deques(v);
		for (level = 0; level < NR_DEQUES; level++)
			if (deques & 1u << level && is_left(w, v, level))
				found |= 1u << level;
	}
	return found;
}

const struct mechanism victims_mechanism = {
	.name = "victims",
	.uses = "far holdoff",
	.take = take_victims,
	.has = has_victims,
};
