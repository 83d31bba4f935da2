/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads that wait at a channel: those of the program, and those of the
 * blocking pool whose body's scope may be cancelled meanwhile.
 */
#ifndef CHANNEL_CHANNEL_WAIT_H
#define CHANNEL_CHANNEL_WAIT_H

#include "channel/channel.h"
#include "trace/trace.h"

struct lkdf_scope;

/*
 * As channel_send() and channel_recv(), and instead of -EAGAIN: 1 the time is
 * up; -ECANCELED the scope is cancelled (NULL: none); -ENOMEM.
 */
int channel_send_for(struct lkdf_channel *ch, const void *value,
		     int64_t timeout_ns, const struct lkdf_scope *s);
int channel_recv_for(struct lkdf_channel *ch, void *value, int64_t timeout_ns,
		     const struct lkdf_scope *s);

/* For recordings: what a waiter of that side waits for. */
void channel_wait_text(const struct lkdf_channel *ch, enum channel_side side,
		       char text[TRACE_NAME_SIZE]);

#endif
