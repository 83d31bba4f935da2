/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A tool reads the recordings of several ranks as one by the marks here, which
 * hold the rank and the distance of its clock from that of rank 0, and by the
 * region of each request: tools/report/ranks.c.
 */
#include "mpi/mpi.h"

#include <errno.h>
#include <stdio.h>

/* The fastest of so many counts. */
#define ROUND_TRIPS 8
#define TAG 1

/* 0 or 1: MPI has failed. */
static int ask_clock(struct lkdf_mpi *m, int64_t *took, int64_t *ahead)
{
	int64_t begin = mpi_clock_ns(), there = 0, end;

	if (MPI_Send(&there, 1, MPI_INT64_T, 0, TAG, m->comm) ||
	    MPI_Recv(&there, 1, MPI_INT64_T, 0, TAG, m->comm,
		     MPI_STATUS_IGNORE))
		return 1;
	end = mpi_clock_ns();
	*took = end - begin;
	*ahead = there - (begin + *took / 2);
	return 0;
}

static int answer_clock(struct lkdf_mpi *m, int rank)
{
	int64_t now;

	if (MPI_Recv(&now, 1, MPI_INT64_T, rank, TAG, m->comm,
		     MPI_STATUS_IGNORE))
		return 1;
	now = mpi_clock_ns();
	return MPI_Send(&now, 1, MPI_INT64_T, rank, TAG, m->comm) != 0;
}

/*
 * The sum of this rank's clock and ahead is rank 0's. The message took half of
 * the round trip or less: a distance below that, as of one machine, is none.
 */
static int measure_clock(struct lkdf_mpi *m, int64_t *ahead)
{
	int64_t took = INT64_MAX, this_took, this_ahead;
	int i;

	*ahead = 0;
	for (i = 0; i < ROUND_TRIPS; i++) {
		if (ask_clock(m, &this_took, &this_ahead))
			return 1;
		if (this_took >= took)
			continue;
		took = this_took;
		*ahead = this_ahead;
	}
	if (*ahead <= took / 2 && *ahead >= -took / 2)
		*ahead = 0;
	return 0;
}

static int measure_all(struct lkdf_mpi *m, int64_t *ahead)
{
	int rank, i, rc = 0;

	*ahead = 0;
	if (m->rank)
		return measure_clock(m, ahead);
	for (rank = 1; rank < m->size && !rc; rank++)
		for (i = 0; i < ROUND_TRIPS && !rc; i++)
			rc = answer_clock(m, rank);
	return rc;
}

int mpi_align(struct lkdf_mpi *m)
{
	int records = lkdf_region_begin(m->rt) != 0, any = 0;
	int64_t ahead;

	if (MPI_Allreduce(&records, &any, 1, MPI_INT, MPI_LOR, m->comm))
		return -EIO;
	if (!any)
		return 0;
	if (measure_all(m, &ahead))
		return -EIO;
	lkdf_mark(m->rt, "MPI rank", m->rank);
	lkdf_mark(m->rt, "MPI clock", ahead);
	return 0;
}

void mpi_record(struct lkdf_mpi *m, const struct waiter *w,
		const MPI_Status *status)
{
	int peer = w->peer;
	char label[32];

	if (!w->region)
		return;
	if (w->way == WAY_FROM && peer == MPI_ANY_SOURCE)
		peer = status->MPI_SOURCE;
	if (w->way == WAY_NONE || peer < 0)
		snprintf(label, sizeof(label), "MPI");
	else
		snprintf(label, sizeof(label), "MPI %s %d",
			 w->way == WAY_FROM ? "from" : "to", peer);
	lkdf_region_end(m->rt, label, w->region);
}
