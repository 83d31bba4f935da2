/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mpi/mpi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REQUESTS ((1u << 20) - 1)

bool mpi_room(void *at, unsigned *room, unsigned nr, size_t size)
{
	unsigned more = *room ? *room : 64;
	void *was, *now;

	while (more < nr)
		more *= 2;
	if (more == *room)
		return true;
	memcpy(&was, at, sizeof(was));
	now = realloc(was, more * size);
	if (!now)
		return false;
	memcpy(at, &now, sizeof(now));
	*room = more;
	return true;
}

static MPI_Status *status_of(MPI_Status *statuses, unsigned i)
{
	return statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE
		       ? MPI_STATUS_IGNORE
		       : &statuses[i];
}

/* Requests with one event. */
struct batch {
	unsigned nr;
	MPI_Request *requests;
	MPI_Status *statuses;
	struct lkdf_event event;
};

/* Under lock, with room. */
static void add_fresh(struct lkdf_mpi *m, const struct batch *b, unsigned i,
		      struct told *t)
{
	*t = mpi_told(m, b->requests[i]);
	m->fresh[m->nr_fresh++] = (struct fresh){
		.request = b->requests[i],
		.waiter = { .event = b->event,
			    .status = status_of(b->statuses, i),
			    .region = lkdf_region_begin(m->rt),
			    .way = t->way,
			    .peer = t->peer,
			    .tag = t->tag,
			    .has_name = b->nr > 1 || t->way != WAY_NONE },
	};
	b->requests[i] = MPI_REQUEST_NULL;
}

static int hand_over(struct lkdf_mpi *m, const struct batch *b)
{
	struct told first = { .way = WAY_NONE }, t;
	unsigned i;
	int rc = 0;

	pthread_mutex_lock(&m->lock);
	if (!mpi_room(&m->fresh, &m->fresh_room, m->nr_fresh + b->nr,
		      sizeof(*m->fresh)))
		rc = -ENOMEM;
	if (!rc)
		rc = mpi_start(m);
	for (i = 0; !rc && i < b->nr; i++) {
		add_fresh(m, b, i, &t);
		if (first.way == WAY_NONE)
			first = t;
	}
	/*
	 * The event has the name of the first request that has one. The poller
	 * names an event of one request of which nothing was told, and
	 * signals any under no lock, but after this one.
	 */
	if (!rc && (b->nr > 1 || first.way != WAY_NONE))
		mpi_name(b->event, &first, b->nr - 1);
	if (!rc)
		m->nr_under_way += b->nr;
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
	rc = hand_over(m, &(struct batch){ nr, requests, statuses, e });
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
	rc = hand_over(m, &(struct batch){ 1, request, status, e });
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
