/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Events that fire when a descriptor is ready. A task of ours polls it, in a
 * scope that is cancelled when nobody waits any more; all of them are below
 * rt->fds, beside the root, so that no user waits for them.
 *
 * In serial mode such a task would hold up who starts it. There the threads
 * that wait in the library poll, a moment at a time.
 */
#ifndef IO_EVENT_POLL_H
#define IO_EVENT_POLL_H

#include "core/runtime.h"

/* As lkdf_event_from_fd(); events is not 0. */
int event_poll(struct lkdf *rt, int fd, short events, struct lkdf_event *out);

/* Serial mode: at most so long, or until some are ready, which fire. */
void event_poll_for(struct lkdf *rt, int64_t timeout_ns);

/* Serial mode: does anybody wait for a descriptor? */
static inline bool event_poll_has_some(struct lkdf *rt)
{
	return a_load(&rt->nr_polled, relaxed) != 0;
}

/* The runtime closes, nothing else lives: ends the tasks that poll. */
void event_poll_close(struct lkdf *rt);
void event_poll_abandon(struct lkdf *rt);

#endif
