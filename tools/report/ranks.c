/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The report of several ranks: a worker that had nothing to run until a request
 * was complete waited for that request: each gap between two bodies of a worker
 * is charged to the request that was complete last before the gap's end, for as
 * long as the request was under way in the gap.
 */
#include "report/ranks.h"
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The time of so many pairs of a kind and a peer is summed up. */
#define MAX_NAMES LKDF_MAX_NAMES

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

const struct rank *ranks_find(const struct ranks *r, int number)
{
	uint32_t i;

	for (i = 0; i < r->nr; i++)
		if (r->rank[i].number == number)
			return &r->rank[i];
	return NULL;
}

double ranks_share(const struct ranks *r, const struct rank *x, uint64_t ns)
{
	return x->nr_workers
		       ? (double)ns / (ranks_wall(r) * (double)x->nr_workers)
		       : 0;
}

/* ---- order -------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_lane(const void *a, const void *b)
{
	const struct rank_body *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_end(const void *a, const void *b)
{
	const struct rank_request *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

static int by_begin(const void *a, const void *b)
{
	const struct rank_charge *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_most(const void *a, const void *b)
{
	const struct rank_wait *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->row != y->row ? (x->row < y->row ? -1 : 1)
				: (x->peer < y->peer ? -1 : x->peer > y->peer);
}

static void note_times(struct ranks *r, int64_t begin, int64_t end)
{
	r->begin = sooner(r->begin, begin);
	r->end = later(r->end, end);
}

static int put_in_order(struct ranks *r)
{
	struct rank *x;
	uint32_t i;
	size_t k;

	qsort(r->rank, r->nr, sizeof(r->rank[0]), by_number);
	r->begin = INT64_MAX;
	r->end = INT64_MIN;
	for (i = 0; i < r->nr; i++) {
		x = &r->rank[i];
		if (i && x->number == x[-1].number)
			return -EEXIST;
		if (x->nr_bodies)
			qsort(x->body, x->nr_bodies, sizeof(*x->body), by_lane);
		if (x->nr_requests)
			qsort(x->request, x->nr_requests, sizeof(*x->request),
			      by_end);
		for (k = 0; k < x->nr_bodies; k++)
			note_times(r, x->body[k].begin, x->body[k].end);
		for (k = 0; k < x->nr_requests; k++)
			note_times(r, x->request[k].begin, x->request[k].end);
	}
	if (r->begin > r->end)
		r->begin = r->end = 0;
	return 0;
}

/* ---- gaps --------------------------------------------------------------- */

