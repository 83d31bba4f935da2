/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Shown in the timeline from this share on, per cent. */
#define TAKEN_SHOWN 5

void samples_start(struct samples *s, const struct report *r,
		   const struct lane *l)
{
	*s = (struct samples){ .r = r, .lane = l };
	s->row = calloc(l->nr_samples + 1ull, sizeof(*s->row));
	s->faults = calloc(l->nr_samples + 1ull, sizeof(*s->faults));
	s->has_failed = !s->row || !s->faults;
	s->now = s->row ? s->row[0] : s->spare;
	/* Samples at or before the start end no span. */
	samples_span(s, 0);
}

void samples_span(struct samples *s, uint64_t end)
{
	const struct lane *l = s->lane;

	while (s->next < l->nr_samples && l->sample[s->next].at <= end)
		s->next++;
	if (s->row)
		s->now = s->row[s->next];
}

/* part x of / whole, without overflow. */
static uint64_t portion(uint64_t part, uint64_t of, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)part * of / whole) : 0;
}

static void move(uint64_t *row, enum time_class from, enum time_class to,
		 uint64_t size)
{
	if (size > row[from])
		size = row[from];
	row[from] -= size;
	row[to] += size;
}

/* How long the thread was parked between two times. */
static uint64_t parked(const struct lane *l, uint32_t *at, uint64_t from,
		       uint64_t to)
{
	uint64_t sum = 0, a, b;
	uint32_t i;

	while (*at < l->nr_parks && l->park[*at].end <= from)
		++*at;
	for (i = *at; i < l->nr_parks && l->park[i].begin < to; i++) {
		a = l->park[i].begin > from ? l->park[i].begin : from;
		b = l->park[i].end < to ? l->park[i].end : to;
		sum += b > a ? b - a : 0;
	}
	return sum;
}

static void take_cpu(uint64_t *row, uint64_t queued)
{
	uint64_t body = row[TIME_BODY], enter = row[TIME_ENTER];
	uint64_t all = body + enter + row[TIME_LATE], part;

	if (queued > all)
		queued = all;
	part = portion(queued, body, all);
	move(row, TIME_BODY, TIME_TAKEN, part);
	queued -= part;
	part = portion(queued, enter, enter + row[TIME_LATE]);
	move(row, TIME_ENTER, TIME_TAKEN, part);
	queued -= part;
	part = queued < row[TIME_LATE] ? queued : row[TIME_LATE];
	move(row, TIME_LATE, TIME_TAKEN, part);
	move(row, TIME_BODY, TIME_TAKEN, queued - part);
}

/* Between sample i - 1 and i. */
static void correct(struct samples *s, struct lane *l, uint32_t i, uint32_t *at)
{
	const struct cpu_sample *a = &l->sample[i - 1], *b = &l->sample[i];
	uint64_t to = b->at < s->r->wall ? b->at : s->r->wall;
	uint64_t whole = b->at - a->at, size, queued, slept, idle, futex;
	uint64_t *row = s->row[i];

	if (a->at >= to)
		return;
	size = to - a->at;
	queued = portion(b->queued_ns - a->queued_ns, size, whole);
	/* Time outside of the window counts as asleep, if anything does. */
	slept = b->cpu_ns - a->cpu_ns + b->queued_ns - a->queued_ns;
	slept = slept < whole ? whole - slept : 0;
	slept = slept > whole - size ? slept - (whole - size) : 0;
	idle = row[TIME_LATE] + row[TIME_IO] + row[TIME_STARVED] +
	       row[TIME_CALLER] + row[TIME_ENTER];
	if (s->r->has.park && !s->r->info.events_lost)
		idle = parked(l, at, a->at, to) + row[TIME_ENTER];
	/* The probe knows of so much for sure. */
	futex = portion(b->futex_ns - a->futex_ns, size, whole);
	slept = slept > idle ? slept - idle : 0;
	move(row, TIME_BODY, TIME_ASLEEP, slept > futex ? slept : futex);
	l->futex_ns += futex < row[TIME_ASLEEP] ? futex : row[TIME_ASLEEP];
	l->probe_ns += b->is_probe ? size : 0;
	take_cpu(row, queued);
	move(row, TIME_BODY, TIME_KERNEL,
	     kernel_part(l, a->at, to, row,
			 portion(b->cpu_ns - a->cpu_ns, size, whole),
			 &s->faults[i]));
	if (size && row[TIME_TAKEN] * 100 > size * TAKEN_SHOWN) {
		l->taken[l->nr_taken] = (struct span){ a->at, to };
		l->taken_share[l->nr_taken++] =
			(uint8_t)portion(row[TIME_TAKEN], 100, size);
	}
}

/* Bodies asleep, and in the kernel: each kind's part of its sample. */
static void blame_sleep(struct samples *s, struct lane *l)
{
	struct slice *x = s->r->slice + l->first, *end = x + l->nr_slices;
	uint64_t from, to, body, size, *row;
	struct kind *kind;
	uint32_t i = 0;

	for (; x < end; x++) {
		kind = &s->r->kind[x->kind];
		while (i < l->nr_samples && l->sample[i].at <= x->begin)
			i++;
		for (uint32_t k = i; k < l->nr_samples && k; k++) {
			from = l->sample[k - 1].at;
			to = l->sample[k].at;
			if (from >= x->end)
				break;
			row = s->row[k];
			body = row[TIME_BODY] + row[TIME_KERNEL] +
			       row[TIME_ASLEEP] + row[TIME_TAKEN];
			from = from > x->begin ? from : x->begin;
			to = to < x->end ? to : x->end;
			size = to - from;
			kind->asleep += portion(size, row[TIME_ASLEEP], body);
			kind->kernel += portion(size, row[TIME_KERNEL], body);
			kind->faults +=
				share_of(size, body) * (double)s->faults[k];
		}
	}
}

/*
 * The kernel counts a wait for a CPU when it ends, and a running thread at its
 * next tick: what is more than a sample's time came in those before it.
 */
static void settle(struct lane *l)
{
	struct cpu_sample *a, *b;
	uint64_t size, used, over;
	uint32_t i;

	for (i = l->nr_samples; i-- > 1;) {
		a = &l->sample[i - 1];
		b = &l->sample[i];
		size = b->at - a->at;
		used = b->cpu_ns - a->cpu_ns;
		if (used > size) {
			a->cpu_ns += used - size;
			used = size;
		}
		over = used + (b->queued_ns - a->queued_ns);
		if (over > size)
			a->queued_ns += over - size;
	}
}

int samples_finish(struct samples *s, struct lane *l)
{
	uint32_t i, c, at = 0;

	l->taken = calloc(l->nr_samples + 1ull, sizeof(*l->taken));
	l->taken_share = calloc(l->nr_samples + 1ull, 1);
	if (s->has_failed || !l->taken || !l->taken_share)
		return -ENOMEM;
	settle(l);
	kernel_spread(l);
	for (i = 1; i < l->nr_samples; i++)
		correct(s, l, i, &at);
	for (i = 0; i <= l->nr_samples; i++) {
		for (c = 0; c < NR_TIME_CLASSES; c++)
			l->time[c] += s->row[i][c];
	}
	blame_sleep(s, l);
	return 0;
}

void samples_fini(struct samples *s)
{
	free(s->row);
	free(s->faults);
	s->row = NULL;
	s->faults = NULL;
}
