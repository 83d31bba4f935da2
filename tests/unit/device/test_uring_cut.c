/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Rings: what is left of a chain of which the kernel has taken the first part
 * only does nothing, and what lies behind the chain is done.
 */
#include "ring/uring.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NR 4

/* The first three are a chain. */
static void fill(struct uring *u, int fd)
{
	struct io_uring_sqe *sqe;
	int i;

	for (i = 0; i < NR; i++) {
		sqe = uring_sqe(u);
		sqe->opcode = IORING_OP_WRITE;
		sqe->fd = fd;
		sqe->addr = (uint64_t)(uintptr_t) & "abcd"[i];
		sqe->len = 1;
		sqe->off = (uint64_t)i;
		sqe->user_data = (uint64_t)i << 4;
		if (i < 2)
			uring_link(u, sqe);
	}
}

/* The results, by entry. */
static void collect(struct uring *u, int *res)
{
	struct pollfd pfd = { .fd = u->fd, .events = POLLIN };
	struct io_uring_cqe cqe[NR];
	uint32_t nr = 0, nr_new, i;

	while (nr < NR) {
		nr_new = uring_take(u, cqe, NR);
		for (i = 0; i < nr_new; i++)
			res[cqe[i].user_data >> 4] = cqe[i].res;
		nr += nr_new;
		if (nr < NR)
			poll(&pfd, 1, -1);
	}
}

static void cut_behind(struct uring *u, int fd, uint32_t nr)
{
	int res[NR], i;

	fill(u, fd);
	a_store(u->sq_tail, u->tail, release);
	if (nr)
		is(syscall(SYS_io_uring_enter, u->fd, nr, 0, 0, NULL, 0), nr,
		   "%u of the entries are taken", nr);
	is(uring_submit(u), 0, "then the others are");
	collect(u, res);
	for (i = 0; i < NR; i++)
		is(res[i],
		   nr && nr < 3 && i < 3 && i >= (int)nr ? -ECANCELED : 1,
		   "entry %d of a chain of three, cut behind %u", i, nr);
}

int main(void)
{
	const struct uring_attr a = { .nr_sq = 4, .nr_cq = 8, .wake_fd = -1 };
	char path[] = "/tmp/lkdf-cut-XXXXXX";
	int fd = mkstemp(path), rc;
	struct uring u;
	uint32_t nr;

	tap_start(20);
	rc = uring_open(&u, &a);
	if (rc) {
		skip("the rest of a chain", uring_why(rc));
	} else {
		for (nr = 0; nr < NR; nr++)
			cut_behind(&u, fd, nr);
		uring_close(&u);
	}
	close(fd);
	unlink(path);
	return tap_end();
}
