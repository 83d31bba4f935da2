/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "scope/deadline.h"

#include "base/clock.h"
#include "base/futex.h"
#include "core/completion.h"
#include "core/runtime.h"
#include "mechanism/client/client.h"
#include "sched/tick.h"

#include <errno.h>

static void fire_deadline(struct timer *t)
{
	struct lkdf_scope *s = container_of(t, struct lkdf_scope, timer);

	trace_is_late(&s->rt->trace);
	scope_expire(s);
}

void deadline_set(struct lkdf_scope *s, int64_t ns)
{
	int64_t end = ns ? timers_end_of(&s->rt->sched.timers, ns) : -1;

	if (end < 0)
		return;
	a_store(&s->end_ns, end, relaxed);
	s->timer.end_ns = end;
	s->timer.fire = fire_deadline;
	sched_add_timer(&s->rt->sched, &s->timer);
}

void deadline_drop(struct lkdf_scope *s)
{
	if (s->timer.fire)
		sched_del_timer(&s->rt->sched, &s->timer);
}

bool deadline_is_over(const struct lkdf_scope *s)
{
	int64_t now = 0, end;

	for (; s; s = s->parent) {
		end = a_load(&s->end_ns, relaxed);
		if (!end)
			continue;
		if (!now)
			now = timers_now(&s->rt->sched.timers);
		if (now >= end)
			return true;
	}
	return false;
}

bool deadline_is_ahead(const struct lkdf_scope *s)
{
	if (likely(timers_are_empty(&s->rt->sched.timers)))
		return false;
	while (s && !a_load(&s->end_ns, relaxed))
		s = s->parent;
	return s != NULL;
}

int deadline_look(struct lkdf_scope *s)
{
	struct sched *sched = &s->rt->sched;
	int rc = deadline_cancelled(s);
	int64_t now, end;

	if (likely(rc != -ETIME) || scope_cancelled(s))
		return rc;
	now = timers_now(&sched->timers);
	for (; s; s = s->parent) {
		end = a_load(&s->end_ns, relaxed);
		if (end && now >= end)
			scope_expire(s);
	}
	sched_look(sched);
	return rc;
}

int deadline_create(struct lkdf_scope *parent, int64_t ns,
		    struct lkdf_scope **out)
{
	int rc = scope_create_own(parent, out);

	if (!rc)
		deadline_set(*out, ns);
	return rc;
}

struct lkdf_scope *deadline_leave(struct lkdf_scope *own)
{
	struct lkdf_scope *parent = own->parent;

	scope_put(own);
	return parent;
}

static int64_t shorter_of(struct timers *ts, int64_t timeout_ns)
{
	int64_t earliest = a_load(&ts->earliest, relaxed), left;

	if (earliest == TIMERS_NONE)
		return timeout_ns;
	left = earliest - timers_now(ts);
	if (left < 0)
		left = 0;
	return timeout_ns >= 0 && timeout_ns < left ? timeout_ns : left;
}

/* Where another thread drains it is its part to say what comes next. */
static bool passes_time(struct sched *s, int64_t timeout_ns)
{
	return !a_load(&s->nr_drains, relaxed) &&
	       sched_pass_time(s, timeout_ns);
}

void deadline_sleep(struct lkdf *rt, _Atomic(uint32_t) *word, uint32_t expect,
		    int64_t timeout_ns)
{
	struct sched *s = &rt->sched;

	if (likely(!s->is_serial)) {
		client_waits(s);
		futex_wait(word, expect, timeout_ns);
		return;
	}
	timeout_ns = shorter_of(&s->timers, timeout_ns);
	if (sched_wait(s, &timeout_ns))
		return;
	if (!completion_sleep(rt, timeout_ns) && !passes_time(s, timeout_ns)) {
		if (timeout_ns < 0)
			rt->stuck(rt);
		futex_wait(word, expect, timeout_ns);
	}
	sched_tick(s, rt);
	sched_drain(s);
}
