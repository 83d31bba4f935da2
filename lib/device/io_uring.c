/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/io_uring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In user_data: see uring_link(). */
#define URING_CUT ((uint64_t)1)

static int enter(const struct uring *u, uint32_t nr, uint32_t flags)
{
	long rc = syscall(SYS_io_uring_enter, u->fd, nr, 0, flags, NULL, 0);

	return rc < 0 ? -errno : (int)rc;
}

static int tell(int fd, unsigned what, void *arg, unsigned nr)
{
	long rc = syscall(SYS_io_uring_register, fd, what, arg, nr);

	return rc < 0 ? -errno : (int)rc;
}

static void *map(int fd, size_t size, off_t offset)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_POPULATE, fd, offset);
}

static void set_rings(struct uring *u, const struct io_uring_params *p)
{
	char *at = u->rings;
	uint32_t *array = (uint32_t *)(void *)(at + p->sq_off.array), i;

	u->sq_head = (_Atomic(uint32_t) *)(void *)(at + p->sq_off.head);
	u->sq_tail = (_Atomic(uint32_t) *)(void *)(at + p->sq_off.tail);
	u->sq_flags = (_Atomic(uint32_t) *)(void *)(at + p->sq_off.flags);
	u->cq_head = (_Atomic(uint32_t) *)(void *)(at + p->cq_off.head);
	u->cq_tail = (_Atomic(uint32_t) *)(void *)(at + p->cq_off.tail);
	u->cqes = (struct io_uring_cqe *)(void *)(at + p->cq_off.cqes);
	u->sq_mask = p->sq_entries - 1;
	u->cq_mask = p->cq_entries - 1;
	u->tail = a_load(u->sq_tail, relaxed);
	/* Entries go in order: the array stays as it is. */
	for (i = 0; i < p->sq_entries; i++)
		array[i] = i;
}

static int map_rings(struct uring *u, const struct io_uring_params *p)
{
	size_t sq = p->sq_off.array + p->sq_entries * sizeof(uint32_t);
	size_t cq =
		p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);

	u->rings_size = sq > cq ? sq : cq;
	u->sqes_size = p->sq_entries * sizeof(struct io_uring_sqe);
	u->rings = map(u->fd, u->rings_size, IORING_OFF_SQ_RING);
	if (u->rings == MAP_FAILED) {
		u->rings = NULL;
		return -errno;
	}
	u->sqes = map(u->fd, u->sqes_size, IORING_OFF_SQES);
	if (u->sqes == MAP_FAILED) {
		u->sqes = NULL;
		return -errno;
	}
	set_rings(u, p);
	return 0;
}

/* A descriptor, or -errno. */
static int set_up(const struct uring_attr *a, struct io_uring_params *p)
{
	int fd;

	memset(p, 0, sizeof(*p));
	p->flags = IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;
	p->cq_entries = a->nr_cq;
	fd = (int)syscall(SYS_io_uring_setup, a->nr_sq, p);
	return fd < 0 ? -errno : fd;
}

int uring_open(struct uring *u, const struct uring_attr *a)
{
	const uint32_t needs = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP;
	struct io_uring_params p;
	int rc = 0;

	memset(u, 0, sizeof(*u));
	u->fd = set_up(a, &p);
	if (u->fd < 0)
		return u->fd;
	if ((p.features & needs) != needs)
		rc = -EINVAL;
	if (!rc)
		rc = map_rings(u, &p);
	/* Nothing has this user_data: says whether there is such a call. */
	if (!rc)
		rc = uring_cancel(u, UINT64_MAX);
	if (rc == -ENOENT)
		rc = 0;
	if (!rc && a->wake_fd >= 0)
		rc = tell(u->fd, IORING_REGISTER_EVENTFD,
			  (void *)(uintptr_t)&a->wake_fd, 1);
	if (rc)
		uring_close(u);
	return rc;
}

void uring_close(struct uring *u)
{
	if (u->fd < 0)
		return;
	if (u->sqes)
		munmap(u->sqes, u->sqes_size);
	if (u->rings)
		munmap(u->rings, u->rings_size);
	close(u->fd);
	u->fd = -1;
}

int uring_probe(void)
{
	const struct uring_attr a = { .nr_sq = 4, .nr_cq = 8, .wake_fd = -1 };
	struct uring u;
	int rc;

	rc = uring_open(&u, &a);
	/* A filter may have refused that one only. */
	if (!rc)
		rc = enter(&u, 0, 0);
	uring_close(&u);
	return rc;
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
static void cut(struct uring *u)
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
			cut(u);
		rc = enter(u, nr, 0);
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
	/* [uring.back] nobody has read it; pairs with [uring.fill]. */
	a_store(u->sq_tail, u->tail, release);
	return u->sqes[u->tail & u->sq_mask].user_data & ~URING_CUT;
}

uint32_t uring_take(struct uring *u, struct io_uring_cqe *cqe, uint32_t nr)
{
	uint32_t head = a_load(u->cq_head, relaxed), tail, i;

	/* What lies in the kernel until somebody asks. */
	if (unlikely(a_load(u->sq_flags, relaxed) & URING_MUST_ENTER) &&
	    is_refusal(enter(u, 0, IORING_ENTER_GETEVENTS)))
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

	memset(&reg, 0, sizeof(reg));
	reg.addr = user_data;
	reg.fd = -1;
	/* One attempt, without waiting for what comes of it. */
	return tell(u->fd, IORING_REGISTER_SYNC_CANCEL, &reg, 1);
}

int uring_limit_threads(const struct uring *u, uint32_t nr_bounded,
			uint32_t nr_unbounded)
{
	uint32_t nr[2] = { nr_bounded, nr_unbounded };

	return tell(u->fd, IORING_REGISTER_IOWQ_MAX_WORKERS, nr, 2);
}

int uring_bind_threads(const struct uring *u, const void *cpus, size_t nr_bytes)
{
	if (!cpus)
		return tell(u->fd, IORING_UNREGISTER_IOWQ_AFF, NULL, 0);
	return tell(u->fd, IORING_REGISTER_IOWQ_AFF, (void *)(uintptr_t)cpus,
		    (unsigned)nr_bytes);
}
