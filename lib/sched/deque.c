/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/deque.h"

/* Owner only. Somebody has moved split: where is it? False: it still may. */
static bool notice_thieves(struct deque *d)
{
	uint32_t published = DEQUE_PUBLISHED;

	/*
	 * [deque.notice] split, before we load it; pairs with
	 * [deque.published]. A thief that moves it again says so again.
	 */
	if (!a_cas(&d->state, &published, DEQUE_PRIVATE, acquire, relaxed))
		return published == DEQUE_PRIVATE;
	d->split = span_split(a_load(&d->span, relaxed));
	return true;
}

/* Neither head nor split may get lower while somebody publishes. */
bool deque_pop_published(struct deque *d, uint32_t head, uint64_t *item)
{
	enum deque_result rc;

	deque_raise(d, head);
	if (notice_thieves(d))
		return deque_pop(d, item);
	deque_share_all(d);
	do
		rc = deque_steal(d, item);
	while (rc == DEQUE_LOST);
	return rc == DEQUE_TAKEN;
}

bool deque_hold(struct deque *d, uint32_t *head)
{
	*head = deque_head(d);
	if (likely(deque_lower(d, d->split)))
		return true;
	deque_raise(d, *head);
	return notice_thieves(d) && deque_hold(d, head);
}

uint32_t deque_publish_for(struct deque *d)
{
	uint32_t was = a_load(&d->state, relaxed), head, nr;
	uint64_t span;

	/* [deque.publish] before the barrier, and that before we read head;
	 * pairs with [deque.lower]. */
	if (was == DEQUE_PUBLISHING ||
	    !a_cas(&d->state, &was, DEQUE_PUBLISHING, seq_cst, relaxed))
		return 0;
	membarrier_all();
	span = a_load(&d->span, relaxed);
	/* [deque.head] what lies below it; pairs with [deque.put],
	 * [deque.raise] and [deque.lower]. */
	head = a_load(&d->head, seq_cst);
	nr = head - span_split(span);
	/* [deque.published] as [deque.share], for us; if span has moved others
	 * are at it. */
	if ((int32_t)nr <= 0 ||
	    !a_cas(&d->span, &span, span_make(span_tail(span), head), release,
		   relaxed))
		nr = 0;
	/* [deque.published] split; pairs with [deque.notice]. */
	a_store(&d->state, nr ? DEQUE_PUBLISHED : was, release);
	return nr;
}
