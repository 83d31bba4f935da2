/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "ring/uring.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In user_data: see uring_link(). */
#define URING_CUT ((uint64_t)1)

int uring_enter(const struct uring *u, uint32_t nr, uint32_t flags)
{
	long rc = syscall(SYS_io_uring_enter, u->fd, nr, 0, flags, NULL, 0);

	return rc < 0 ? -errno : (int)rc;
}

const char *uring_why(int error)
{
	switch (-error) {
	case ENOSYS:
		return "ENOSYS: not in this kernel, or a seccomp profile "
		       "hides it";
	case EPERM:
		return "EPERM: forbidden by kernel.io_uring_disabled or a "
		       "seccomp profile";
	case ENOMEM:
		return "ENOMEM: the limit of locked memory, or no memory";
	case EMFILE:
		return "EMFILE: the limit of open files";
	case EINVAL:
		return "EINVAL: the kernel is older than 6.0";
	case EOPNOTSUPP:
		return "EOPNOTSUPP: built without liburing";
	default:
		return strerror(-error);
	}
}

struct io_uring_sqe *uring_sqe(struct uring *u)
{
	struct io_uring_sqe *sqe = &u->sqes[u->tail & u->sq_mask];

	/* [uring.room] the kernel has read what it had; pairs with
	 * [uring.fill], through the kernel. */
	if (u->tail - a_load(u->sq_head, acquire) > u->sq_mask)
		return NULL;
	u->tail++;
	memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

uint32_t uring_nr_waiting(const struct uring *u)
{
	return u->tail - a_load(u->sq_head, relaxed);
}

/*
 * The kernel has taken a part of a chain and would take the rest for another
 * one, which does not wait: that rest does nothing.
 */
static void cut_number(struct uring *u)
{
	uint32_t at = a_load(u->sq_head, relaxed);
	uint8_t flags = u->sqes[(at - 1) & u->sq_mask].flags;
	struct io_uring_sqe *sqe;
	uint64_t user_data;

	for (; at != u->tail && flags & IOSQE_IO_LINK; at++) {
		sqe = &u->sqes[at & u->sq_mask];
		flags = sqe->flags;
		user_data = sqe->user_data | URING_CUT;
		memset(sqe, 0, sizeof(*sqe));
		sqe->opcode = IORING_OP_NOP;
		sqe->user_data = user_data;
	}
}

/* Is it so for good? */
static bool is_refusal(int rc)
{
	return rc < 0 && rc != -EINTR && rc != -EAGAIN && rc != -EBUSY &&
	       rc != -ENOMEM && rc != -EBADR;
}

int uring_submit(struct uring *u)
{
	uint32_t nr;
	int rc;

	/* [uring.fill] the entries before the tail, which the kernel acquires;
	 * pairs with [uring.filled] and [uring.room]. */
	a_store(u->sq_tail, u->tail, release);
	while ((nr = uring_nr_waiting(u))) {
		if (unlikely(u->has_links))
			cut_number(u);
		rc = uring_enter(u, nr, 0);
		if (unlikely(is_refusal(rc)))
			a_store(&u->refused, rc, relaxed);
		if (rc <= 0 && rc != -EINTR)
			return -EAGAIN;
	}
	u->has_links = false;
	return 0;
}

uint64_t uring_take_back(struct uring *u)
{
	if (!uring_nr_waiting(u))
		return 0;
	u->tail--;
	/* [uring.back] entries that others filled before; pairs with
	 * [uring.filled]. */
	a_store(u->sq_tail, u->tail, release);
	return u->sqes[u->tail & u->sq_mask].user_data & ~URING_CUT;
}

uint32_t uring_take(struct uring *u, struct io_uring_cqe *cqe, uint32_t nr)
{
	uint32_t head = a_load(u->cq_head, relaxed), tail, i;

	/* Completions that lie in the kernel until somebody asks. */
	if (unlikely(a_load(u->sq_flags, relaxed) & URING_MUST_ENTER) &&
	    is_refusal(uring_enter(u, 0, IORING_ENTER_GETEVENTS)))
		a_store(&u->refused, -EIO, relaxed);
	/* [uring.take] the completions, which the kernel releases; pairs with
	 * [uring.give], through the kernel. */
	tail = a_load(u->cq_tail, acquire);
	/* [uring.filled] whose entries lie before this tail: what was done to
	 * fill them is over; pairs with [uring.fill]. */
	(void)a_load(u->sq_tail, acquire);
	for (i = 0; i < nr && head != tail; i++, head++) {
		cqe[i] = u->cqes[head & u->cq_mask];
		if (unlikely(cqe[i].user_data & URING_CUT)) {
			cqe[i].user_data &= ~URING_CUT;
			cqe[i].res = -ECANCELED;
		}
	}
	/* [uring.give] we have read them, which the kernel acquires; pairs
	 * with [uring.take]. */
	a_store(u->cq_head, head, release);
	return i;
}

int uring_cancel(const struct uring *u, uint64_t user_data)
{
	struct io_uring_sync_cancel_reg reg;
	long rc;

	memset(&reg, 0, sizeof(reg));
	reg.addr = user_data;
	reg.fd = -1;
	/* A single attempt; its outcome is not waited for. */
	rc = syscall(SYS_io_uring_register, u->fd, IORING_REGISTER_SYNC_CANCEL,
		     &reg, 1);
	return rc < 0 ? -errno : (int)rc;
}
