/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Buffers that a ring's receiving operations share: the kernel takes one when
 * there are bytes for it (IORING_REGISTER_PBUF_RING), and who takes the
 * completion gives it back. They are as many as there were at the start, all
 * of one size, and on the node of the thread that opens them.
 *
 *	open   the ring's submitting thread
 *	lend   one thread at a time
 */
#ifndef RING_BUFFERS_H
#define RING_BUFFERS_H

#include "ring/uring.h"

#include <stdbool.h>
#include <stddef.h>

struct uring_buffers {
	/* Set at open, constant afterwards. */
	struct io_uring_buf_ring *ring; /* NULL: not open */
	char *bytes;
	uint32_t nr; /* a power of two */
	uint32_t size; /* of each */
	size_t ring_size;
	bool has_failed; /* the kernel would not have them */

	/* Written by the lender. */
	uint16_t tail;
};

/* 0 or -errno, then nothing is open and has_failed is set. */
int uring_buffers_open(struct uring_buffers *b, const struct uring *u,
		       uint16_t id, uint32_t nr, uint32_t size);

/* The ring is closed. Accepts a zeroed struct. */
void uring_buffers_close(struct uring_buffers *b);

/* The buffer was read: the kernel may fill it again. */
void uring_buffers_lend(struct uring_buffers *b, uint16_t at);

static inline const char *uring_buffer(const struct uring_buffers *b,
				       uint16_t at)
{
	return b->bytes + (size_t)at * b->size;
}

#endif
