/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A bounded queue of values with two ends: any number of senders at the tail,
 * of receivers at the head, and no lock. Each end is one word, and a thread
 * owns a slot once it has moved that word by one compare-and-swap. Each slot
 * has a stamp that says whose turn it is (Vyukov 2010; the lap in the word, so
 * that depth need not be a power of two):
 *
 *	position   lap : 39 | slot : 24, plus QUEUE_ENDED in the tail
 *	stamp      position: free for the sender of that position
 *	           position + 1: full, for the receiver of that position
 *
 * A slot that is taken and not yet written, or read, holds nobody up for
 * longer than a copy takes: who needs that slot waits.
 */
#ifndef CHANNEL_QUEUE_H
#define CHANNEL_QUEUE_H

#include "base/atomic.h"
#include "base/util.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUEUE_LAP (1ull << 24)
#define QUEUE_ENDED (1ull << 63)

struct queue {
	/* Senders; the end. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) tail;

	/* Receivers. */
	_Alignas(CACHE_LINE) _Atomic(uint64_t) head;

	/* Set at init, constant afterwards. */
	_Alignas(CACHE_LINE) uint32_t depth, value_size;
	size_t stride; /* from slot to slot */
	char *slots; /* each one a stamp and a value */
};

/* Returns 0, or -ENOMEM without memory for depth slots. */
int queue_init(struct queue *q, uint32_t depth, uint32_t value_size);
void queue_fini(struct queue *q); /* whatever lies in it */

/* 0; -EAGAIN full; -EPIPE it has ended. */
int queue_push(struct queue *q, const void *value);

/* 0; -EAGAIN empty; -ENODATA it has ended, too. */
int queue_pop(struct queue *q, void *value);

/* No value comes after it. Both under one lock of the caller's. */
void queue_end(struct queue *q);
bool queue_has_ended(const struct queue *q);

/* A moment's truth, of this moment or a later one; see channel.h. */
uint32_t queue_values(struct queue *q);
uint32_t queue_room(struct queue *q);

#endif
