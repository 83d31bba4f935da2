/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The program names the other side of a request, which MPI itself does not. */
#include "mpi/mpi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Under lock; NULL: none. Requests are handed over in their order, mostly. */
static struct told *find_told(struct lkdf_mpi *m, MPI_Request request)
{
	unsigned i;

	for (i = m->first_told; i < m->nr_told; i++)
		if (m->told[i].way != WAY_NONE && m->told[i].request == request)
			return &m->told[i];
	return NULL;
}

static void drop_first(struct lkdf_mpi *m)
{
	while (m->first_told < m->nr_told &&
	       m->told[m->first_told].way == WAY_NONE)
		m->first_told++;
	if (m->first_told == m->nr_told)
		m->first_told = m->nr_told = 0;
}

struct told mpi_told(struct lkdf_mpi *m, MPI_Request request)
{
	struct told none = { .way = WAY_NONE }, *at = find_told(m, request);

	if (!at)
		return none;
	none = *at;
	at->way = WAY_NONE;
	drop_first(m);
	return none;
}

static int tell_peer(struct lkdf_mpi *m, const struct told *t)
{
	struct told *at;
	int rc = 0;

	if (!m || t->request == MPI_REQUEST_NULL)
		return -EINVAL;
	pthread_mutex_lock(&m->lock);
	at = find_told(m, t->request);
	if (!at &&
	    mpi_room(&m->told, &m->told_room, m->nr_told + 1, sizeof(*m->told)))
		at = &m->told[m->nr_told++];
	if (at)
		*at = *t;
	else
		rc = -ENOMEM;
	pthread_mutex_unlock(&m->lock);
	return rc;
}

int lkdf_mpi_from(struct lkdf_mpi *m, MPI_Request request, int peer, int tag)
{
	return tell_peer(m, &(struct told){ request, WAY_FROM, peer, tag });
}

int lkdf_mpi_to(struct lkdf_mpi *m, MPI_Request request, int peer, int tag)
{
	return tell_peer(m, &(struct told){ request, WAY_TO, peer, tag });
}

static void told_text(const struct told *t, char *to, size_t size)
{
	char peer[24] = "any rank", tag[24] = "any tag";

	if (t->way == WAY_NONE) {
		snprintf(to, size, "a request of MPI");
		return;
	}
	if (t->peer != MPI_ANY_SOURCE)
		snprintf(peer, sizeof(peer), "rank %d", t->peer);
	if (t->tag != MPI_ANY_TAG)
		snprintf(tag, sizeof(tag), "tag %d", t->tag);
	snprintf(to, size, "a message %s %s, %s",
		 t->way == WAY_FROM ? "from" : "to", peer, tag);
}

void mpi_name(struct lkdf_event e, const struct told *t, unsigned nr_more)
{
	char text[64];
	size_t used;

	told_text(t, text, sizeof(text));
	used = strlen(text);
	if (nr_more)
		snprintf(text + used, sizeof(text) - used, ", and %u more",
			 nr_more);
	lkdf_event_label(e, text);
}
