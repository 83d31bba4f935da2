/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Events with LKDF_EVENT_PULSE. A signal without an error lets all go on that
 * wait at that moment, counts, and changes nothing else: the event fires, in
 * the sense of event.h, with the signal that has an error.
 *
 *	signaller                       thread that waits
 *	(A) nr_pulses + 1               (C) nr_sleepers + 1
 *	(B) looks at nr_sleepers        (D) looks at nr_pulses, sleeps on it
 *
 * All seq_cst: either B sees C and wakes, or D sees A. Waiters and taps are
 * taken off in one step, so what comes beside a signal goes on with that one or
 * with the next, and who looks at nr_pulses after having come sees which.
 *
 * The user's references keep it; a signal takes one for as long as it lasts.
 */
#ifndef SCOPE_EVENT_PULSE_H
#define SCOPE_EVENT_PULSE_H

#include "scope/event.h"

/* The user has the one reference. -EAGAIN: all slots are in use. */
int event_pulse_create(struct lkdf *rt, struct executor *ex,
		       struct lkdf_event *out);

/* As lkdf_event_signal(): error 0, or the one that ends it. */
int event_pulse(struct lkdf_event e, int error);

/* How often the pulse has been signalled so far. */
uint64_t event_pulses(struct lkdf_event e);

/*
 * 0: there were more than seen; 1: the time is up; or the error that has ended
 * it. Drops no reference.
 */
int event_pulse_wait(struct lkdf_event e, uint64_t seen, int64_t timeout_ns);

static inline bool event_is_pulse(struct lkdf_event e)
{
	return a_load(&event_of(e)->is_pulse, relaxed);
}

#endif
