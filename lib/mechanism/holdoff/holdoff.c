/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/holdoff/holdoff.h"

#include "sched/nap.h"
#include "sched/sched.h"

void holdoff_begin(struct worker *w, uint64_t until, uint32_t width)
{
	until = max_u64(until & ~HOLDOFF_WIDTH, HOLDOFF_WIDTH + 1);
	a_store(&holdoff_of(w)->until, until | width, relaxed);
	/* So that what is pushed next is public. */
	w->offers.has_deferred = true;
}

void holdoff_stop(struct worker *w)
{
	a_store(&holdoff_of(w)->until, HELD_OFF_LATELY, relaxed);
	/* Nobody has been told of what was public meanwhile. */
	if (unlikely(deque_has_public(&w->deque[CLASS_NORMAL])))
		worker_notify(w, 1u << CLASS_NORMAL);
}

void holdoff_look(struct worker *w)
{
	if (holdoff_is_on(w) && !holdoff_keeps(w))
		holdoff_stop(w);
}

/* Workers of the group that sleep. */
static void call_group(struct worker *w)
{
	uint64_t until = a_load(&holdoff_of(w)->until, relaxed);
	int first, end, i;
	struct worker *v;

	first = w->id >> (until & HOLDOFF_WIDTH) << (until & HOLDOFF_WIDTH);
	end = first + (1 << (until & HOLDOFF_WIDTH));
	for (i = first; i < end && i < w->sched->nr_workers; i++) {
		v = &w->sched->workers[i];
		/* [holdoff.b] after the work is public; pairs with [part.c]. */
		if (a_load(&v->is_parking, seq_cst) &&
		    a_xchg(&v->is_parking, 0, relaxed))
			park_call(&v->node->park);
	}
}

/*
 * Others of the group may have half of it, and have been told: those that sleep
 * are called, and those that find nothing ask again.
 */
static void share_with_group(struct worker *w, struct deque *d)
{
	if (!deque_has_public(d))
		deque_share(d);
	/* [holdoff.a] before we look for sleepers; pairs with
	 * [steal_request.d]. */
	a_and(&w->attn, ~ATTN_STEAL, seq_cst);
	call_group(w);
}

/*
 * The oldest item is public while it keeps its work, and who asks is put off
 * until that is gone (worker_push). Only NORMAL items are kept.
 */
bool holdoff_answers(struct worker *w, bool is_short)
{
	struct deque *d = &w->deque[CLASS_NORMAL];

	if (!is_short || a_load(&w->other_classes, relaxed) ||
	    !holdoff_keeps(w)) {
		holdoff_stop(w);
		return false;
	}
	if (!holdoff_is_alone(w) &&
	    (deque_has_private(d) || deque_has_public(d))) {
		share_with_group(w, d);
		return true;
	}
	if (deque_has_private(d) && !deque_has_public(d))
		deque_share_some(d, 1);
	worker_defer_request(w);
	return true;
}

int64_t holdoff_nap(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t until, last = 0;
	int i;

	for (i = 0; i < s->nr_workers - 1; i++) {
		until = a_load(&holdoff_of(&s->workers[w->victims[i]])->until,
			       relaxed);
		last = max_u64(last, until);
	}
	/* A worker that kept its work a moment ago may do so again. */
	if (!last || (last == HELD_OFF_LATELY &&
		      holdoff_of(w)->nap_ns >= HOLDOFF_NAP_MAX_NS))
		return -1;
	return nap_grow(&holdoff_of(w)->nap_ns, 2, HOLDOFF_NAP_MIN_NS,
			HOLDOFF_NAP_MAX_NS);
}

static enum keeping what_it_keeps(const struct worker *w)
{
	if (!holdoff_is_on(w))
		return KEEPS_NOTHING;
	return holdoff_is_alone(w) ? KEEPS_ALONE : KEEPS_IN_GROUP;
}

/* Asleep it has nothing to keep. */
static void forget_time(struct worker *w)
{
	a_store(&holdoff_of(w)->until, 0, relaxed);
}

static void start_over(struct worker *w, bool has_found)
{
	if (has_found)
		holdoff_of(w)->nap_ns = 0;
}

const struct mechanism holdoff_mechanism = {
	.name = "holdoff",
	.of_worker = MECHANISM_DATA(struct holdoff),
	.enter = holdoff_leave,
	.before_sleep = forget_time,
	.nap = holdoff_nap,
	.leave = start_over,
	.keeps = what_it_keeps,
	.answers = holdoff_answers,
};
