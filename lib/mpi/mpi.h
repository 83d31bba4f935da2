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
/* Requests get names when none was complete for so long, or no name is newer
 * than LINGER_NS. */
#define NAME_NS 5000

enum way {
	WAY_NONE, /* nobody has told */
	WAY_FROM,
	WAY_TO,
};

/* The program has told so much of a request that it hands over next. */
struct told {
	MPI_Request request;
	enum way way; /* WAY_NONE: it was handed over */
	int peer, tag;
};

/* Whom a request tells, and where its status goes. */
struct waiter {
	struct lkdf_event event;
	MPI_Status *status; /* MPI_STATUS_IGNORE: nowhere */
	uint64_t region; /* of lkdf_region_begin() */
	enum way way;
	int peer, tag;
	bool has_name; /* the event, and it needs no other */
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
	bool is_funneled; /* lkdf_mpi_wait() calls the poller, no worker does */
	struct watch *watch; /* NULL: of no other rank */

	/* Under lock. */
	pthread_mutex_t lock;
	struct fresh *fresh;
	unsigned nr_fresh, fresh_room;
	struct post *first, **last;
	struct told *told; /* first_told .. nr_told - 1, in their order */
	unsigned first_told, nr_told, told_room;
	unsigned nr_under_way; /* requests and posts */
	bool is_polled; /* the runtime has the poller; never if funneled */

	/* The poller's. */
	MPI_Request *requests;
	MPI_Status *statuses;
	struct waiter *waiters;
	int *indices;
	unsigned nr, room;
	unsigned nr_named; /* events of the first ones have their names */
	int64_t quiet_since, named_at;
};

/* Returns the nanoseconds of CLOCK_MONOTONIC. */
int64_t mpi_clock_ns(void);

/* For lkdf_poll_add(): u is the handle. */
int mpi_poll(void *u);

/* Under lock: the poller sees what is added before that is given. 0 or -errno.
 */
int mpi_start(struct lkdf_mpi *m);

/* For a request that is complete: the recording has a bar for it. */
void mpi_record(struct lkdf_mpi *m, const struct waiter *w,
		const MPI_Status *status);

/*
 * Collective; with a recording of any rank: the rank, and how far its clock is
 * from that of rank 0. 0 or -EIO.
 */
int mpi_align(struct lkdf_mpi *m);

/* Under lock: what was told of a request, which is forgotten. */
struct told mpi_told(struct lkdf_mpi *m, MPI_Request request);

/* The event is named after a request, and nr_more of its others. */
void mpi_name(struct lkdf_event e, const struct told *t, unsigned nr_more);

/* Room for nr elements in an array that *at points to; false: no memory. */
bool mpi_room(void *at, unsigned *room, unsigned nr, size_t size);

/* Among the ranks of this machine: this one's number there, and what all
 * have. */
struct machine {
	int rank, size;
	void *all; /* size elements, the caller's to free */
};

/* Collective; own has nr_bytes bytes on each rank. 0 or -EIO. */
int mpi_gather(MPI_Comm comm, const void *own, size_t nr_bytes,
	       struct machine *m);

/* Which ranks of this machine have workers on the same CPU: a line. */
int mpi_tell_shared(struct lkdf_mpi *m);

/*
 * Collective: from now on this rank ends with the others, unless it outlives
 * them. 0 or -EIO.
 */
int mpi_watch(struct lkdf_mpi *m, bool outlives);
/* Collective: all ranks are here, and may end soon. 0 or -EIO. */
int mpi_leave(struct lkdf_mpi *m);
void mpi_unwatch(struct lkdf_mpi *m);

#endif
