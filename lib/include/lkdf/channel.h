/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Channels: bounded queues of values between tasks of any graphs, dynamic tasks
 * and threads of the program. A port (port.h) carries one value a run to the
 * same run of its graph; what comes at another rate goes through a channel.
 */
#ifndef LKDF_CHANNEL_H
#define LKDF_CHANNEL_H

#include <lkdf/port.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LKDF_MAX_DEPTH (1 << 20) /* values in a channel */

enum lkdf_channel_flag {
	LKDF_CHANNEL_LATEST = 1, /* full: a send drops the oldest value */
};

struct lkdf_channel_attr {
	uint32_t size, flags; /* flags: enum lkdf_channel_flag */
	const char *name; /* copied, 31 bytes of it; NULL or "": none */
	uint32_t value_size; /* bytes of a value, 1 .. LKDF_MAX_VALUE */
	uint32_t depth; /* values, 1 .. LKDF_MAX_DEPTH */
	const void *init; /* nr_init values, the oldest first; copied */
	uint32_t nr_init; /* 0 .. depth */
	uint32_t pad; /* 0 */
	lkdf_drop_fn drop; /* or NULL; see lkdf_channel_create() */
};

/* Attributes for one call: LKDF_CHANNEL(.value_size = 8, .depth = 64). */
#define LKDF_CHANNEL(...) LKDF_ATTR(lkdf_channel_attr, __VA_ARGS__)

/**
 * lkdf_channel_create() - a bounded queue of values
 * @rt:  runtime, borrowed; must outlive the channel
 * @a:   value_size and depth are required
 * @out: new channel, owned by the caller; untouched on failure
 *
 * Any number of tasks and threads may send and receive at a time. A send copies
 * the bytes of one value in, a receive copies them out: each value goes to one
 * receiver, and the values of one sender leave in the order of its sends. The
 * channel takes value_size x depth bytes, and never more.
 *
 * @a->drop is called once for each value that no receiver gets: the oldest one
 * of a full channel with LKDF_CHANNEL_LATEST, on the sender's thread, and what
 * is left with the channel's last reference. The argument points to a copy of
 * the value, or to its place in the channel; drop does not call the library.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL a field, named in lkdf_errmsg(); -ENOMEM.
 */
int lkdf_channel_create(struct lkdf *rt, const struct lkdf_channel_attr *a,
			struct lkdf_channel **out);

/**
 * lkdf_channel_put() - give a channel back
 * @ch: channel, or NULL
 *
 * The channel ends as by lkdf_channel_end(@ch, 0), unless it has ended. Tasks
 * that wait at the channel hold references: the last one drops what is left.
 * No call on the channel may begin after the put, except by a body that waited
 * at it and is called again.
 */
void lkdf_channel_put(struct lkdf_channel *ch);

/**
 * lkdf_channel_send() - send a value, and wait for room
 * @ch:         channel
 * @value:      value_size bytes, copied
 * @timeout_ns: how long the thread waits for room; 0 tries, -1 is for ever
 *
 * Context: any thread with @timeout_ns 0. A body of a kind with LKDF_BLOCKING
 * may wait, too, and holds its thread of the blocking pool meanwhile; a cancel
 * of its scope ends that wait unless its kind is LKDF_ALWAYS. Other bodies use
 * lkdf_send().
 * Return: 0; 1 the time is up; -EPIPE the channel has ended; -EINVAL; -EDEADLK
 * the caller is a body on a worker, or a loop's function, and would wait;
 * -ECANCELED the body's scope is cancelled; -ENOMEM nothing to wait by.
 */
int lkdf_channel_send(struct lkdf_channel *ch, const void *value,
		      int64_t timeout_ns);

/**
 * lkdf_channel_recv() - receive the oldest value, and wait for one
 * @ch:         channel
 * @value:      room for value_size bytes; untouched unless 0 is returned
 * @timeout_ns: how long the thread waits for a value; 0 tries, -1 is for ever
 *
 * Context: as lkdf_channel_send(); bodies that must not wait use lkdf_recv().
 * Return: 0; 1 the time is up; once the channel has ended and is empty -ENODATA
 * or the error that it was ended with; -EINVAL; -EDEADLK; -ECANCELED; -ENOMEM.
 */
int lkdf_channel_recv(struct lkdf_channel *ch, void *value, int64_t timeout_ns);

/**
 * lkdf_channel_end() - no more values
 * @ch:  channel
 * @err: 0: the end; or a negative errno, not -EAGAIN, for its receivers
 *
 * Values that the channel holds can still be received; then receives return
 * -ENODATA, or @err. Sends return -EPIPE. All who wait go on.
 *
 * Context: any thread, does not block.
 * Return: 0; -EPIPE the channel has ended before; -EINVAL @err.
 */
int lkdf_channel_end(struct lkdf_channel *ch, int err);

/**
 * lkdf_channel_count() - how many values a channel holds
 * @ch: channel
 *
 * Return: 0 .. depth; others may send and receive meanwhile. -EINVAL @ch is
 * NULL; -EOWNERDEAD.
 */
int lkdf_channel_count(const struct lkdf_channel *ch);

/**
 * lkdf_send() - send a value from a body
 * @c:     context of the running body
 * @ch:    channel of the body's runtime
 * @value: value_size bytes, copied
 *
 * The call never waits. After -EAGAIN the body may return LKDF_AGAIN: its task
 * waits, without a worker, until the channel of the last -EAGAIN has moved, and
 * then the runtime calls the body again from its start, with argument and
 * ports as the body has left them. A body that went on by lkdf_then() is called
 * again as that function. LKDF_AGAIN is no error, and the task keeps its
 * children, data, limits and, in a stream, its turn.
 *
 * A cancel of the task's scope ends the waiting, and the body is not called
 * again; with LKDF_ALWAYS it waits for the channel alone. With LKDF_SEES_CANCEL
 * the cancel calls the body again, which asks lkdf_cancelled() and undoes what
 * it has begun; LKDF_AGAIN is -ECANCELED from then on. The body fails with
 * -EINVAL if it returns LKDF_AGAIN without an -EAGAIN of this call, or after
 * lkdf_then(). A body that is called again begins with the call that returned
 * -EAGAIN: if it does not, others that wait at the channel go on only when the
 * body ends.
 *
 * Return: 0; -EAGAIN there is no room; -EPIPE the channel has ended; -EINVAL;
 * -ENOMEM.
 */
int lkdf_send(struct lkdf_ctx *c, struct lkdf_channel *ch, const void *value);

/**
 * lkdf_recv() - receive a value in a body
 * @c:     context of the running body
 * @ch:    channel of the body's runtime
 * @value: room for value_size bytes; untouched unless 0 is returned
 *
 * As lkdf_send(), for the oldest value.
 *
 * Return: 0; -EAGAIN there is no value yet; once the channel has ended and is
 * empty -ENODATA or the error that it was ended with; -EINVAL; -ENOMEM.
 */
int lkdf_recv(struct lkdf_ctx *c, struct lkdf_channel *ch, void *value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
