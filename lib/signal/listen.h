/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A thread that sleeps in poll() until a descriptor is readable, as the
 * module's is when pages begin to move. It tells a pause later, and once more
 * after another one: the end of a migration is not announced, and who looks in
 * its midst finds nothing there. However often pages move it does not tell more
 * often; while none moves it costs nothing.
 *
 * It is no operation of a ring: with one under way, one sleeping worker of a
 * node has to watch the node's completions, for as long as bytes are watched,
 * and every worker that turns busy would wake another one for it.
 */
#ifndef SIGNAL_LISTEN_H
#define SIGNAL_LISTEN_H

#include "base/atomic.h"
#include "base/own_fd.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Before each time that it tells, at least. */
#define LISTEN_PAUSE_MS 64

struct listener {
	/* Set at start, constant afterwards. */
	int fd;
	struct own_fd stop; /* an eventfd */
	void (*tell)(void *u);
	void *u;
	pthread_t thread;

	/* Any thread. */
	_Atomic(uint32_t) state;
};

/*
 * Any thread, any number of times on a zeroed struct: the first one starts the
 * thread. Without one to be had nobody listens.
 */
void listen_start(struct listener *l, int fd, void (*tell)(void *u), void *u);

/*
 * Afterwards tell is not called, and nobody may start it. is_child: in a forked
 * one, which has no such thread.
 */
void listen_stop(struct listener *l, bool is_child);

#endif