/* The last request that was complete by then; NULL: none. */
static const struct rank_request *last_by(const struct rank *x, int64_t t)
{
	size_t low = 0, high = x->nr_requests, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (x->request[mid].end <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &x->request[low - 1] : NULL;
}

static int charge_gap(struct rank *x, int64_t begin, int64_t end)
{
	const struct rank_request *q = last_by(x, end);
	struct rank_charge *more, c;
	size_t cap = x->cap_charges * 2 + 256;

	if (!q || q->end <= begin || q->way == RANK_WAY_NONE ||
	    q->peer == x->number)
		return 0;
	c = (struct rank_charge){ later(begin, q->begin), q->end, q->peer };
	if (x->nr_charges == x->cap_charges) {
		more = realloc(x->charge, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		x->charge = more;
		x->cap_charges = cap;
	}
	x->charge[x->nr_charges++] = c;
	x->wait_ns += (uint64_t)(c.end - c.begin);
	return 0;
}

/* Bodies may lie in one another: a gap begins after all that began before. */
static int charge_gaps(const struct ranks *r, struct rank *x)
{
	int64_t since = r->begin;
	const struct rank_body *b;
	int rc = 0;
	size_t i;

	for (i = 0; i < x->nr_bodies && !rc; i++) {
		b = &x->body[i];
		if (i && b->lane != b[-1].lane) {
			rc = charge_gap(x, since, r->end);
			since = r->begin;
		}
		if (!rc && b->begin > since)
			rc = charge_gap(x, since, b->begin);
		x->body_ns += (uint64_t)(later(b->end, since) -
					 later(b->begin, since));
		since = later(since, b->end);
	}
	if (!rc && x->nr_bodies)
		rc = charge_gap(x, since, r->end);
	if (x->nr_charges)
		qsort(x->charge, x->nr_charges, sizeof(*x->charge), by_begin);
	for (i = 0; i < x->nr_requests; i++)
		x->request_ns +=
			(uint64_t)(x->request[i].end - x->request[i].begin);
	return rc;
}

/* ---- what the peer did meanwhile ---------------------------------------- */

/* The first body of the lane that begins at or after from .. to of bodies. */
static size_t body_from(const struct rank *p, size_t from, size_t to, int64_t t)
{
	size_t mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (p->body[mid].begin < t)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static uint64_t add_bodies(const struct rank *p, const struct rank_charge *c,
			   size_t lane, size_t end, uint64_t *of)
{
	size_t i = body_from(p, lane, end, c->begin);
	uint64_t sum = 0;
	int64_t from, to;

	for (i -= i > lane; i < end && p->body[i].begin < c->end; i++) {
		from = later(p->body[i].begin, c->begin);
		to = sooner(p->body[i].end, c->end);
		if (to <= from)
			continue;
		sum += (uint64_t)(to - from);
		of[p->body[i].name] += (uint64_t)(to - from);
	}
	return sum;
}

static uint64_t add_lanes(const struct rank *p, const struct rank_charge *c,
			  uint64_t *of)
{
	size_t lane = 0, i;
	uint64_t sum = 0;

	for (i = 1; i <= p->nr_bodies; i++) {
		if (i < p->nr_bodies && p->body[i].lane == p->body[lane].lane)
			continue;
		sum += add_bodies(p, c, lane, i, of);
		lane = i;
	}
	return sum;
}

static int look_at_peer(const struct ranks *r, struct rank_wait *w)
{
	const struct rank *x = &r->rank[w->row], *p = ranks_find(r, w->peer);
	uint64_t *of, sum = 0, most = 0;
	uint32_t n;
	size_t i;

	w->busy = -1;
	if (!p || !p->nr_workers)
		return 0;
	of = calloc(MAX_NAMES, sizeof(*of));
	if (!of)
		return -ENOMEM;
	for (i = 0; i < x->nr_charges; i++)
		if (x->charge[i].peer == w->peer)
			sum += add_lanes(p, &x->charge[i], of);
	w->busy = w->ns ? (double)sum / ((double)w->ns * p->nr_workers) : 0;
	for (n = 0; p->name && n < MAX_NAMES; n++) {
		if (of[n] <= most)
			continue;
		most = of[n];
		w->kind = p->name[n];
	}
	free(of);
	return 0;
}

/* ---- waits -------------------------------------------------------------- */

static struct rank_wait *wait_of(struct ranks *r, uint32_t first, uint32_t row,
				 int peer)
{
	struct rank_wait *more;
	uint32_t i;

	for (i = first; i < r->nr_waits; i++)
		if (r->wait[i].peer == peer)
			return &r->wait[i];
	more = realloc(r->wait, (r->nr_waits + 1ull) * sizeof(*more));
	if (!more)
		return NULL;
	r->wait = more;
	more = &r->wait[r->nr_waits++];
	*more = (struct rank_wait){ .row = row, .peer = peer };
	return more;
}

static int sum_up(struct ranks *r, uint32_t row)
{
	const uint32_t first = r->nr_waits;
	const struct rank *x = &r->rank[row];
	struct rank_wait *w;
	size_t i;

	for (i = 0; i < x->nr_charges; i++) {
		w = wait_of(r, first, row, x->charge[i].peer);
		if (!w)
			return -ENOMEM;
		w->nr++;
		w->ns += (uint64_t)(x->charge[i].end - x->charge[i].begin);
		w->share = ranks_share(r, x, w->ns);
	}
	return 0;
}

int ranks_analyse(struct ranks *r)
{
	int rc = put_in_order(r);
	uint32_t i;

	for (i = 0; i < r->nr && !rc; i++) {
		rc = charge_gaps(r, &r->rank[i]);
		if (!rc)
			rc = sum_up(r, i);
	}
	if (!rc && r->nr_waits)
		qsort(r->wait, r->nr_waits, sizeof(*r->wait), by_most);
	for (i = 0; i < ranks_nr_findings(r) && !rc; i++)
		rc = look_at_peer(r, &r->wait[i]);
	return rc;
}

/* ---- words -------------------------------------------------------------- */

uint32_t ranks_nr_findings(const struct ranks *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_waits && i < MAX_RANK_FINDINGS; i++)
		if (r->wait[i].share < WORTH_A_WAIT)
			break;
	return i;
}

void ranks_say(const struct ranks *r, const struct rank_wait *w,
	       struct rank_words *to)
{
	const struct rank *x = &r->rank[w->row];
	char meanwhile[200] = "";

	snprintf(to->title, sizeof(to->title), "rank %d waits for rank %d: %s",
		 x->number, w->peer, words_share(w->share).text);
	if (w->busy >= 0)
		snprintf(meanwhile, sizeof(meanwhile),
			 "; workers of rank %d were in bodies for %s of it%s%s",
			 w->peer, words_share(w->busy).text,
			 w->kind ? ", most of them " : "",
			 w->kind ? w->kind : "");
	snprintf(to->why, sizeof(to->why),
		 "workers of rank %d had nothing to run for %s until a request "
		 "with rank %d was complete, %s time%s%s",
		 x->number, words_time(w->ns).text, w->peer,
		 words_count(w->nr).text, w->nr == 1 ? "" : "s", meanwhile);
	if (w->busy < 0)
		snprintf(to->fix, sizeof(to->fix),
			 "give the recording of rank %d, too", w->peer);
	else if (w->busy >= 0.5)
		snprintf(to->fix, sizeof(to->fix),
			 "less work in rank %d, or what rank %d waits for "
			 "first: .prio, a message for each part",
			 w->peer, x->number);
	else
		snprintf(to->fix, sizeof(to->fix),
			 "rank %d was idle, too: for whom it waits; fewer and "
			 "larger messages; work of rank %d that needs none",
			 w->peer, x->number);
}

/* ---- bins --------------------------------------------------------------- */

static void add_span(const struct ranks *r, double *bin, uint32_t nr,
		     int64_t begin, int64_t end)
{
	double width = ranks_wall(r) / nr;
	double from = (double)(begin - r->begin) / width;
	double to = (double)(end - r->begin) / width;
	uint32_t i;

	if (from < 0)
		from = 0;
	for (i = (uint32_t)from; i < nr && i < to; i++)
		bin[i] += (to < i + 1 ? to : i + 1) - (from > i ? from : i);
}

int ranks_bins(const struct ranks *r, const struct rank *x, uint32_t nr,
	       struct rank_bins *out)
{
	uint32_t i;
	size_t k;

	out->nr = nr;
	out->body = calloc(nr, sizeof(double));
	out->wait = calloc(nr, sizeof(double));
	if (!out->body || !out->wait)
		return -ENOMEM;
	for (k = 0; k < x->nr_bodies; k++)
		add_span(r, out->body, nr, x->body[k].begin, x->body[k].end);
	for (k = 0; k < x->nr_charges; k++)
		add_span(r, out->wait, nr, x->charge[k].begin,
			 x->charge[k].end);
	for (i = 0; x->nr_workers && i < nr; i++) {
		out->body[i] /= x->nr_workers;
		out->wait[i] /= x->nr_workers;
	}
	return 0;
}

void ranks_bins_fini(struct rank_bins *b)
{
	free(b->body);
	free(b->wait);
}
