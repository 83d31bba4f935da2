/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies that are called again. A channel had no value or no room (-EAGAIN),
 * and the body has returned LKDF_AGAIN: its task leaves as by lkdf_then(), with
 * an event that lies in the channel's list of that side, and goes on as the
 * function that returned, from its start. So a cancel of its scope takes it off
 * as any other (scope/event_tap.h), and then it is not called, or with
 * LKDF_SEES_CANCEL once.
 *
 *	-EAGAIN: told of ch -> LKDF_AGAIN: waits at ch -> woken by ch -> called
 *
 * The woken one owes ch a try (channel/channel.h). A call on ch for that side
 * is one; if the body ends without, its end passes the wake on.
 */
#ifndef TASK_AGAIN_H
#define TASK_AGAIN_H

#include "channel/channel.h"
#include "task/task.h"

/* A channel, one reference, and what of it; NULL: none. */
struct again_at {
	struct lkdf_channel *ch;
	enum channel_side side;
};

/* Memory of the heap, from the first -EAGAIN until a body ends otherwise. */
struct again {
	struct channel_waiter waiter; /* at woken, from LKDF_AGAIN on */
	struct again_at told; /* of the last -EAGAIN in this body */
	struct again_at woken; /* who woke it and is owed a try */
	lkdf_fn fn; /* which is called again */
	bool is_first; /* that is the body of its kind */
	int32_t input_err; /* for that */
};

/*
 * A body has called channel_send() or channel_recv(), which has returned rc.
 * rc; -ENOMEM instead of -EAGAIN.
 */
int again_tried(struct lkdf_ctx *c, struct lkdf_channel *ch,
		enum channel_side side, int rc);

/*
 * A body has ended: true, it waits, and the caller leaves by then_leave().
 * False: *rc is its value, which may be an error now.
 */
bool again_ended(struct lkdf_ctx *c, int *rc);

/* A body without a task of its own has returned LKDF_AGAIN: -EINVAL. */
int again_refuse(struct lkdf_ctx *c);

/* The body runs as for the first time: its inputs are those of its task. */
bool again_is_first(const struct task *t);

/*
 * The channel that it waits for; else NULL. The caller keeps the tap of the
 * task, which has left, on its event.
 */
const struct again_at *again_waits_at(const struct task *t);

/* Is there something to do after the body? */
static inline bool again_looks(const struct lkdf_ctx *c, int rc)
{
	return c->is_told || rc == LKDF_AGAIN;
}

#endif
