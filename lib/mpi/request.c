/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mpi/mpi.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_REQUESTS ((1u << 20) - 1)

/* Under lock. */
static bool has_room(struct lkdf_mpi *m, unsigned nr)
{
	unsigned room = m->fresh_room ? m->fresh_room : 64;
	struct fresh *fresh;

	while (room < m->nr_fresh + nr)
		room *= 2;
	if (room == m->fresh_room)
		return true;
	fresh = realloc(m->fresh, room * sizeof(*fresh));
	if (!fresh)
		return false;
	m->fresh = fresh;
	m->fresh_room = room;
	return true;
}

static MPI_Status *status_of(MPI_Status *statuses, unsigned i)
{
	return statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE
		       ? MPI_STATUS_IGNORE
		       : &statuses[i];
}

static int hand_over(struct lkdf_mpi *m, unsigned nr, MPI_Request *requests,
		     MPI_Status *statuses, struct lkdf_event e)
{
	unsigned i;
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = has_room(m, nr) ? mpi_start(m) : -ENOMEM;
	for (i = 0; !rc && i < nr; i++) {
		m->fresh[m->nr_fresh].request = requests[i];
		m->fresh[m->nr_fresh++].waiter =
			(struct waiter){ e, status_of(statuses, i) };
		requests[i] = MPI_REQUEST_NULL;
	}
	if (!rc)
		m->nr_under_way += nr;
	pthread_mutex_unlock(&m->lock);
	return rc;
}

int lkdf_mpi_events(struct lkdf_mpi *m, unsigned nr, MPI_Request *requests,
		    MPI_Status *statuses, struct lkdf_event *out)
{
	struct lkdf_event e;
	int rc;

	if (!m || !requests || !out || !nr || nr > MAX_REQUESTS)
		return -EINVAL;
	rc = lkdf_event_create(m->rt, nr, 0, &e);
	if (rc)
		return rc;
	lkdf_event_label(e, nr == 1 ? "a request of MPI" : "requests of MPI");
	rc = hand_over(m, nr, requests, statuses, e);
	if (rc) {
		/* The last signal drops the second reference. */
		while (nr--)
			lkdf_event_signal(e, rc);
		lkdf_event_put(e);
		return rc;
	}
	*out = e;
	return 0;
}

int lkdf_mpi_event(struct lkdf_mpi *m, MPI_Request *request, MPI_Status *status,
		   struct lkdf_event *out)
{
	return lkdf_mpi_events(m, 1, request, status, out);
}

int lkdf_mpi_hold(struct lkdf_ctx *c, struct lkdf_mpi *m, MPI_Request *request,
		  MPI_Status *status)
{
	struct lkdf_event e;
	int rc;

	if (!m || !request)
		return -EINVAL;
	rc = lkdf_hold(c, &e);
	if (rc)
		return rc;
	rc = hand_over(m, 1, request, status, e);
	if (rc)
		lkdf_event_signal(e, rc);
	return rc;
}

static int queue_post(struct lkdf_mpi *m, struct post *p)
{
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = mpi_start(m);
	if (!rc) {
		*m->last = p;
		m->last = &p->next;
		m->nr_under_way++;
	}
	pthread_mutex_unlock(&m->lock);
	return rc;
}

int lkdf_mpi_post(struct lkdf_mpi *m, int (*fn)(void *u), void *u,
		  struct lkdf_event *out)
{
	struct lkdf_event e;
	struct post *p;
	int rc;

	if (!m || !fn)
		return -EINVAL;
	p = malloc(sizeof(*p));
	if (!p)
		return -ENOMEM;
	rc = lkdf_event_create(m->rt, 1, 0, &e);
	if (!rc) {
		*p = (struct post){ .fn = fn, .u = u, .event = e };
		rc = queue_post(m, p);
		if (rc)
			lkdf_event_signal(e, rc);
		if (!rc && out)
			*out = e;
		else
			lkdf_event_put(e);
	}
	if (rc)
		free(p);
	return rc;
}
