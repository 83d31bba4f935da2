/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations that cannot wait are done at once, without the ring; what is known
 * of their descriptors is kept for a while.
 */
#include "io/io_ring.h"

#include "base/clock.h"

#include <errno.h>

/* After a read that was not at hand: neither are the next ones, probably. */
#define NR_BLIND 15

/*
 * The knowledge of a descriptor is asked again after so many reads, and at once
 * when one brought nothing, or took so long that it may have waited: the
 * descriptor may have been closed and be another file's.
 */
#define NR_BELIEVED 64

static struct io_seen *ask_seen(struct io_ring *ring, int fd)
{
	struct io_seen *seen = &ring->seen[(unsigned)fd % IO_SEEN];

	if (likely(seen->fd == fd && seen->nr_left)) {
		seen->nr_left--;
		return seen;
	}
	seen->fd = fd;
	seen->sort = (uint16_t)io_op_sort(fd);
	seen->nr_left = NR_BELIEVED;
	return seen;
}

/* -EAGAIN: it may wait, or nobody has looked. */
static int64_t peek_quick(struct io_ring *ring, const struct lkdf_io *io,
			  enum io_quick sort)
{
	uint32_t *nr_blind = &ring->nr_blind_quick[sort];
	int64_t rc;

	if (*nr_blind) {
		--*nr_blind;
		return -EAGAIN;
	}
	rc = io_op_peek_quick(io);
	if (rc == -EAGAIN)
		*nr_blind = NR_BLIND;
	return rc;
}

static int64_t peek_read(struct io_ring *ring, const struct lkdf_io *io)
{
	struct io_seen *seen;
	uint64_t start;
	int64_t rc;

	if (ring->nr_blind) {
		ring->nr_blind--;
		return -EAGAIN;
	}
	seen = ask_seen(ring, io->fd);
	start = clock_ticks();
	rc = io_op_peek(io, seen->sort);
	if (unlikely(rc == -EOPNOTSUPP))
		rc = -EAGAIN;
	if (rc == -EAGAIN)
		ring->nr_blind = NR_BLIND;
	if (rc == -EAGAIN || clock_ticks() - start > ring->long_ticks)
		seen->nr_left = 0;
	return rc;
}

int64_t io_ring_peek(struct worker *w, const struct lkdf_io *io)
{
	struct io_ring *ring = w->io.ring;
	enum io_quick sort;

	if (!ring || uring_nr_waiting(&ring->u))
		return -EAGAIN;
	if (io_op_is_small(io))
		return peek_read(ring, io);
	sort = io_op_quick(io);
	return sort == IO_NR_QUICK ? -EAGAIN : peek_quick(ring, io, sort);
}
