/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A client is a thread of the user's that submits. Where every CPU has a worker
 * it shares one with a worker, which may be looking for the very work that the
 * client would submit if it had the CPU. So clients say on which CPU they are,
 * and a worker that finds nothing there steps aside (client.c). Hints only:
 * CPUs share bits, and a client that waits elsewhere than in a call is not
 * seen.
 */
#ifndef MECHANISM_CLIENT_H
#define MECHANISM_CLIENT_H

#include "mechanism/rows.h"
#include "sched/sched.h"

#include <sched.h>

/* For each scheduler. */
struct client_sched {
	/* Any thread: CPUs where threads of the user submit. */
	_Atomic(uint64_t) clients;

	/* Set at start: a CPU that others keep is left alone for so long. 0:
	 * the library is built without the mechanism, and nobody looks. */
	uint64_t crowded_ticks;
};

/* For each worker, which alone uses it. */
struct client_worker {
	uint64_t crowded_at; /* ticks; when others kept its CPU */
};

extern const struct mechanism client_mechanism;

static inline struct client_sched *client_in(const struct sched *s)
{
	return s->data[SLOT_CLIENT];
}

static inline struct client_worker *client_of(const struct worker *w)
{
	return w->data[SLOT_CLIENT];
}

/* The bit of this CPU: a client has submitted here, and waits for nothing. */
static inline uint64_t client_bit(void)
{
	return (uint64_t)1 << ((unsigned)sched_getcpu() & 31);
}

/* The bit of a client that may wait by now. */
static inline uint64_t client_trace(uint64_t bit)
{
	return bit << 32;
}

/* A client submits: its CPU is noted, so that workers give it way. */
static inline void client_comes(struct sched *s)
{
	struct client_sched *c = client_in(s);
	uint64_t bit, both;

	if (unlikely(!c->crowded_ticks))
		return;
	bit = client_bit();
	both = bit | client_trace(bit);
	if ((a_load(&c->clients, relaxed) & both) != both)
		a_or(&c->clients, both, relaxed);
}

/* A client waits, and needs no CPU. */
static inline void client_waits(struct sched *s)
{
	_Atomic(uint64_t) *clients = &client_in(s)->clients;
	uint64_t bit = client_bit();

	if (a_load(clients, relaxed) & bit)
		a_and(clients, ~bit, relaxed);
}

/* Does one want this CPU? */
static inline bool client_is_here(const struct sched *s)
{
	return a_load(&client_in(s)->clients, relaxed) & client_bit();
}

/* client_was_here() asks from now on. */
static inline void client_forget(struct sched *s)
{
	uint64_t bit = client_bit();

	a_and(&client_in(s)->clients, ~(bit | client_trace(bit)), relaxed);
}

static inline bool client_was_here(const struct sched *s)
{
	return a_load(&client_in(s)->clients, relaxed) &
	       client_trace(client_bit());
}

#endif
