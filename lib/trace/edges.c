/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/edges.h"

#include "trace/carry.h"
#include "trace/file.h"
#include "trace/trace.h"

#include <stdlib.h>

/* How long a worker may look for work and show nothing, beside its spinning. */
#define SLACK_NS 20000

enum {
	EDGE_NONE, /* it has shown something, or is no worker */
	EDGE_ASLEEP,
	EDGE_OPEN, /* it is in a body, or about to show something */
};

/* Does a worker sleep, by its newest event that says so; *since: from when. */
static bool is_asleep(const struct trace_ring *r, uint64_t *since)
{
	uint64_t head = a_load(&r->event_head, relaxed), i;
	const _Atomic(uint64_t) *word;
	uint32_t event;

	*since = 0;
	for (i = 1; i <= head && i <= r->event_mask; i++) {
		word = r->events + ((head - i) & r->event_mask) * 3;
		event = (uint32_t)a_load(&word[1], relaxed);
		if (event != EVENT_PARK && event != EVENT_UNPARK)
			continue;
		*since = a_load(&word[0], relaxed);
		return event == EVENT_PARK;
	}
	return false;
}

static bool is_worker(const struct trace_ring *r)
{
	return a_load(&r->start_seq, relaxed) &&
	       a_load(&r->kind, relaxed) == LKDF_EXECUTOR_WORKER;
}

bool edges_init(struct edges *e, struct trace *t, struct trace_file *f,
		uint64_t start_ticks)
{
	const struct trace_kind ours = { .flags = LKDF_KIND_IS_OURS };
	struct trace_ring *r;
	uint64_t since;
	int i;

	*e = (struct edges){ .t = t, .file = f, .start_ticks = start_ticks };
	e->state = calloc((size_t)t->nr_executors + 1, 1);
	if (!e->state)
		return false;
	e->before = trace_kind(t, "(begun before)", &ours);
	e->running = trace_kind(t, "(not ended)", &ours);
	for (i = 0; i < t->nr_executors; i++) {
		r = &t->rings[i];
		if (is_worker(r))
			e->state[i] =
				is_asleep(r, &since) ? EDGE_ASLEEP : EDGE_OPEN;
	}
	return true;
}

void edges_fini(struct edges *e)
{
	free(e->state);
}

static void tell_sleep(struct edges *e, int i)
{
	chunk_begin(e->file, LKDF_CHUNK_EVENTS);
	chunk_number(e->file, (uint64_t)i);
	chunk_number(e->file, e->start_ticks);
	chunk_signed(e->file, 0);
	chunk_number(e->file, EVENT_PARK);
	chunk_number(e->file, 0);
	chunk_number(e->file, 0);
	chunk_end(e->file);
	e->t->rings[i].nr_events++;
}

static uint64_t ticks_of(const struct trace *t, uint64_t ns)
{
	return ns * t->ticks_per_1024ns / 1024;
}

/* A shorter wait may be the search for work. */
static void tell_body(struct edges *e, int i, struct lkdf_stats_slice *s)
{
	const struct carry c = {
		.file = e->file,
		.executor = (uint32_t)i,
		.nr_executors = (uint32_t)e->t->nr_executors,
		.since = e->start_ticks,
		.nr_names = MAX_NAMES,
	};

	if (s->end <=
	    s->begin + ticks_of(e->t, (uint64_t)e->t->spin_ns + SLACK_NS))
		return;
	s->task = NO_SLICE_TASK;
	e->t->rings[i].nr_slices += carry_slices(&c, s, 0, 1);
}

/* When the worker first shows something that is not in the file yet; 0. */
static uint64_t first_sign(struct trace_ring *r)
{
	/* [trace.first] the slot; pairs with [trace.slice]. */
	uint64_t head = a_load(&r->slice_head, acquire), i, at = 0;
	uint64_t tail = a_load(&r->slice_tail, relaxed);

	if (tail != head)
		at = a_load(&r->slices, relaxed)[tail & (SLICE_RECORDS - 1)]
			     .begin;
	/* [trace.sign] the words; pairs with [trace.head]. */
	head = a_load(&r->event_head, acquire);
	for (i = r->event_tail; i != head; i++) {
		_Atomic(uint64_t) *word = r->events + (i & r->event_mask) * 3;

		if ((uint32_t)a_load(&word[1], relaxed) != EVENT_PARK)
			continue;
		if (!at || a_load(&word[0], relaxed) < at)
			at = a_load(&word[0], relaxed);
		break;
	}
	return at;
}

void edges_look(struct edges *e, int i)
{
	struct lkdf_stats_slice s = { .begin = e->start_ticks,
				      .name = e->before };

	if (!e->state || !e->state[i])
		return;
	if (e->state[i] == EDGE_ASLEEP) {
		tell_sleep(e, i);
	} else {
		s.end = first_sign(&e->t->rings[i]);
		if (!s.end)
			return;
		tell_body(e, i, &s);
	}
	e->state[i] = EDGE_NONE;
}

/* After the last one that is in the file, and its last sleep. */
static void set_running(struct edges *e, const struct trace_ring *r,
			uint64_t awake_since, struct lkdf_stats_slice *s)
{
	uint64_t last = a_load(&r->slice_tail, relaxed) - 1;
	const struct lkdf_stats_slice *before =
		&a_load(&r->slices, relaxed)[last & (SLICE_RECORDS - 1)];

	s->name = e->running;
	s->begin = max_u64(awake_since, e->start_ticks);
	if (!r->nr_slices)
		return;
	s->begin = max_u64(s->begin, before->end);
	/* It has begun right after that one. */
	if (!(before->number >> 48))
		s->number = before->number + 1;
}

void edges_end(struct edges *e, int i, uint64_t ticks)
{
	struct lkdf_stats_slice s = { .begin = e->start_ticks,
				      .end = ticks,
				      .name = e->before };
	struct trace_ring *r;
	uint64_t since;

	if (!e->state)
		return;
	r = &e->t->rings[i];
	if (!is_worker(r) || is_asleep(r, &since))
		return;
	if (e->state[i] != EDGE_OPEN)
		set_running(e, r, since, &s);
	if (s.end > s.begin)
		tell_body(e, i, &s);
}
