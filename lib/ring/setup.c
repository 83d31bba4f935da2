/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "ring/uring.h"

#include "base/own_fd.h"

#include <errno.h>
#include <liburing.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* liburing's pointers to what is shared with the kernel, for our accesses. */
static void share_workers(struct uring *u)
{
	struct io_uring *made = u->made;
	unsigned *array = made->sq.array;
	uint32_t i, nr = *made->sq.kring_entries;

	u->fd = made->ring_fd;
	u->sq_head = (_Atomic(uint32_t) *)made->sq.khead;
	u->sq_tail = (_Atomic(uint32_t) *)made->sq.ktail;
	u->sq_flags = (_Atomic(uint32_t) *)made->sq.kflags;
	u->cq_head = (_Atomic(uint32_t) *)made->cq.khead;
	u->cq_tail = (_Atomic(uint32_t) *)made->cq.ktail;
	u->sqes = made->sq.sqes;
	u->cqes = made->cq.cqes;
	u->sq_mask = nr - 1;
	u->cq_mask = *made->cq.kring_entries - 1;
	u->tail = a_load(u->sq_tail, relaxed);
	/*
	 * Entries go in order: the array stays as it is. liburing 2.9 sets up a
	 * ring without one where the kernel can, and the order is the same.
	 */
	for (i = 0; array && i < nr; i++)
		array[i] = i;
}

/* Features that this library needs of a ring that liburing has set up. */
static int check_kernel(const struct uring *u, uint32_t features)
{
	const uint32_t needs = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP;
	int rc;

	if ((features & needs) != needs)
		return -EINVAL;
	/* Nothing has this user_data: says whether there is such a call. */
	rc = uring_cancel(u, UINT64_MAX);
	return rc == -ENOENT ? 0 : rc;
}

int uring_open(struct uring *u, const struct uring_attr *a)
{
	struct io_uring_params p = {
		.flags = IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE,
		.cq_entries = a->nr_cq,
	};
	int rc;

	memset(u, 0, sizeof(*u));
	u->fd = -1;
	u->made = calloc(1, sizeof(*u->made));
	if (!u->made)
		return -ENOMEM;
	rc = io_uring_queue_init_params(a->nr_sq, u->made, &p);
	if (rc) {
		free(u->made);
		u->made = NULL;
		return rc;
	}
	share_workers(u);
	rc = check_kernel(u, p.features);
	if (!rc && a->wake_fd >= 0)
		rc = io_uring_register_eventfd(u->made, a->wake_fd);
	if (rc)
		uring_close(u);
	return rc;
}

void uring_close(struct uring *u)
{
	if (!u->made)
		return;
	/* The program may have closed it, and have a file of that number. */
	if (!own_fd_is_anonymous(u->made->ring_fd))
		u->made->ring_fd = -1;
	io_uring_queue_exit(u->made);
	free(u->made);
	u->made = NULL;
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
		rc = uring_enter(&u, 0, 0);
	uring_close(&u);
	return rc;
}

int uring_limit_threads(const struct uring *u, uint32_t nr_bounded,
			uint32_t nr_unbounded)
{
	unsigned nr[2] = { nr_bounded, nr_unbounded };

	return io_uring_register_iowq_max_workers(u->made, nr);
}

int uring_bind_threads(const struct uring *u, const void *cpus, size_t nr_bytes)
{
	if (!cpus)
		return io_uring_unregister_iowq_aff(u->made);
	return io_uring_register_iowq_aff(u->made, nr_bytes, cpus);
}
