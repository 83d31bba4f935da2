/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/when.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t next_edge(const struct edges *e, uint64_t t)
{
	return e->next < e->nr && e->at[e->next] < t ? e->at[e->next] : t;
}

static void pass_edges(struct edges *e, uint64_t at)
{
	while (e->next < e->nr && e->at[e->next] <= at)
		e->next++;
}

/* Spans by begin, that may overlap: as one where they do. */
static void add_edges(struct edges *e, uint64_t begin, uint64_t end)
{
	uint64_t *last = e->nr ? &e->at[e->nr - 1] : NULL;

	if (last && begin <= *last) {
		*last = end > *last ? end : *last;
		return;
	}
	e->at[e->nr++] = begin;
	e->at[e->nr++] = end;
}

static int by_begin(const void *a, const void *b)
{
	const struct wait *x = *(const struct wait *const *)a;
	const struct wait *y = *(const struct wait *const *)b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Those of threads of the program lie by their ends. */
static int gather_waits(const struct report *r, struct edges *waited,
			struct edges *full)
{
	const struct wait **w = malloc((r->nr_waits + 1ull) * sizeof(*w));
	uint32_t i;

	waited->at = malloc((2ull * r->nr_waits + 1) * sizeof(uint64_t));
	full->at = malloc((2ull * r->nr_waits + 1) * sizeof(uint64_t));
	for (i = 0; w && i < r->nr_waits; i++)
		w[i] = &r->wait[i];
	if (w && waited->at && full->at) {
		qsort(w, r->nr_waits, sizeof(*w), by_begin);
		for (i = 0; i < r->nr_waits; i++) {
			add_edges(waited, w[i]->begin, w[i]->end);
			if (w[i]->fits)
				add_edges(full, w[i]->begin, w[i]->end);
		}
	}
	free(w);
	return w && waited->at && full->at ? 0 : -ENOMEM;
}

static int gather_held(const struct report *r, struct edges *held)
{
	const struct held *h;

	held->at = malloc((2ull * r->nr_held + 1) * sizeof(uint64_t));
	if (!held->at)
		return -ENOMEM;
	for (h = r->held; h < r->held + r->nr_held; h++)
		add_edges(held, h->begin, h->end);
	return 0;
}

static int by_slice_begin(const void *a, const void *b)
{
	const struct slice *x = *(const struct slice *const *)a;
	const struct slice *y = *(const struct slice *const *)b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* When a lane of that kind works. */
static int gather_lanes(const struct report *r, uint32_t kind, struct edges *e)
{
	const struct slice **s;
	uint64_t nr = 0, n;
	uint32_t i;

	for (i = 0; i < r->nr_slices; i++)
		nr += r->lane[r->slice[i].lane].kind == kind;
	s = malloc((nr + 1) * sizeof(*s));
	e->at = malloc((2 * nr + 1) * sizeof(*e->at));
	for (i = 0, n = 0; s && e->at && i < r->nr_slices; i++)
		if (r->lane[r->slice[i].lane].kind == kind)
			s[n++] = &r->slice[i];
	if (s && e->at) {
		qsort(s, nr, sizeof(*s), by_slice_begin);
		for (n = 0; n < nr; n++)
			add_edges(e, s[n]->begin, s[n]->end);
	}
	free(s);
	return s && e->at ? 0 : -ENOMEM;
}

int when_gather(const struct report *r, struct edges when[NR_WHEN])
{
	int rc = gather_held(r, &when[HELD]);

	if (!rc)
		rc = gather_waits(r, &when[WAITED], &when[FULL]);
	if (!rc)
		rc = gather_lanes(r, LANE_DEVICE, &when[DEVICE]);
	if (!rc)
		rc = gather_lanes(r, LKDF_EXECUTOR_BLOCKING, &when[POOL]);
	return rc;
}

void when_fini(struct edges when[NR_WHEN])
{
	int i;

	for (i = 0; i < NR_WHEN; i++)
		free(when[i].at);
}

uint64_t when_next(const struct edges when[NR_WHEN], uint64_t t)
{
	int i;

	for (i = 0; i < NR_WHEN; i++)
		t = next_edge(&when[i], t);
	return t;
}

void when_pass(struct edges when[NR_WHEN], uint64_t at)
{
	int i;

	for (i = 0; i < NR_WHEN; i++)
		pass_edges(&when[i], at);
}
