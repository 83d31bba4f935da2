/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/keep.h"

#include "sched/nap.h"
#include "sched/sched.h"

void keep_stop(struct worker *w)
{
	a_store(&w->keeps_until, KEPT_LATELY, relaxed);
	/* Of what was public meanwhile nobody has been told. */
	if (unlikely(deque_has_public(&w->deque[CLASS_NORMAL])))
		worker_notify(w, 1u << CLASS_NORMAL);
}

void keep_look(struct worker *w)
{
	if (keep_is_on(w) && !keep_holds(w))
		keep_stop(w);
}

bool keep_push(struct worker *w, uint64_t item)
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
 * until that is gone (worker_push). What is not NORMAL is not kept.
 */
bool keep_answers(struct worker *w, bool is_short)
{
	struct deque *d = &w->deque[CLASS_NORMAL];

	if (!is_short || w->other_classes || !keep_holds(w)) {
		keep_stop(w);
		return false;
	}
	if (deque_has_private(d) && !deque_has_public(d))
		deque_share_some(d, 1);
	worker_put_off(w);
	return true;
}

int64_t keep_nap(struct worker *w)
{
	struct sched *s = w->sched;
	uint64_t until, last = 0;
	int i;

	for (i = 0; i < s->nr_workers - 1; i++) {
		until = a_load(&s->workers[w->victims[i]].keeps_until, relaxed);
		last = max_u64(last, until);
	}
	/* Who kept its work a moment ago may do so again. */
	if (!last || (last == KEPT_LATELY && w->keep_nap_ns >= KEEP_NAP_MAX_NS))
		return -1;
	return nap_grow(&w->keep_nap_ns, 2, KEEP_NAP_MIN_NS, KEEP_NAP_MAX_NS);
}
