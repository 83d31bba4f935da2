/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mpi/mpi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* False: MPI allows calls by the main thread alone, and this is another one. */
static bool is_allowed(int level)
{
	int is_main = 1;

	if (level == MPI_THREAD_FUNNELED)
		MPI_Is_thread_main(&is_main);
	return is_main;
}

static int check_threads(bool *is_funneled)
{
	int has_begun = 0, level = MPI_THREAD_SINGLE;

	MPI_Initialized(&has_begun);
	if (has_begun)
		MPI_Query_thread(&level);
	*is_funneled = level == MPI_THREAD_FUNNELED;
	if (level >= MPI_THREAD_FUNNELED && is_allowed(level))
		return 0;
	if (*is_funneled)
		fprintf(stderr,
			"lkdf: mpi: MPI was initialised for calls by the "
			"main thread (MPI_THREAD_FUNNELED): call "
			"lkdf_mpi_open() there\n");
	else
		fprintf(stderr,
			"lkdf: mpi: %s: call MPI_Init_thread() with "
			"MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED or "
			"MPI_THREAD_FUNNELED, and look at what it provides\n",
			has_begun ? "MPI was initialised for one thread"
				  : "MPI is not initialised");
	return -ENOTSUP;
}

static void destroy_handle(struct lkdf_mpi *m)
{
	pthread_mutex_destroy(&m->lock);
	free(m->fresh);
	free(m->told);
	free(m->requests);
	free(m->statuses);
	free(m->waiters);
	free(m->indices);
	free(m);
}

static int join_ranks(struct lkdf_mpi *m, MPI_Comm comm, bool outlives)
{
	if (MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) ||
	    MPI_Comm_dup(comm, &m->comm))
		return -EIO;
	if (MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN) ||
	    MPI_Comm_rank(m->comm, &m->rank) ||
	    MPI_Comm_size(m->comm, &m->size) || mpi_watch(m, outlives) ||
	    mpi_tell_shared(m) || mpi_align(m)) {
		mpi_unwatch(m);
		MPI_Comm_free(&m->comm);
		return -EIO;
	}
	return 0;
}

int lkdf_mpi_open(struct lkdf *rt, MPI_Comm comm,
		  const struct lkdf_mpi_attr *attr, struct lkdf_mpi **out)
{
	struct lkdf_mpi *m;
	bool is_funneled;
	uint32_t flags;
	int rc;

	if (!rt || !out || comm == MPI_COMM_NULL ||
	    (attr && attr->size < sizeof(*attr)))
		return -EINVAL;
	flags = attr ? attr->flags : 0;
	if (flags & ~LKDF_MPI_OUTLIVE)
		return -EINVAL;
	rc = check_threads(&is_funneled);
	if (rc)
		return rc;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->rt = rt;
	m->is_funneled = is_funneled;
	m->last = &m->first;
	pthread_mutex_init(&m->lock, NULL);
	rc = join_ranks(m, comm, flags & LKDF_MPI_OUTLIVE);
	if (rc)
		destroy_handle(m);
	else
		*out = m;
	return rc;
}

int lkdf_mpi_close(struct lkdf_mpi *m)
{
	bool is_busy;
	int rc;

	if (!m)
		return 0;
	pthread_mutex_lock(&m->lock);
	is_busy = m->nr_under_way != 0;
	pthread_mutex_unlock(&m->lock);
	if (is_busy)
		return -EBUSY;
	/* Waits for a poller that tells its last event; there may be none. */
	lkdf_poll_remove(m->rt, mpi_poll, m);
	mpi_align(m);
	rc = mpi_leave(m);
	mpi_unwatch(m);
	MPI_Comm_free(&m->comm);
	destroy_handle(m);
	return rc;
}

int lkdf_mpi_rank(const struct lkdf_mpi *m)
{
	return m->rank;
}

int lkdf_mpi_size(const struct lkdf_mpi *m)
{
	return m->size;
}
