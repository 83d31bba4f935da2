/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/holdoff.h"

#include "sched/nap.h"
#include "sched/sched.h"

void holdoff_stop(struct worker *w)
{
	a_store(&w->holdoff_until, HELD_OFF_LATELY, relaxed);
	/* Of what was public meanwhile nobody has been told. */
	if (unlikely(deque_has_public(&w->deque[CLASS_NORMAL])))
		worker_notify(w, 1u << CLASS_NORMAL);
}

void holdoff_look(struct worker *w)
{
	if (holdoff_is_on(w) && !holdoff_holds(w))
		holdoff_stop(w);
}

bool holdoff_push(struct worker *w, uint64_t item)
{
	struct deque *d = &w->deque[CLASS_NORMAL];

	if (!deque_push(d, item))
		return false;
	if (!deque_has_public(d))
		deque_share_some(d, 1);
	return true;
}

/*
 * The oldest item is public while it keeps its work, and who asks is put off
 * until that is gone (worker_push). Only NORMAL items are kept.
 */
bool holdoff_answers(struct worker *w, bool is_short)
{
	struct deque *d = &w->deque[CLASS_NORMAL];

	if (!is_short || a_load(&w->other_classes, relaxed) ||
	    !holdoff_holds(w)) {
		holdoff_stop(w);
		return false;
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
		until = a_load(&s->workers[w->victims[i]].holdoff_until,
			       relaxed);
		last = max_u64(last, until);
	}
	/* A worker that kept its work a moment ago may do so again. */
	if (!last || (last == HELD_OFF_LATELY &&
		      w->holdoff_nap_ns >= HOLDOFF_NAP_MAX_NS))
		return -1;
	return nap_grow(&w->holdoff_nap_ns, 2, HOLDOFF_NAP_MIN_NS,
			HOLDOFF_NAP_MAX_NS);
}
