/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Channels: bounded queues of values between tasks of any graphs, dynamic tasks
 * and threads of the program. A port (port.h) carries one value a run to the
 * same run of its graph; values that come at another rate go through a channel.
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
	LKDF_CHANNEL_LATEST = 1, /* a send to a full channel drops the oldest
				  * value */
};

struct lkdf_channel_attr {
	uint32_t size, flags; /* flags: enum lkdf_channel_flag */
	const char *name; /* copied, 31 bytes at most; NULL or "": none */
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
 * lkdf_channel_create() - make a bounded queue of values
 * @rt:  runtime, borrowed; must outlive the channel
 * @a:   value_size and depth are required
 * @out: new channel, owned by the caller; untouched on failure
 *
 * Any number of tasks and threads may send and receive at the same time. A send
 * copies a value into the channel, a receive copies it out. Each value goes to
 * one receiver, and the values of one sender leave in the order of its sends.
 * The channel takes value_size x depth bytes at creation and never more.
 *
 * The library calls @a->drop once for each value that no receiver gets: on the
 * sender's thread for the oldest value of a full channel with
 * LKDF_CHANNEL_LATEST, and with the channel's last reference for the values
 * that are left. The argument points to the value or to a copy of it. drop must
 * not call the library.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL a field is wrong, lkdf_errmsg() names it; -ENOMEM.
 */
int lkdf_channel_create(struct lkdf *rt, const struct lkdf_channel_attr *a,
			struct lkdf_channel **out);

/**
 * lkdf_channel_put() - drop the caller's reference to a channel
 * @ch: channel, or NULL
 *
 * The channel ends as after lkdf_channel_end(@ch, 0), unless it has ended
 * before. Tasks that wait for the channel keep it until they go on; then the
 * library drops the values that are left. After the put no call on the channel
 * may begin, except in a body that waited for it and is called again.
 */
void lkdf_channel_put(struct lkdf_channel *ch);

/**
 * lkdf_channel_send() - send a value, waiting for room
 * @ch:         channel
 * @value:      value_size bytes, copied
 * @timeout_ns: how long the thread waits for room; 0: not at all, -1: no limit
 *
 * Context: any thread with @timeout_ns 0; to wait, a thread of the program, or
 * a body of a kind with LKDF_BLOCKING, which keeps its thread of the blocking
 * pool meanwhile. A cancel of the scope ends that wait unless the kind has
 * LKDF_ALWAYS. Other bodies use lkdf_send().
 * Return: 0; 1 the time is over; -EPIPE the channel has ended; -EINVAL;
 * -EDEADLK the call would wait on a worker, in a body or a function of a loop;
 * -ECANCELED the body's scope is cancelled; -ENOMEM no memory for the wait.
 */
int lkdf_channel_send(struct lkdf_channel *ch, const void *value,
		      int64_t timeout_ns);

/**
 * lkdf_channel_recv() - receive the oldest value, waiting for one
 * @ch:         channel
 * @value:      room for value_size bytes; untouched unless 0 is returned
 * @timeout_ns: how long the thread waits for a value; 0: not at all, -1: no
 *              limit
 *
 * Context: as lkdf_channel_send(); bodies that must not wait use lkdf_recv().
 * Return: 0; 1 the time is over; if the channel has ended and is empty,
 * -ENODATA or the error of lkdf_channel_end(); -EINVAL, -EDEADLK, -ECANCELED
 * and -ENOMEM as lkdf_channel_send().
 */
int lkdf_channel_recv(struct lkdf_channel *ch, void *value, int64_t timeout_ns);

/**
 * lkdf_channel_end() - end a channel: no more values come
 * @ch:  channel
 * @err: 0, or a negative errno other than -EAGAIN for the receivers
 *
 * Receivers still get the values that are in the channel; then receives return
 * -ENODATA, or @err. Sends return -EPIPE. Tasks and threads that wait for the
 * channel go on.
 *
 * Context: any thread, does not block.
 * Return: 0; -EPIPE the channel has ended before; -EINVAL @err is wrong.
 */
int lkdf_channel_end(struct lkdf_channel *ch, int err);

/**
 * lkdf_channel_count() - how many values a channel holds
 * @ch: channel
 *
 * Return: 0 .. depth, which may change at once if others send and receive;
 * -EINVAL @ch is NULL; -EOWNERDEAD in a forked child.
 */
int lkdf_channel_count(const struct lkdf_channel *ch);

/**
 * lkdf_send() - send a value from a body
 * @c:     context of the running body
 * @ch:    channel of the body's runtime
 * @value: value_size bytes, copied
 *
 * The call never waits. After -EAGAIN the body may return LKDF_AGAIN. Then its
 * task waits, without a worker, until the channel that returned the last
 * -EAGAIN has room, a value or its end. The runtime calls the body again from
 * its start, with the argument and ports as the body has left them; after
 * lkdf_then() it calls that function instead. LKDF_AGAIN is not an error: the
 * task keeps its children, data, limits and, in a stream, its turn.
 *
 * A cancel of the task's scope ends the wait, and the body is not called again.
 * With LKDF_ALWAYS the task goes on waiting for the channel. With
 * LKDF_SEES_CANCEL the cancel makes the runtime call the body again, so that it
 * can check lkdf_cancelled() and undo what it has begun; LKDF_AGAIN then counts
 * as -ECANCELED. The body fails with -EINVAL if it returns LKDF_AGAIN without
 * an -EAGAIN of this call or of lkdf_recv(), or after lkdf_then(). A body that
 * is called again should begin with the call that returned -EAGAIN; otherwise
 * other tasks that wait for the channel go on only when the body ends.
 *
 * Return: 0; -EAGAIN the channel is full; -EPIPE the channel has ended;
 * -EINVAL; -ENOMEM.
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
 * Return: 0; -EAGAIN there is no value yet; if the channel has ended and is
 * empty, -ENODATA or the error of lkdf_channel_end(); -EINVAL; -ENOMEM.
 */
int lkdf_recv(struct lkdf_ctx *c, struct lkdf_channel *ch, void *value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
