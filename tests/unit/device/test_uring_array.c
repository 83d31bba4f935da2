/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Rings: the kernel takes entries in order, with an array of their numbers and
 * without one. liburing 2.9 asks for no array where the kernel (6.6) can do
 * without; a function of its name here makes any liburing do so.
 */
#include "ring/uring.h"
#include "tests/tap.h"

#include <errno.h>
#include <poll.h>

#if __has_include(<liburing.h>)
#include <dlfcn.h>
#include <liburing.h>

#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1U << 16)
#endif
#define NR 4
#define ROUNDS 3

/* Set around each call of uring_open(). */
static bool has_array;

typedef int queue_init_fn(unsigned nr, struct io_uring *ring,
			  struct io_uring_params *p);

int io_uring_queue_init_params(unsigned nr, struct io_uring *ring,
			       struct io_uring_params *p)
{
	queue_init_fn *real =
		(queue_init_fn *)dlsym(RTLD_NEXT, "io_uring_queue_init_params");
	int rc;

	if (!has_array)
		p->flags |= IORING_SETUP_NO_SQARRAY;
	rc = real(nr, ring, p);
	if (rc || has_array)
		return rc;
	/* liburing 2.3 has filled an array: heads and tails are there now. */
	*ring->sq.khead = *ring->sq.ktail = 0;
	*ring->cq.khead = *ring->cq.ktail = 0;
	ring->sq.array = NULL;
	return 0;
}

/* Completions of a round come in the order in which it was filled. */
static void fill_round(struct uring *u, int round)
{
	struct io_uring_sqe *sqe;
	int i;

	for (i = 0; i < NR; i++) {
		sqe = uring_sqe(u);
		sqe->opcode = IORING_OP_NOP;
		sqe->user_data = (uint64_t)(round * NR + i) << 1;
	}
}

static int take_round(struct uring *u, int round)
{
	struct pollfd pfd = { .fd = u->fd, .events = POLLIN };
	struct io_uring_cqe cqe[NR];
	int nr = 0, nr_in_order = 0;
	uint32_t nr_new, i;

	while (nr < NR) {
		nr_new = uring_take(u, cqe, NR);
		for (i = 0; i < nr_new; i++, nr++)
			nr_in_order += cqe[i].user_data ==
				       (uint64_t)(round * NR + nr) << 1;
		if (nr < NR)
			poll(&pfd, 1, -1);
	}
	return nr_in_order;
}

static void entries_go_in_order(bool with_array)
{
	const struct uring_attr a = { .nr_sq = NR, .nr_cq = 8, .wake_fd = -1 };
	const char *name = with_array ? "with" : "without";
	struct uring u;
	int rc, round;

	has_array = with_array;
	rc = uring_open(&u, &a);
	if (rc) {
		skip("a ring", uring_why(rc));
		return;
	}
	for (round = 0; round < ROUNDS; round++) {
		fill_round(&u, round);
		is(uring_submit(&u), 0, "%s an array, round %d: all are taken",
		   name, round);
		is(take_round(&u, round), NR, "in the order of the entries");
	}
	uring_close(&u);
}

int main(void)
{
	tap_start(20);
	entries_go_in_order(true);
	entries_go_in_order(false);
	return tap_end();
}
#else
int main(void)
{
	tap_start(20);
	skip("rings without an array", "liburing.h is not installed");
	return tap_end();
}
#endif
