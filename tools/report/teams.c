/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Teams: runs of a gang, or regions of OpenMP, by name. A run has one body on
 * worker 0 and at most one on each other, which became ready before that ended.
 * Outside of all runs the program works alone.
 */
#include "report/find.h"
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
/* A member may begin so long before the last one of the run before has ended.
 */
#define OVERLAP_NS 500
/* With more of that time in other bodies the program is not alone. */
#define MOST_BESIDE 0.1

static bool is_member(const struct report *r, const struct slice *s)
{
	return r->kind[s->kind].is_member;
}

/* Worker 0 begins a run, others are made ready then. */
static uint64_t since(const struct slice *s)
{
	return s->ready == NO_TIME ? s->begin : s->ready;
}

static int by_run(const void *a, const void *b)
{
	const struct slice *x = *(const struct slice *const *)a;
	const struct slice *y = *(const struct slice *const *)b;

	uint64_t p = since(x), q = since(y);

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return p < q ? -1 : p > q;
}

static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int longest_first(const void *a, const void *b)
{
	const struct team *x = a, *y = b;

	return x->wall > y->wall ? -1 : x->wall < y->wall;
}

static void add_run(struct team *t, const struct slice **s, uint32_t nr,
		    struct span *at)
{
	uint64_t uneven = 0;
	uint32_t i;

	*at = (struct span){ s[0]->begin, s[0]->end };
	for (i = 1; i < nr; i++) {
		at->begin = s[i]->begin < at->begin ? s[i]->begin : at->begin;
		at->end = s[i]->end > at->end ? s[i]->end : at->end;
	}
	for (i = 0; i < nr; i++)
		uneven += at->end - s[i]->end;
	t->kind = s[0]->kind;
	t->nr++;
	t->nr_bodies += nr;
	t->threads = nr > t->threads ? nr : t->threads;
	t->wall += at->end - at->begin;
	t->uneven += uneven;
	if (uneven < t->worst)
		return;
	t->worst = uneven;
	t->at = (struct place){ at->begin, at->end, -1 };
}

/* How many of the next bodies are one run. */
static uint32_t length_of_run(const struct report *r, const struct slice **s,
			      uint32_t nr, uint32_t *seen, uint32_t stamp)
{
	uint64_t end = NO_TIME;
	uint32_t i;

	for (i = 0; i < nr && s[i]->kind == s[0]->kind; i++) {
		if (seen[s[i]->lane] == stamp || since(s[i]) > end)
			break;
		seen[s[i]->lane] = stamp;
		if (r->lane[s[i]->lane].executor == 0)
			end = s[i]->end;
	}
	return i;
}

/* Runs into spans; their number. */
static uint32_t add_runs(struct report *r, const struct slice **s, uint32_t nr,
			 struct span *at, uint32_t *seen)
{
	uint32_t first, length, nr_runs = 0;

	for (first = 0; first < nr; first += length) {
		length = length_of_run(r, s + first, nr - first, seen,
				       nr_runs + 1);
		if (!first || s[first]->kind != s[first - 1]->kind)
			r->nr_teams++;
		add_run(&r->team[r->nr_teams - 1], s + first, length,
			&at[nr_runs++]);
	}
	return nr_runs;
}

/* The last run that begins up to that time holds it. Runs are by begin. */
static bool is_within(const struct span *at, uint32_t nr, uint64_t t)
{
	uint32_t low = 0, high = nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (at[mid].begin <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low && t < at[low - 1].end;
}

/* The time of other bodies that began in no run. */
static uint64_t time_beside(const struct report *r, const struct span *at,
			    uint32_t nr)
{
	const struct slice *s;
	uint64_t sum = 0;

	for (s = r->slice; s < r->slice + r->nr_slices; s++)
		if (!is_member(r, s) && !is_within(at, nr, s->begin))
			sum += s->end - s->begin;
	return sum;
}

/* The time from the first run to the last in which none is. */
static uint64_t time_between(struct span *at, uint32_t nr, struct place *most)
{
	uint64_t sum = 0, end = 0;
	uint32_t i;

	qsort(at, nr, sizeof(*at), by_begin);
	for (i = 0; i < nr; i++) {
		if (at[i].begin > end) {
			sum += at[i].begin - end;
			if (at[i].begin - end > most->to - most->from)
				*most = (struct place){ end, at[i].begin, -1 };
		}
		end = at[i].end > end ? at[i].end : end;
	}
	return sum;
}

int report_teams(struct report *r)
{
	const struct slice **s;
	uint32_t i, nr = 0, nr_runs, *seen;
	struct span *at;
	int rc = 0;

	for (i = 0; i < r->nr_slices; i++)
		nr += is_member(r, &r->slice[i]);
	s = malloc((nr + 1ull) * sizeof(*s));
	at = malloc((nr + 1ull) * sizeof(*at));
	r->team = calloc(r->nr_kinds + 1ull, sizeof(*r->team));
	seen = calloc(r->nr_lanes + 1ull, sizeof(*seen));
	if (!s || !at || !seen || !r->team)
		rc = -ENOMEM;
	for (i = nr = 0; !rc && i < r->nr_slices; i++)
		if (is_member(r, &r->slice[i]))
			s[nr++] = &r->slice[i];
	if (!rc && nr) {
		qsort(s, nr, sizeof(*s), by_run);
		nr_runs = add_runs(r, s, nr, at, seen);
		r->between = time_between(at, nr_runs, &r->between_at);
		r->beside = time_beside(r, at, nr_runs);
		qsort(r->team, r->nr_teams, sizeof(*r->team), longest_first);
	}
	free(s);
	free(at);
	free(seen);
	return rc;
}

/* Workers have nothing to do meanwhile, so that is what they starve for. */
double find_between(struct report *r)
{
	double cost = share_of(r->between, r->wall);
	double most = find_share(r, TIME_STARVED);
	struct finding *f;

	cost = cost < most ? cost : most;
	if (!r->nr_teams || find_is_small(r, cost, WORTH_TELLING) ||
	    r->beside > MOST_BESIDE * (double)r->between)
		return 0;
	f = find_add(r, "serial", FINDING_COST, cost);
	PUT(f->title, "The program works alone between its regions");
	PUT(f->why,
	    "For %s of the run, %s, no region, no gang, had threads in it: only "
	    "the thread that begins them works. The longest of these times is "
	    "%s.",
	    words_share(share_of(r->between, r->wall)).text,
	    words_time(r->between).text,
	    words_time(r->between_at.to - r->between_at.from).text);
	PUT(f->fix, "a region, or tasks, for what the thread computes between "
		    "them");
	f->at = r->between_at;
	find_source(f, "bodies");
	return cost;
}
