/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The longest chain: from the body that ended last back to who made it ready,
 * and so on. A task that a thread of the program submitted is continued at the
 * wait of such a thread that ended last before: what ended the wait is the step
 * before. Without waits in the recording the same is guessed where nothing ran
 * and nothing was ready when the task was submitted.
 */
#include "report/model.h"
#include "report/sort.h"

#include <errno.h>
#include <stdlib.h>

/* Each looks at all bodies. */
#define MAX_GUESSES 1000u

struct walker {
	struct report *r;
	uint32_t cap, nr_guesses;
	uint64_t *end, *spare; /* ends of bodies, sorted: of the guess */
	uint64_t *begin; /* when bodies became ready or began, sorted */
};

/*
 * No run is shorter than its longest chain, or than its work divided by its
 * workers, and no more is saved than half of all bodies.
 */
double report_half_gain(const struct report *r, const struct kind *k)
{
	uint64_t chain = r->chain.body - k->on_chain / 2, work = 0, least;
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++)
		work += r->kind[i].total;
	least = (work - k->total / 2) / (r->nr_workers ? r->nr_workers : 1);
	least = chain > least ? chain : least;
	least = r->wall > least ? r->wall - least : 0;
	return share_of(least < k->total / 2 ? least : k->total / 2, r->wall);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_op(const struct report *r, uint32_t i)
{
	return i >= r->nr_slices;
}

static uint64_t begin_of(const struct report *r, uint32_t i)
{
	return is_op(r, i) ? r->op[i - r->nr_slices].begin : r->slice[i].begin;
}

static uint64_t end_of(const struct report *r, uint32_t i)
{
	return is_op(r, i) ? r->op[i - r->nr_slices].end : r->slice[i].end;
}

static uint64_t ready_of(const struct report *r, uint32_t i)
{
	return is_op(r, i) ? r->op[i - r->nr_slices].begin : r->slice[i].ready;
}

static uint32_t by_of(const struct report *r, uint32_t i)
{
	return is_op(r, i) ? r->op[i - r->nr_slices].by : r->slice[i].by;
}

static int add_step(struct walker *w, uint32_t slice, uint64_t from,
		    uint64_t to)
{
	struct chain *c = &w->r->chain;
	uint32_t cap = w->cap * 2 + 64;
	struct step *p;

	if (c->nr_steps == w->cap) {
		p = realloc(c->step, cap * sizeof(*p));
		if (!p)
			return -ENOMEM;
		c->step = p;
		w->cap = cap;
	}
	c->step[c->nr_steps++] =
		(struct step){ slice, from, earlier(to, w->r->wall) };
	return 0;
}

static uint32_t last_slice(const struct report *r)
{
	uint32_t i, found = NO_SLICE;

	for (i = 0; i < r->nr_slices; i++) {
		if (found == NO_SLICE || r->slice[i].end > r->slice[found].end)
			found = i;
	}
	return found;
}

