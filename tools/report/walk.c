/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies within bodies lie on a stack. A recording that lies, with bodies that
 * overlap without one being within the other, is walked as if the outer one
 * had ended the inner one: spans stay disjoint whatever the file says.
 */
#include "report/walk.h"

#include <errno.h>
#include <stdlib.h>

void walk_start(struct walk *w, const struct report *r, const struct lane *l)
{
	*w = (struct walk){
		.r = r,
		.lane = l,
		.slice = l->first,
	};
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t slice_begin(const struct walk *w)
{
	if (w->slice == w->lane->first + w->lane->nr_slices)
		return NO_TIME;
	return w->r->slice[w->slice].begin;
}

static uint64_t enter_begin(const struct walk *w)
{
	if (w->enter == w->lane->nr_enters)
		return NO_TIME;
	return w->lane->enter[w->enter].begin;
}

static int push(struct walk *w, uint32_t slice)
{
	uint32_t cap = w->cap * 2 + 16, *p;

	if (w->nr_open == w->cap) {
		p = realloc(w->open, cap * sizeof(*p));
		if (!p)
			return -ENOMEM;
		w->open = p;
		w->cap = cap;
	}
	w->open[w->nr_open++] = slice;
	return 0;
}

/* Bodies and calls that are over by now go, those that begin come. */
static int settle(struct walk *w)
{
	const struct slice *s = w->r->slice;

	while (w->nr_open && s[w->open[w->nr_open - 1]].end <= w->at)
		w->nr_open--;
	while (slice_begin(w) <= w->at) {
		if (s[w->slice].end > w->at && push(w, w->slice))
			return -ENOMEM;
		w->slice++;
	}
	while (enter_begin(w) <= w->at && w->lane->enter[w->enter].end <= w->at)
		w->enter++;
	return 0;
}

/* Where the gap that begins here ends. */
static uint64_t gap_end(const struct walk *w)
{
	return earlier(earlier(slice_begin(w), enter_begin(w)), w->r->wall);
}

static void find_state(struct walk *w)
{
	const struct slice *s = w->r->slice;

	if (enter_begin(w) <= w->at) {
		w->state = WALK_ENTER;
		w->end = w->lane->enter[w->enter].end;
	} else if (w->nr_open) {
		w->state = WALK_BODY;
		w->body = w->open[w->nr_open - 1];
		w->end = earlier(s[w->body].end,
				 earlier(slice_begin(w), enter_begin(w)));
	} else {
		if (w->gap_end <= w->at) {
			w->gap_begin = w->at;
			w->gap_end = gap_end(w);
		}
		w->state = w->gap_end - w->gap_begin < GAP_NS ? WALK_SHORT
							      : WALK_IDLE;
		w->end = w->gap_end;
	}
}

int walk_next(struct walk *w)
{
	const struct lane *l = w->lane;

	w->from_slice = w->slice;
	if (w->at >= w->r->wall) {
		/* Bodies of no length at the very end. */
		w->slice = l->first + l->nr_slices;
		return 0;
	}
	if (settle(w))
		return -ENOMEM;
	w->begin = w->at;
	find_state(w);
	w->end = earlier(w->end, w->r->wall);
	while (w->sample < l->nr_samples && l->sample[w->sample].at <= w->at)
		w->sample++;
	if (w->sample < l->nr_samples)
		w->end = earlier(w->end, l->sample[w->sample].at);
	w->at = w->end;
	return 1;
}

void walk_fini(struct walk *w)
{
	free(w->open);
	w->open = NULL;
}
