/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/event.h>
#include <poll.h>

#include "api/border.h"
#include "io/event_poll.h"
#include "sched/current.h"
#include "scope/event_any.h"
#include "scope/event_call.h"
#include "scope/event_pulse.h"
#include "task/complete.h"
#include "task/give_way.h"

int lkdf_event_create(struct lkdf *rt, uint32_t count, uint32_t flags,
		      struct lkdf_event *out)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!out)
		return err(-EINVAL, "event: out is NULL");
	rc = border_flags("event", flags, LKDF_EVENT_PULSE);
	if (rc)
		return rc;
	if (count > EVENT_MAX_COUNT)
		return err(-EINVAL, "event: count %u, at most %u", count,
			   EVENT_MAX_COUNT);
	if (flags & LKDF_EVENT_PULSE && count > 1)
		return err(-EINVAL,
			   "event: count %u: each signal of a PULSE event "
			   "counts alone",
			   count);
	if (flags & LKDF_EVENT_PULSE) {
		rc = event_pulse_create(rt, runtime_executor(rt), out);
		return give_way_if(rt, rc, -EAGAIN);
	}
	rc = event_create(rt, runtime_executor(rt), count ? count : 1, 2, out);
	if (!rc)
		a_store(&event_of(*out)->is_users, true, relaxed);
	return give_way_if(rt, rc, -EAGAIN);
}

int lkdf_event_signal(struct lkdf_event e, int error)
{
	struct lkdf *rt;
	int rc;

	if (!e.slot)
		return err(-EINVAL, "event: { 0 } is none");
	if (error > 0 || error < -EVENT_MAX_ERR)
		return err(-EINVAL, "event: error %d, expected 0 or -errno",
			   error);
	rt = event_of(e)->rt;
	rc = border_runtime(rt);
	if (rc)
		return rc;
	border_caller(rt);
	rc = event_signal(e, error);
	border_caller_leaves(rt);
	return rc;
}

static int check_event(struct lkdf_event e)
{
	int rc;

	if (!e.slot)
		return err(-EINVAL, "event: { 0 } is none");
	rc = border_runtime(event_of(e)->rt);
	if (rc)
		return rc;
	if (!event_is_valid(e))
		return err(-ESTALE, "event: its last reference is gone");
	return 0;
}

int lkdf_event_wait(struct lkdf_event e, int64_t timeout_ns)
{
	int rc = border_may_wait("lkdf_event_wait");
	struct lkdf *rt;

	if (!rc)
		rc = border_timeout("lkdf_event_wait", timeout_ns);
	if (!rc)
		rc = check_event(e);
	if (rc)
		return rc;
	rt = event_of(e)->rt;
	rc = event_is_pulse(e)
		     ? event_pulse_wait(e, event_pulses(e), timeout_ns)
		     : event_wait(e, timeout_ns);
	return give_way_if(rt, rc, 1);
}

int lkdf_event_label(struct lkdf_event e, const char *label)
{
	int rc = check_event(e);

	return rc ? rc : event_label(e, label);
}

static int check_pulse(struct lkdf_event e)
{
	int rc = check_event(e);

	if (!rc && !event_is_pulse(e))
		rc = err(-EINVAL, "event: it was not created with PULSE");
	return rc;
}

int lkdf_event_pulses(struct lkdf_event e, uint64_t *nr)
{
	int rc = check_pulse(e);

	if (rc)
		return rc;
	if (!nr)
		return err(-EINVAL, "event: nr is NULL");
	*nr = event_pulses(e);
	give_way(event_of(e)->rt);
	return 0;
}

int lkdf_event_next(struct lkdf_event e, uint64_t seen, int64_t timeout_ns)
{
	int rc = timeout_ns ? border_may_wait("lkdf_event_next") : 0;

	if (!rc)
		rc = border_timeout("lkdf_event_next", timeout_ns);
	if (!rc)
		rc = check_pulse(e);
	if (rc)
		return rc;
	rc = event_pulse_wait(e, seen, timeout_ns);
	return give_way_if(event_of(e)->rt, rc, 1);
}

/* In a body whose child it is of: the body does not end with the error. */
static void body_saw(struct lkdf_event e)
{
	struct lkdf_ctx *c = current_get();

	if (c && c->task)
		complete_seen(c->task, e);
}

