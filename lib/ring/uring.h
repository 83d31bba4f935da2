/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An io_uring (Axboe, "Efficient IO with io_uring", 2019). liburing sets it up
 * (setup.c), registers what belongs to it (tables.c, buffers.c) and
 * fills its entries (fill.c). The heads and tails that are shared with the
 * kernel are read and written here, through base/atomic.h, and here the kernel
 * is entered: that is what the model checker runs. A build without liburing has
 * absent.c instead of those four, and no ring opens.
 *
 *	sqe, submit, take_back  one thread, always the same
 *	come, take    one thread at a time
 *	looks_ready, cancel  any thread
 *
 * Kernels before 6.0 are refused: they cannot cancel from another thread.
 */
#ifndef RING_URING_H
#define RING_URING_H

#include "base/atomic.h"
#include "base/util.h"

#include <linux/io_uring.h>

/* The kernel has completions that it gives when it is entered. */
#define URING_MUST_ENTER IORING_SQ_CQ_OVERFLOW

struct uring_attr {
	uint32_t nr_sq, nr_cq; /* entries, at least */
	int wake_fd; /* an eventfd that counts completions; -1: none */
};

struct uring {
	/* Set at open, constant afterwards. */
	int fd;
	uint32_t sq_mask, cq_mask;
	_Atomic(uint32_t) *sq_head, *sq_tail, *sq_flags;
	_Atomic(uint32_t) *cq_head, *cq_tail;
	struct io_uring_sqe *sqes;
	const struct io_uring_cqe *cqes;
	struct io_uring *made; /* liburing's; NULL: not open */

	/* Any thread: why the kernel takes no more, -errno; 0: it does. */
	_Atomic(int) refused;

	/* The submitting thread only. */
	uint32_t tail; /* of the entries that are filled */
	bool has_links; /* among those that wait */
};

/* 0; -errno, and nothing is open. */
int uring_open(struct uring *u, const struct uring_attr *a);

/* Accepts what is not open: made NULL. */
void uring_close(struct uring *u);

/* 0; or why this process has no ring that works: an errno. */
int uring_probe(void);

/*
 * The kernel's threads that work for this ring: how many of them at most for
 * files, for all else, and the CPUs, a bit each in nr_bytes; NULL: any. On the
 * thread that submits: from Linux 5.12 on they belong to it and not to the
 * ring, so IORING_SETUP_ATTACH_WQ does not share them. 0 or -errno.
 */
int uring_limit_threads(const struct uring *u, uint32_t nr_bounded,
			uint32_t nr_unbounded);
int uring_bind_threads(const struct uring *u, const void *cpus,
		       size_t nr_bytes);

/* The system call: entries taken, or -errno. */
int uring_enter(const struct uring *u, uint32_t nr, uint32_t flags);

/* The meaning of such an errno, with what there is to do about it. */
const char *uring_why(int error);

/* The next entry, zeroed; NULL: full, submit first. */
struct io_uring_sqe *uring_sqe(struct uring *u);

/*
 * The entry after it begins when it has done all. The kernel links what it
 * takes in one call: what it takes later, against all odds, is not begun, and
 * completes with -ECANCELED. The lowest bit of user_data is ours.
 */
static inline void uring_link(struct uring *u, struct io_uring_sqe *sqe)
{
	sqe->flags |= IOSQE_IO_LINK;
	u->has_links = true;
}

/* Filled and not yet taken by the kernel. */
uint32_t uring_nr_waiting(const struct uring *u);

/* How many entries there are to be filled. */
static inline uint32_t uring_room(const struct uring *u)
{
	return u->sq_mask + 1 - uring_nr_waiting(u);
}

/*
 * Gives all filled entries to the kernel. 0; -EAGAIN: not all, for now, or for
 * ever if u->refused is set, as behind a filter that came late.
 */
int uring_submit(struct uring *u);

/*
 * The last one of the entries that wait is not given after all: its user_data;
 * 0: none waits.
 */
uint64_t uring_take_back(struct uring *u);

/* At most nr completions, copied; the number. */
uint32_t uring_take(struct uring *u, struct io_uring_cqe *cqe, uint32_t nr);

/* Cancels what has this user_data. -ENOENT: there is none in the kernel. */
int uring_cancel(const struct uring *u, uint64_t user_data);

/* Did completions come that nobody has taken? A moment's truth. */
static inline bool uring_looks_ready(const struct uring *u)
{
	/* [uring.ready] after we have let others take; pairs with
	 * [ring.taken]. */
	return a_load(u->cq_tail, seq_cst) != a_load(u->cq_head, relaxed) ||
	       (unlikely(a_load(u->sq_flags, relaxed) & URING_MUST_ENTER) &&
		!a_load(&u->refused, relaxed));
}

#endif
