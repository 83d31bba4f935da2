/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Numbers by kind: exact quantiles, as every length is at hand. */
#include "report/sort.h"
#include "report/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room for the numbers of all kinds, one after the other. */
struct piles {
	uint64_t *time, *spare;
	uint32_t *first; /* of each kind, and the end */
	uint32_t *used;
};

/* A body outside of workers has its own time without inner bodies. */
static int add_own_time(struct report *r, const struct lane *l)
{
	struct walk w;
	int rc;

	walk_start(&w, r, l);
	while ((rc = walk_next(&w)) > 0) {
		if (w.state == WALK_BODY)
			r->kind[r->slice[w.body].kind].total += w.end - w.begin;
	}
	walk_fini(&w);
	return rc;
}

static uint32_t hist_row(uint64_t size)
{
	uint32_t i = 0;

	for (size >>= 7; size && i < NR_HIST - 1; size >>= 1)
		i++;
	return i;
}

/* A loop has all of its blocks from its begin on. */
static bool has_waited(const struct report *r, const struct slice *s)
{
	return s->ready != NO_TIME && !r->kind[s->kind].is_loop;
}

static void count_bodies(struct report *r)
{
	const struct slice *s = r->slice, *end = s + r->nr_slices;
	uint32_t i;

	for (; s < end; s++) {
		r->kind[s->kind].nr++;
		r->kind[s->kind].nr_first += s->lane == 0;
		r->kind[s->kind].nr_waited += has_waited(r, s);
		if (has_waited(r, s))
			r->kind[s->kind].waited += s->begin - s->ready;
		r->kind[s->kind].nr_pooled +=
			r->lane[s->lane].kind == LKDF_EXECUTOR_BLOCKING;
		r->kind[s->kind].hist[hist_row(s->end - s->begin)]++;
	}
	for (i = 0; i < r->nr_ops; i++) {
		r->kind[r->op[i].kind].nr_ops++;
		r->kind[r->op[i].kind].op_total +=
			r->op[i].end - r->op[i].begin;
	}
}

static int open_piles(struct piles *p, const struct report *r)
{
	size_t nr = r->nr_slices > r->nr_ops ? r->nr_slices : r->nr_ops;

	p->time = malloc((nr + 1) * sizeof(*p->time));
	p->spare = malloc((nr + 1) * sizeof(*p->spare));
	p->first = calloc(r->nr_kinds + 1ull, sizeof(*p->first));
	p->used = calloc(r->nr_kinds + 1ull, sizeof(*p->used));
	return p->time && p->spare && p->first && p->used ? 0 : -ENOMEM;
}

static void close_piles(struct piles *p)
{
	free(p->time);
	free(p->spare);
	free(p->first);
	free(p->used);
}

enum pile {
	PILE_LENGTH,
	PILE_WAITED,
	PILE_OP
};

static uint64_t pile_size(const struct kind *k, enum pile pile)
{
	if (pile == PILE_OP)
		return k->nr_ops;
	return pile == PILE_LENGTH ? k->nr : k->nr_waited;
}

static void fill_piles(struct piles *p, const struct report *r, enum pile pile)
{
	const struct slice *s = r->slice, *end = s + r->nr_slices;
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++) {
		p->used[i] = 0;
		p->first[i + 1] =
			p->first[i] + (uint32_t)pile_size(&r->kind[i], pile);
	}
	for (i = 0; pile == PILE_OP && i < r->nr_ops; i++)
		p->time[p->first[r->op[i].kind] + p->used[r->op[i].kind]++] =
			r->op[i].end - r->op[i].begin;
	for (; pile != PILE_OP && s < end; s++) {
		if (pile == PILE_WAITED && !has_waited(r, s))
			continue;
		p->time[p->first[s->kind] + p->used[s->kind]++] =
			pile == PILE_LENGTH ? s->end - s->begin
					    : s->begin - s->ready;
	}
}

static void take_quantiles(struct piles *p, struct report *r, enum pile pile)
{
	uint64_t *time, half, most;
	struct kind *k;
	uint32_t i, nr;

	fill_piles(p, r, pile);
	for (i = 0; i < r->nr_kinds; i++) {
		k = &r->kind[i];
		time = p->time + p->first[i];
		nr = p->used[i];
		sort_times(time, p->spare, nr);
		half = quantile(time, nr, 0.5);
		most = quantile(time, nr, 0.99);
		if (pile == PILE_LENGTH) {
			k->p50 = half;
			k->p99 = most;
			k->max = nr ? time[nr - 1] : 0;
		} else if (pile == PILE_WAITED) {
			k->waited50 = half;
			k->waited99 = most;
		} else {
			k->op50 = half;
			k->op99 = most;
		}
	}
}

int report_kinds(struct report *r)
{
	struct piles p = { .time = NULL };
	uint32_t i;
	int rc = 0;

	for (i = 0; i < r->nr_lanes && !rc; i++) {
		if (r->lane[i].kind != LKDF_EXECUTOR_WORKER)
			rc = add_own_time(r, &r->lane[i]);
	}
	count_bodies(r);
	if (!rc)
		rc = open_piles(&p, r);
	if (!rc) {
		take_quantiles(&p, r, PILE_LENGTH);
		take_quantiles(&p, r, PILE_WAITED);
		take_quantiles(&p, r, PILE_OP);
	}
	close_piles(&p);
	return rc;
}