int lkdf_event_error(struct lkdf_event e, struct lkdf_error *out)
{
	int rc = check_event(e);

	if (rc)
		return rc;
	if (!out)
		return err(-EINVAL, "event: out is NULL");
	/* In serial mode it may end on this thread only. */
	sched_drain(&event_of(e)->rt->sched);
	rc = event_error(e, out);
	if (!rc && unlikely(event_failure(event_of(e)) != NULL))
		body_saw(e);
	return give_way_if(event_of(e)->rt, rc, 1);
}

static int check_several(const struct lkdf *rt, const char *what,
			 const struct lkdf_event *v, unsigned nr,
			 const struct lkdf_event *out)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!v || !out)
		return err(-EINVAL, "event: %s: v or out is NULL", what);
	if (!nr)
		return err(-EINVAL, "event: %s of none", what);
	if (nr > LKDF_MAX_AFTER)
		return err(-E2BIG, "event: %s of %u, at most %d", what, nr,
			   LKDF_MAX_AFTER);
	return 0;
}

int lkdf_event_any(struct lkdf *rt, const struct lkdf_event *v, unsigned nr,
		   struct lkdf_event *out)
{
	int rc = check_several(rt, "any", v, nr, out);

	return rc ? rc : give_way_if(rt, event_any(rt, v, nr, out), -EAGAIN);
}

int lkdf_event_all(struct lkdf *rt, const struct lkdf_event *v, unsigned nr,
		   struct lkdf_event *out)
{
	int rc = check_several(rt, "all", v, nr, out);

	return rc ? rc : give_way_if(rt, event_all(rt, v, nr, out), -EAGAIN);
}

int lkdf_event_which(struct lkdf_event e, int64_t timeout_ns, unsigned *which)
{
	const struct event_any *any;
	int rc = timeout_ns ? border_may_wait("lkdf_event_which") : 0;

	if (!rc)
		rc = border_timeout("lkdf_event_which", timeout_ns);
	if (!rc)
		rc = check_event(e);
	if (rc)
		return rc;
	any = event_of(e)->any;
	if (!which)
		return err(-EINVAL, "event: which is NULL");
	if (!any || !any->is_users)
		return err(-EINVAL, "event: it is not one of lkdf_event_any()");
	if (event_look_for(e, timeout_ns))
		return give_way_if(event_of(e)->rt, 1, 1);
	if (unlikely(event_of(e)->rt->check != NULL))
		event_heard(e);
	return event_any_which(any, which);
}

int lkdf_event_call(struct lkdf_event e, void (*fn)(void *u, int err), void *u)
{
	int rc = check_event(e);

	if (!rc && !fn)
		rc = err(-EINVAL, "event: call: fn is NULL");
	return rc ? rc : event_call(e, fn, u);
}

int lkdf_event_fd(struct lkdf_event e)
{
	int rc = check_event(e);

	return rc ? rc : event_fd(e);
}

int lkdf_event_from_fd(struct lkdf *rt, int fd, short poll_events,
		       struct lkdf_event *out)
{
	const short known = POLLIN | POLLOUT | POLLPRI | POLLRDHUP;
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!out)
		return err(-EINVAL, "event: out is NULL");
	if (poll_events & ~known)
		return err(-EINVAL, "event: unknown poll_events %#x",
			   (unsigned short)poll_events);
	return event_poll(rt, fd, poll_events ? poll_events : POLLIN, out);
}

void lkdf_event_put(struct lkdf_event e)
{
	/* In a forked child there is nobody to be told: close frees it. */
	if (e.slot && a_load(event_of(e)->rt->is_alive, relaxed) &&
	    event_is_valid(e))
		event_put(e);
}

static int check_poll(const struct lkdf *rt, int (*fn)(void *u))
{
	int rc = border_runtime(rt);

	return rc || fn ? rc : err(-EINVAL, "poll: fn is NULL");
}

int lkdf_poll_add(struct lkdf *rt, int (*fn)(void *u), void *u)
{
	int rc = check_poll(rt, fn);

	if (!rc && poller_add(rt, fn, u))
		return err(-ENOMEM, "poll: no memory");
	return rc;
}

int lkdf_poll_remove(struct lkdf *rt, int (*fn)(void *u), void *u)
{
	int rc = check_poll(rt, fn);

	if (!rc && poller_remove(rt, fn, u))
		return err(-ENOENT, "poll: no such function with this u");
	return rc;
}