/* The wait that ended last before that time; NULL: there was none. */
static const struct wait *last_wait(const struct report *r, uint64_t time)
{
	size_t low = 0, high = r->nr_waits, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (r->wait[mid].end <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &r->wait[low - 1] : NULL;
}

/* How many of the sorted times are before that one. */
static size_t nr_before(const uint64_t *times, size_t nr, uint64_t time)
{
	size_t low = 0, high = nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (times[mid] < time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int prepare_guess(struct walker *w)
{
	struct report *r = w->r;
	uint32_t i;

	w->end = malloc((r->nr_slices + 1ull) * sizeof(*w->end));
	w->begin = malloc((r->nr_slices + 1ull) * sizeof(*w->begin));
	w->spare = malloc((r->nr_slices + 1ull) * sizeof(*w->spare));
	if (!w->end || !w->begin || !w->spare)
		return -ENOMEM;
	for (i = 0; i < r->nr_slices; i++) {
		w->end[i] = r->slice[i].end;
		w->begin[i] = r->slice[i].ready != NO_TIME ? r->slice[i].ready
							   : r->slice[i].begin;
	}
	sort_times(w->end, w->spare, r->nr_slices);
	sort_times(w->begin, w->spare, r->nr_slices);
	return 0;
}

static uint32_t slice_ending(const struct report *r, uint64_t time)
{
	uint32_t i;

	for (i = 0; i < r->nr_slices; i++) {
		if (r->slice[i].end == time)
			return i;
	}
	return NO_SLICE;
}

/* All that was ready before that time had ended by then: the last of it. */
static int guess(struct walker *w, uint64_t time, uint32_t *found)
{
	struct report *r = w->r;
	size_t nr;
	int rc = 0;

	*found = NO_SLICE;
	if (w->nr_guesses++ == MAX_GUESSES)
		return 0;
	if (!w->end)
		rc = prepare_guess(w);
	if (rc)
		return rc;
	nr = nr_before(w->begin, r->nr_slices, time);
	if (!nr || nr_before(w->end, r->nr_slices, time) < nr)
		return 0;
	*found = slice_ending(r, w->end[nr - 1]);
	r->chain.is_guessed |= *found != NO_SLICE;
	return 0;
}

/*
 * The step before slice i and when it handed over; NO_SLICE: there is none.
 * Each is before the one after it in time, so that no file makes a circle.
 */
static int step_back(struct walker *w, uint32_t i, uint32_t *before,
		     uint64_t *until)
{
	struct report *r = w->r;
	uint64_t ready = ready_of(r, i);
	const struct wait *wait = NULL;
	uint32_t by = by_of(r, i);
	int rc;

	*before = NO_SLICE;
	if (ready == NO_TIME)
		return 0;
	if (by == NO_SLICE && !is_op(r, i) && r->slice[i].is_outside) {
		wait = last_wait(r, ready);
		by = wait ? wait->by : NO_SLICE;
		if (!r->nr_waits) {
			rc = guess(w, ready, &by);
			if (rc)
				return rc;
		}
		if (by != NO_SLICE && end_of(r, by) <= ready) {
			r->chain.has_room |= wait && wait->fits;
			rc = add_step(w, NO_SLICE, end_of(r, by), ready);
			if (rc)
				return rc;
		} else {
			by = NO_SLICE;
		}
	}
	if (by == NO_SLICE || begin_of(r, by) >= begin_of(r, i))
		return 0;
	*before = by;
	*until = earlier(later(ready, begin_of(r, by)), end_of(r, by));
	return 0;
}

static void turn_round(struct chain *c)
{
	struct step s;
	uint32_t i;

	for (i = 0; i < c->nr_steps / 2; i++) {
		s = c->step[i];
		c->step[i] = c->step[c->nr_steps - 1 - i];
		c->step[c->nr_steps - 1 - i] = s;
	}
}

/* Other bodies ran within: it waited for its children. */
static bool has_inner(const struct report *r, const struct step *s)
{
	const struct slice *x;

	if (is_op(r, s->slice) || s->slice + 1 == r->nr_slices)
		return false;
	x = &r->slice[s->slice];
	return x[1].lane == x->lane && x[1].begin < s->to && x[1].end <= x->end;
}

static void add_up(struct report *r)
{
	struct chain *c = &r->chain;
	const struct step *s;
	uint32_t i;

	for (i = 0; i < c->nr_steps; i++) {
		s = &c->step[i];
		if (s->slice == NO_SLICE)
			continue;
		c->is_joined |= has_inner(r, s);
		c->nr_tasks++;
		c->body += s->to - s->from;
		if (is_op(r, s->slice))
			r->kind[r->op[s->slice - r->nr_slices].kind]
				.ops_on_chain += s->to - s->from;
		else
			r->kind[r->slice[s->slice].kind].on_chain +=
				s->to - s->from;
	}
	if (!c->nr_steps)
		return;
	c->start = c->step[0].from;
	c->wait = c->step[c->nr_steps - 1].to - c->start - c->body;
}

int report_chain(struct report *r)
{
	struct walker w = { .r = r };
	uint32_t i = last_slice(r), before;
	uint64_t until;
	int rc = 0;

	if (i == NO_SLICE || !(r->has.ready || r->has.edges))
		return 0;
	until = r->slice[i].end;
	while (i != NO_SLICE && !rc) {
		rc = add_step(&w, i, begin_of(r, i),
			      later(until, begin_of(r, i)));
		if (!rc)
			rc = step_back(&w, i, &before, &until);
		i = rc ? NO_SLICE : before;
	}
	turn_round(&r->chain);
	add_up(r);
	free(w.end);
	free(w.begin);
	free(w.spare);
	return rc;
}
