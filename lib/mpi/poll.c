/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mpi/mpi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t mpi_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static int errno_of(int error)
{
	int class = MPI_ERR_OTHER;

	if (error == MPI_SUCCESS)
		return 0;
	MPI_Error_class(error, &class);
	return class == MPI_ERR_TRUNCATE ? -EMSGSIZE : -EIO;
}

/* False: no memory; what there is stays as it is. */
static bool make_room(struct lkdf_mpi *m, unsigned nr)
{
	unsigned room[4] = { m->room, m->room, m->room, m->room };

	if (!mpi_room(&m->requests, &room[0], nr, sizeof(*m->requests)) ||
	    !mpi_room(&m->statuses, &room[1], nr, sizeof(*m->statuses)) ||
	    !mpi_room(&m->waiters, &room[2], nr, sizeof(*m->waiters)) ||
	    !mpi_room(&m->indices, &room[3], nr, sizeof(*m->indices)))
		return false;
	m->room = room[0];
	return true;
}

/* Under lock. Without memory they wait for the next time. */
static void take_fresh(struct lkdf_mpi *m)
{
	unsigned i;

	if (!m->nr_fresh || !make_room(m, m->nr + m->nr_fresh))
		return;
	for (i = 0; i < m->nr_fresh; i++) {
		m->requests[m->nr] = m->fresh[i].request;
		m->waiters[m->nr++] = m->fresh[i].waiter;
	}
	m->nr_fresh = 0;
}

static struct post *take_posts(struct lkdf_mpi *m)
{
	struct post *posts = m->first;

	m->first = NULL;
	m->last = &m->first;
	return posts;
}

static void count_ended(struct lkdf_mpi *m, unsigned nr)
{
	pthread_mutex_lock(&m->lock);
	m->nr_under_way -= nr;
	pthread_mutex_unlock(&m->lock);
}

static unsigned run_posts(struct lkdf_mpi *m, struct post *posts)
{
	struct post *next;
	unsigned nr = 0;
	int rc;

	for (; posts; posts = next, nr++) {
		next = posts->next;
		rc = posts->fn(posts->u);
		/* Before the event: whoever waits for it may close then. */
		count_ended(m, 1);
		lkdf_event_signal(posts->event, rc < 0 ? rc : 0);
		free(posts);
	}
	return nr;
}

static void tell_one(struct lkdf_mpi *m, unsigned i, const MPI_Status *status,
		     int rc)
{
	struct waiter *w = &m->waiters[i];

	if (w->status != MPI_STATUS_IGNORE)
		*w->status = *status;
	mpi_record(m, w, status);
	lkdf_event_signal(w->event, rc);
	w->event = (struct lkdf_event){ 0 };
}

/* Those whose event was told go; the order of the others stays. */
static void close_gaps(struct lkdf_mpi *m)
{
	unsigned i, nr = 0, nr_named = 0;

	for (i = 0; i < m->nr; i++) {
		if (!m->waiters[i].event.slot)
			continue;
		m->requests[nr] = m->requests[i];
		m->waiters[nr++] = m->waiters[i];
		nr_named += i < m->nr_named;
	}
	m->nr = nr;
	m->nr_named = nr_named;
}

/*
 * Names cost more than all else of a message, and only somebody who looks while
 * a request is under way sees them: most are complete before they have one.
 */
static void name_events(struct lkdf_mpi *m)
{
	const struct waiter *w;

	for (; m->nr_named < m->nr; m->nr_named++) {
		w = &m->waiters[m->nr_named];
		if (!w->has_name)
			mpi_name(w->event,
				 &(struct told){ .way = w->way,
						 .peer = w->peer,
						 .tag = w->tag },
				 0);
	}
}

/* MPI itself has failed: nobody can say more of any of them. */
static unsigned fail_all(struct lkdf_mpi *m, int error)
{
	unsigned i, nr = m->nr;
	MPI_Status status;

	memset(&status, 0, sizeof(status));
	status.MPI_ERROR = error;
	count_ended(m, nr);
	for (i = 0; i < nr; i++)
		tell_one(m, i, &status, errno_of(error));
	return nr;
}

/*
 * MPI_Testsome() passes over requests that are none, or persistent and not
 * started, while others are under way; MPI_Test() says that they are complete.
 * So each request is asked by itself when it comes.
 */
static unsigned test_fresh(struct lkdf_mpi *m, unsigned first)
{
	MPI_Status status;
	unsigned i, nr = 0;
	int is_complete, rc;

	for (i = first; i < m->nr; i++) {
		is_complete = 0;
		memset(&status, 0, sizeof(status));
		rc = MPI_Test(&m->requests[i], &is_complete, &status);
		if (!is_complete && rc == MPI_SUCCESS)
			continue;
		status.MPI_ERROR = rc;
		count_ended(m, 1);
		tell_one(m, i, &status, errno_of(rc));
		nr++;
	}
	if (nr)
		close_gaps(m);
	return nr;
}

static unsigned test_some(struct lkdf_mpi *m)
{
	int nr = 0, i, rc, error;

	if (!m->nr)
		return 0;
	rc = MPI_Testsome((int)m->nr, m->requests, &nr, m->indices,
			  m->statuses);
	if (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS)
		nr = (int)fail_all(m, rc);
	else if (nr == MPI_UNDEFINED)
		/* The program has ended all of them, which it may not do. */
		nr = (int)fail_all(m, MPI_SUCCESS);
	else if (nr) {
		count_ended(m, (unsigned)nr);
		for (i = 0; i < nr; i++) {
			error = rc == MPI_SUCCESS ? MPI_SUCCESS
						  : m->statuses[i].MPI_ERROR;
			tell_one(m, (unsigned)m->indices[i], &m->statuses[i],
				 errno_of(error));
		}
	}
	if (nr)
		close_gaps(m);
	return (unsigned)nr;
}

/* -1: nothing has been under way for a while. */
static int may_rest(struct lkdf_mpi *m, int64_t now)
{
	int rc = 0;

	if (m->nr || now - m->quiet_since < LINGER_NS)
		return 0;
	pthread_mutex_lock(&m->lock);
	if (!m->nr_fresh && !m->first) {
		m->is_polled = false;
		rc = -1;
	}
	pthread_mutex_unlock(&m->lock);
	return rc;
}

/* Return: so many requests were complete, or functions were called. */
static unsigned poll_once(struct lkdf_mpi *m)
{
	unsigned first = m->nr, nr;
	struct post *posts;

	pthread_mutex_lock(&m->lock);
	posts = take_posts(m);
	take_fresh(m);
	pthread_mutex_unlock(&m->lock);
	nr = run_posts(m, posts);
	nr += test_fresh(m, first);
	return nr + test_some(m);
}

int mpi_poll(void *u)
{
	struct lkdf_mpi *m = u;
	bool has_found = poll_once(m) != 0;
	int64_t now = mpi_clock_ns();

	if (has_found)
		m->quiet_since = now;
	if (now - m->quiet_since >= NAME_NS || now - m->named_at >= LINGER_NS) {
		name_events(m);
		m->named_at = now;
	}
	return has_found ? 1 : may_rest(m, now);
}

int mpi_start(struct lkdf_mpi *m)
{
	int rc;

	if (m->is_polled || m->is_funneled)
		return 0;
	/* The runtime calls the poller without a lock of its own. */
	rc = lkdf_poll_add(m->rt, mpi_poll, m);
	m->is_polled = !rc;
	return rc;
}
