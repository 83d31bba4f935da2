/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A ring as one would write it by hand for nothing but these reads: the entry
 * of a completion is used again at once, and one system call gives and takes.
 */
#include "tests/bench/suites/io.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int setup(struct io_uring_params *p, uint32_t flags)
{
	memset(p, 0, sizeof(*p));
	p->flags = flags;
	return (int)syscall(SYS_io_uring_setup, 2 * IO_MAX_QD, p);
}

static void *map(int fd, size_t size, off_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

static int map_rings(struct io_raw *r, const struct io_uring_params *p)
{
	uint32_t *array, i;
	char *at;

	r->rings_size =
		p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
	if (r->rings_size < p->sq_off.array + p->sq_entries * sizeof(*array))
		r->rings_size =
			p->sq_off.array + p->sq_entries * sizeof(*array);
	r->sqes_size = p->sq_entries * sizeof(struct io_uring_sqe);
	r->rings = map(r->fd, r->rings_size, IORING_OFF_SQ_RING);
	r->sqes = map(r->fd, r->sqes_size, IORING_OFF_SQES);
	if (!r->rings || !r->sqes)
		return -ENOMEM;
	at = r->rings;
	r->sq_tail = (uint32_t *)(void *)(at + p->sq_off.tail);
	r->cq_head = (uint32_t *)(void *)(at + p->cq_off.head);
	r->cq_tail = (uint32_t *)(void *)(at + p->cq_off.tail);
	r->cqes = at + p->cq_off.cqes;
	r->sq_mask = p->sq_entries - 1;
	r->cq_mask = p->cq_entries - 1;
	array = (uint32_t *)(void *)(at + p->sq_off.array);
	for (i = 0; i < p->sq_entries; i++)
		array[i] = i;
	return 0;
}

int io_raw_open(struct io_raw *r, bool best)
{
	struct io_uring_params p;
	int rc;

	memset(r, 0, sizeof(*r));
	r->fd = -1;
	if (best)
		r->fd = setup(&p, IORING_SETUP_SINGLE_ISSUER |
					  IORING_SETUP_DEFER_TASKRUN);
	if (r->fd < 0)
		r->fd = setup(&p, 0);
	if (r->fd < 0)
		return -errno;
	r->is_fixed = best;
	rc = p.features & IORING_FEAT_SINGLE_MMAP ? map_rings(r, &p) : -EINVAL;
	if (rc)
		io_raw_close(r);
	return rc;
}

/* Memory that cannot be registered (locked memory) is used unregistered. */
int io_raw_take(struct io_raw *r, const struct io_load *l)
{
	struct iovec iov = { l->buf, (size_t)IO_MAX_QD * IO_PAGE };

	syscall(SYS_io_uring_register, r->fd, IORING_UNREGISTER_FILES, NULL, 0);
	syscall(SYS_io_uring_register, r->fd, IORING_UNREGISTER_BUFFERS, NULL,
		0);
	if (!r->is_fixed)
		return 0;
	r->is_fixed = !syscall(SYS_io_uring_register, r->fd,
			       IORING_REGISTER_FILES, &l->file->fd, 1) &&
		      !syscall(SYS_io_uring_register, r->fd,
			       IORING_REGISTER_BUFFERS, &iov, 1);
	return 0;
}

/* Read number i to that slot; the caller tells the kernel. */
static void fill(struct io_raw *r, const struct io_load *l, uint32_t i,
		 uint32_t slot)
{
	struct io_uring_sqe *sqe =
		(struct io_uring_sqe *)r->sqes + (*r->sq_tail & r->sq_mask);

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = r->is_fixed ? IORING_OP_READ_FIXED : IORING_OP_READ;
	sqe->flags = r->is_fixed ? IOSQE_FIXED_FILE : 0;
	sqe->fd = r->is_fixed ? 0 : l->file->fd;
	sqe->off = (uint64_t)io_load_offset(l, i);
	sqe->addr = (uintptr_t)(l->buf + (size_t)slot * IO_PAGE);
	sqe->len = IO_PAGE;
	sqe->user_data = (uint64_t)slot << 32 | i;
	__atomic_store_n(r->sq_tail, *r->sq_tail + 1, __ATOMIC_RELEASE);
}

/* Takes what has come and fills the next reads; how many were wrong. */
static uint32_t turn(struct io_raw *r, const struct io_load *l, uint32_t *next,
		     uint32_t *nr_done)
{
	uint32_t head = *r->cq_head, nr_wrong = 0, i, slot;
	uint32_t tail = __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE);
	const struct io_uring_cqe *cqe;

	for (; head != tail; head++) {
		cqe = (const struct io_uring_cqe *)r->cqes +
		      (head & r->cq_mask);
		i = (uint32_t)cqe->user_data;
		slot = (uint32_t)(cqe->user_data >> 32);
		nr_wrong += !io_load_came(l, i, slot, cqe->res);
		(*nr_done)++;
		if (*next < l->nr)
			fill(r, l, (*next)++, slot);
	}
	__atomic_store_n(r->cq_head, head, __ATOMIC_RELEASE);
	return nr_wrong;
}

int64_t io_raw_run(struct io_raw *r, const struct io_load *l)
{
	uint32_t next = 0, nr_done = 0, nr_given = 0, nr_wrong = 0;
	int64_t start = bench_now_ns();
	long rc;

	while (next < l->qd && next < l->nr) {
		fill(r, l, next, next);
		next++;
	}
	while (nr_done < l->nr) {
		rc = syscall(SYS_io_uring_enter, r->fd, next - nr_given, 1,
			     IORING_ENTER_GETEVENTS, NULL, 0);
		if (rc < 0 && errno != EINTR)
			return bench_fail(-errno, "io: ring: %s",
					  strerror(errno));
		if (rc > 0)
			nr_given += (uint32_t)rc;
		nr_wrong += turn(r, l, &next, &nr_done);
	}
	start = bench_now_ns() - start;
	return nr_wrong ? bench_fail(-EBADMSG, "io: ring: wrong bytes") : start;
}

void io_raw_close(struct io_raw *r)
{
	if (r->rings)
		munmap(r->rings, r->rings_size);
	if (r->sqes)
		munmap(r->sqes, r->sqes_size);
	if (r->fd >= 0)
		close(r->fd);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
}
