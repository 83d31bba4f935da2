/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "channel/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Pauses; then whoever is at the slot may need this CPU. */
#define SPINS 100
#define NAP_NS 20000

struct slot {
	_Atomic(uint64_t) stamp;
	char value[];
};

static struct slot *slot_at(const struct queue *q, uint64_t at)
{
	return (struct slot *)(void *)(q->slots + at % QUEUE_LAP * q->stride);
}

static uint64_t next_of(const struct queue *q, uint64_t at)
{
	return at % QUEUE_LAP + 1 < q->depth ? at + 1
					     : at - at % QUEUE_LAP + QUEUE_LAP;
}

int queue_init(struct queue *q, uint32_t depth, uint32_t value_size)
{
	uint64_t i;

	q->depth = depth;
	q->value_size = value_size;
	q->stride =
		round_up(sizeof(struct slot) + value_size, sizeof(uint64_t));
	q->slots = calloc(depth, q->stride);
	if (!q->slots)
		return -ENOMEM;
	for (i = 0; i < depth; i++)
		a_store(&slot_at(q, i)->stamp, i, relaxed);
	a_store(&q->tail, 0, relaxed);
	a_store(&q->head, 0, relaxed);
	return 0;
}

void queue_fini(struct queue *q)
{
	free(q->slots);
}

/* Another thread is about to write, or to read, the slot. */
static void wait_a_moment(unsigned *nr)
{
	static const struct timespec nap = { .tv_nsec = NAP_NS };

	a_pause();
	if (unlikely(++*nr > SPINS))
		nanosleep(&nap, NULL);
}

int queue_push(struct queue *q, const void *value)
{
	uint64_t at = a_load(&q->tail, relaxed), now;
	unsigned nr_waits = 0;
	struct slot *s;

	for (;;) {
		if (unlikely(at & QUEUE_ENDED))
			return -EPIPE;
		s = slot_at(q, at);
		/* [queue.free] its value has been read; pairs with
		 * [queue.read]. */
		if (likely(a_load(&s->stamp, acquire) == at)) {
			/* [queue.push] before the sender looks who waits;
			 * pairs with [channel.c]. */
			if (a_cas(&q->tail, &at, next_of(q, at), seq_cst,
				  relaxed))
				break;
			continue;
		}
		now = a_load(&q->tail, relaxed);
		if (now == at) {
			if (a_load(&q->head, relaxed) + QUEUE_LAP == at)
				return -EAGAIN;
			wait_a_moment(&nr_waits);
		}
		at = now;
	}
	memcpy(s->value, value, q->value_size);
	/* [queue.written] the value; pairs with [queue.full]. */
	a_store(&s->stamp, at + 1, release);
	return 0;
}

/* There is no value at the head: is there none at all? 1: there will be. */
static int look_at_tail(struct queue *q, uint64_t head)
{
	/* [queue.over] why it has ended; pairs with [queue.end]. */
	uint64_t tail = a_load(&q->tail, acquire);

	if ((tail & ~QUEUE_ENDED) != head)
		return 1;
	return tail & QUEUE_ENDED ? -ENODATA : -EAGAIN;
}

int queue_pop(struct queue *q, void *value)
{
	uint64_t at = a_load(&q->head, relaxed), now;
	unsigned nr_waits = 0;
	struct slot *s;
	int rc;

	for (;;) {
		s = slot_at(q, at);
		/* [queue.full] the value; pairs with [queue.written]. */
		if (likely(a_load(&s->stamp, acquire) == at + 1)) {
			/* [queue.pop] before the receiver looks who waits;
			 * pairs with [channel.c]. */
			if (a_cas(&q->head, &at, next_of(q, at), seq_cst,
				  relaxed))
				break;
			continue;
		}
		now = a_load(&q->head, relaxed);
		if (now == at) {
			rc = look_at_tail(q, at);
			if (rc <= 0)
				return rc;
			wait_a_moment(&nr_waits);
		}
		at = now;
	}
	memcpy(value, s->value, q->value_size);
	/* [queue.read] the value is out; pairs with [queue.free]. */
	a_store(&s->stamp, at + QUEUE_LAP, release);
	return 0;
}

void queue_end(struct queue *q)
{
	/* [queue.end] why it ends; pairs with [queue.over]. */
	a_or(&q->tail, QUEUE_ENDED, release);
}

bool queue_has_ended(const struct queue *q)
{
	/* Relaxed: the lock of who ends it and of who looks orders it. */
	return a_load(&q->tail, relaxed) & QUEUE_ENDED;
}

/* Both words move on between the looks: head is the older one. */
uint32_t queue_values(struct queue *q)
{
	/* [channel.c] after the waiter is in; pairs with [queue.push] and
	 * [queue.pop]. */
	uint64_t head = a_load(&q->head, seq_cst);
	uint64_t tail = a_load(&q->tail, seq_cst) & ~QUEUE_ENDED, nr;

	nr = (tail / QUEUE_LAP - head / QUEUE_LAP) * q->depth +
	     tail % QUEUE_LAP - head % QUEUE_LAP;
	return (uint32_t)min_u64(nr, q->depth);
}

uint32_t queue_room(struct queue *q)
{
	return q->depth - queue_values(q);
}
