/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A handle: requests that were handed over wait in fresh until the poller takes
 * them into its own arrays, which MPI_Testsome() gets as they are. The runtime
 * calls the poller on one thread at a time, so its arrays need no lock.
 */
#ifndef MPI_MPI_H
#define MPI_MPI_H

#include <lkdf/lkdf.h>
#include <lkdf/mpi.h>
#include <pthread.h>
#include <stdbool.h>

/* After so long without a request the poller goes. */
#define LINGER_NS 1000000

/* Whom a request tells, and where its status goes. */
struct waiter {
	struct lkdf_event event;
	MPI_Status *status; /* MPI_STATUS_IGNORE: nowhere */
};

struct fresh {
	MPI_Request request;
	struct waiter waiter;
};

struct post {
	struct post *next;
	int (*fn)(void *u);
	void *u;
	struct lkdf_event event;
};

struct lkdf_mpi {
	/* Set at open, constant afterwards. */
	struct lkdf *rt;
	MPI_Comm comm;
	int rank, size;

	/* Under lock. */
	pthread_mutex_t lock;
	struct fresh *fresh;
	unsigned nr_fresh, fresh_room;
	struct post *first, **last;
	unsigned nr_under_way; /* requests and posts */
	bool is_polled; /* the runtime has the poller */

	/* Of the poller. */
	MPI_Request *requests;
	MPI_Status *statuses;
	struct waiter *waiters;
	int *indices;
	unsigned nr, room;
	int64_t quiet_since;
};

/* For lkdf_poll_add(): u is the handle. */
int mpi_poll(void *u);

/* Under lock: the poller sees what is added before that is given. 0 or -errno.
 */
int mpi_start(struct lkdf_mpi *m);

/* Which ranks of this machine have workers on the same CPU: a line. */
int mpi_tell_shared(struct lkdf_mpi *m);

#endif
