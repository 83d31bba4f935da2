/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Serial mode: a thread of the user runs what is ready, and waits for more. */
#include "sched/sched.h"

#include "base/thread.h"
#include "base/thrown.h"
#include "sched/nap.h"

/* A thread beside the one that drains looks again so soon. */
#define OTHER_DRAINS_NS 1000000

/* Inside a body the drain is further up this thread's stack. */
static bool may_drain(const struct sched *s)
{
	return s->is_serial &&
	       thread_self()->executor != s->workers[0].executor;
}

/* False: another thread drains, which may wait in a body for this one, and
 * does its part too. */
static bool begin_drain(struct sched *s)
{
	/* [sched.drain] what was pushed, or the deque; pairs with itself. */
	return !a_add(&s->nr_drains, 1, acq_rel);
}

/* The thread has begun to drain. */
static bool drain_serial(struct sched *s, int64_t nap_ns)
{
	struct thread *t = thread_self();
	void *executor = t->executor;
	bool has_moved = false;
	uint32_t nr;

	THROWN_ENDS_HERE;
	t->executor = s->workers[0].executor;
	depth_begin(&s->workers[0].depth);
	do {
		/* [sched.drain] as above. */
		nr = a_load(&s->nr_drains, acquire);
		has_moved |=
			worker_drain(&s->workers[0], has_moved ? 0 : nap_ns);
		/* [sched.drain] as above. */
	} while (a_sub(&s->nr_drains, nr, acq_rel) != nr);
	t->executor = executor;
	return has_moved;
}

void sched_drain(struct sched *s)
{
	if (may_drain(s) && begin_drain(s))
		drain_serial(s, 0);
}

bool sched_pass_time(struct sched *s, int64_t timeout_ns)
{
	int64_t earliest = a_load(&s->timers.earliest, relaxed), left;

	if (!s->order.is_on)
		return false;
	left = earliest - timers_now(&s->timers);
	if (earliest == TIMERS_NONE)
		left = -1;
	else if (left < 0)
		left = 0;
	left = nap_min(left, timeout_ns);
	if (left < 0)
		return false;
	timers_pass(&s->timers, left);
	return true;
}

bool sched_wait(struct sched *s, int64_t *timeout_ns)
{
	if (!may_drain(s))
		return false;
	if (begin_drain(s))
		return drain_serial(s, *timeout_ns);
	*timeout_ns = nap_min(*timeout_ns, OTHER_DRAINS_NS);
	return false;
}
