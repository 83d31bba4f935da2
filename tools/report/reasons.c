/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/reasons.h"

#include <errno.h>
#include <lkdf/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many rows are told apart; the rest is not. */
#define MOST_ROWS 256u
/* It became ready so long before its maker's end: not by that. */
#define END_SLACK 1000

static bool is_made_within(const struct report *r, const struct slice *s)
{
	const struct slice *by;

	if (s->by >= r->nr_slices)
		return false;
	by = &r->slice[s->by];
	return s->ready != NO_TIME && s->ready + END_SLACK < by->end;
}

static enum reason of_edge(const struct slice *s)
{
	if (s->edge_mode & LKDF_EDGE_IS_AFTER)
		return REASON_EVENT;
	if (s->edge_mode & LKDF_EDGE_IS_PORT)
		return REASON_PORT;
	return s->edge_mode & LKDF_COMMUTE ? REASON_TOKEN : REASON_DATA;
}

/* Without a name of its own. */
static enum reason of_maker(const struct report *r, const struct slice *s)
{
	if (s->ready != NO_TIME && r->kind[s->kind].is_loop)
		return REASON_LOOP;
	if (s->is_outside)
		return REASON_PROGRAM;
	if (s->by != NO_SLICE && s->by >= r->nr_slices)
		return REASON_OPERATION;
	if (s->by == NO_SLICE)
		return REASON_UNKNOWN;
	return is_made_within(r, s) || !s->run ? REASON_BODY : REASON_TASK;
}

static struct reason_sum reason_of(const struct report *r,
				   const struct held **index, uint32_t i)
{
	const struct slice *s = &r->slice[i];
	const struct away *away = report_away(r, i);
	const struct held *held =
		r->nr_held && s->ready != NO_TIME ? held_of(r, index, s) : NULL;
	struct reason_sum sum = { .kind = s->kind };

	if (away) {
		sum.reason = REASON_AWAY;
		sum.name = away->name;
	} else if (held) {
		sum.reason = REASON_LIMIT;
		sum.name = held->limit;
	} else if (s->edge) {
		sum.reason = of_edge(s);
		sum.name = s->edge;
		sum.mode = s->edge_mode;
	} else {
		sum.reason = of_maker(r, s);
	}
	return sum;
}

static bool is_same(const struct reason_sum *a, const struct reason_sum *b)
{
	return a->kind == b->kind && a->reason == b->reason &&
	       a->name == b->name && a->mode == b->mode;
}

static void add_body(struct report *r, const struct reason_sum *one,
		     const struct slice *s, uint32_t *last)
{
	struct reason_sum *all = r->reason;
	uint32_t i = *last;

	if (i >= r->nr_reasons || !is_same(&all[i], one))
		for (i = 0; i < r->nr_reasons && !is_same(&all[i], one); i++)
			continue;
	if (i == MOST_ROWS)
		return;
	if (i == r->nr_reasons)
		all[r->nr_reasons++] = *one;
	all[i].nr++;
	all[i].total += s->end - s->begin;
	*last = i;
}

static int longest_first(const void *a, const void *b)
{
	const struct reason_sum *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (int)x->reason - (int)y->reason;
}

/* Copies of devices are no tasks. */
static bool is_task(const struct report *r, const struct slice *s)
{
	const struct lane *l = &r->lane[s->lane];

	return l->kind != LANE_DEVICE || l->sort != LKDF_LANE_COPIES;
}

int report_reasons(struct report *r)
{
	const struct held **index = held_index(r);
	struct reason_sum one;
	uint32_t i, last = 0;

	r->reason = calloc(MOST_ROWS + 1, sizeof(*r->reason));
	if (!index || !r->reason) {
		free(index);
		return -ENOMEM;
	}
	for (i = 0; i < r->nr_slices; i++) {
		if (!is_task(r, &r->slice[i]))
			continue;
		one = reason_of(r, index, i);
		add_body(r, &one, &r->slice[i], &last);
	}
	free(index);
	qsort(r->reason, r->nr_reasons, sizeof(*r->reason), longest_first);
	return 0;
}

static const char *mode_word(uint32_t mode)
{
	if (mode & LKDF_REDUCE)
		return "REDUCE";
	if ((mode & LKDF_RW) == LKDF_RW)
		return "RW";
	return mode & LKDF_WRITE ? "WRITE" : "READ";
}

const char *reason_id(enum reason reason)
{
	static const char *const ids[NR_REASONS] = {
		[REASON_UNKNOWN] = "unknown", [REASON_PROGRAM] = "program",
		[REASON_BODY] = "body",	      [REASON_LOOP] = "loop",
		[REASON_TASK] = "task",	      [REASON_PORT] = "port",
		[REASON_DATA] = "data",	      [REASON_TOKEN] = "token",
		[REASON_LIMIT] = "limit",     [REASON_EVENT] = "event",
		[REASON_AWAY] = "away",	      [REASON_OPERATION] = "operation",
	};

	return ids[reason];
}

const char *reason_text(const struct report *r, const struct reason_sum *s,
			char *to)
{
	static const char *const words[NR_REASONS] = {
		[REASON_UNKNOWN] = "not recorded",
		[REASON_PROGRAM] = "the program submitted it",
		[REASON_BODY] = "a body made it",
		[REASON_LOOP] = "a loop began",
		[REASON_TASK] = "a task before it in the graph",
		[REASON_PORT] = "",
		[REASON_DATA] = " on ",
		[REASON_TOKEN] = "COMMUTE on ",
		[REASON_LIMIT] = "tokens: ",
		[REASON_EVENT] = "events (.after)",
		[REASON_AWAY] = "to go on",
		[REASON_OPERATION] = "an operation",
	};
	const char *name = s->name ? r->info.name[s->name] : "";

	if (s->reason == REASON_AWAY && s->name)
		snprintf(to, 128, "%.100s", name);
	else if (s->reason == REASON_EVENT)
		snprintf(to, 128, "%s", words[s->reason]);
	else
		snprintf(to, 128, "%s%s%.100s",
			 s->reason == REASON_DATA ? mode_word(s->mode) : "",
			 words[s->reason], name);
	return to;
}
