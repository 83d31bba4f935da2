/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A walk over time, all workers together. Between two moments at which anything
 * changes every idle worker is idle for the same reason, so each reason needs
 * one clock only: a worker's part is what the clock shows when its gap ends,
 * less what it showed when the gap began. Blame is shared out likewise: a clock
 * that runs with idle / busy workers gives each body the idle time of others
 * that it was beside (as HPCToolkit's, Tallent and Mellor-Crummey 2009).
 */
#include "report/samples.h"
#include "report/sort.h"
#include "report/walk.h"
#include "report/when.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Readings of the clocks. */
struct clocks {
	uint64_t late, io, starved, caller;
	double blame, blame_starved;
};

struct worker {
	struct walk walk;
	struct clocks began; /* the span */
	struct clocks gap; /* the gap around it */
	struct samples samples;
	bool is_caller; /* a thread of the program, in blocks of loops */
};

struct sweep {
	struct report *r;
	struct clocks now;
	uint64_t at;
	struct worker *worker;
	uint32_t *heap, nr_heap; /* workers by the end of their span */
	uint64_t *ready, nr_ready, next_ready;
	uint64_t *op_end, next_op, next_op_end;
	struct edges when[NR_WHEN];
	uint32_t nr_ready_now, nr_ops_now, nr_busy, nr_idle;
	uint32_t nr_walkers, nr_callers; /* of these: in blocks, now */
	uint32_t nr_loops; /* blocks that run */
	double ops_area;
};

static bool is_before(const struct sweep *s, uint32_t a, uint32_t b)
{
	return s->worker[a].walk.end < s->worker[b].walk.end;
}

static void sift_down(struct sweep *s, uint32_t i)
{
	uint32_t child, *h = s->heap, swap;

	for (;; i = child) {
		child = 2 * i + 1;
		if (child >= s->nr_heap)
			return;
		if (child + 1 < s->nr_heap &&
		    is_before(s, h[child + 1], h[child]))
			child++;
		if (!is_before(s, h[child], h[i]))
			return;
		swap = h[i];
		h[i] = h[child];
		h[child] = swap;
	}
}

/* Workers that are idle while a thread of the program does their work. */
static uint32_t nr_replaced(const struct sweep *s)
{
	return s->nr_callers < s->nr_idle ? s->nr_callers : s->nr_idle;
}

static uint32_t nr_working(const struct sweep *s)
{
	return s->nr_busy + nr_replaced(s);
}

/* Adds what happened from s->at to t to the curves. */
static void draw(struct sweep *s, uint64_t t)
{
	struct report *r = s->r;
	double width = (double)r->wall / NR_BINS, from = (double)s->at, to;
	uint32_t bin = (uint32_t)(from / width);

	for (; bin < NR_BINS && from < (double)t; bin++, from = to) {
		to = width * (bin + 1);
		if (to > (double)t)
			to = (double)t;
		if (to > from)
			r->busy[bin] += nr_working(s) * (to - from) / width;
		if (s->nr_ready_now > r->ready_max[bin])
			r->ready_max[bin] = s->nr_ready_now;
		if (s->nr_ops_now > r->ops_max[bin])
			r->ops_max[bin] = s->nr_ops_now;
	}
}

/* Why workers starve until t. */
static enum starve why_starved(const struct sweep *s, uint64_t t)
{
	if (when_is(&s->when[HELD]))
		return STARVE_TOKENS;
	if (when_is(&s->when[FULL]))
		return STARVE_ROOM;
	if (s->nr_loops)
		return STARVE_LOOP;
	if (when_is(&s->when[POOL]))
		return STARVE_POOL;
	if (when_is(&s->when[DEVICE]))
		return STARVE_DEVICE;
	if (when_is(&s->when[WAITED]))
		return STARVE_TASKS;
	return t <= s->r->last_outside ? STARVE_PROGRAM : STARVE_END;
}

static void advance(struct sweep *s, uint64_t t)
{
	struct report *r = s->r;
	uint64_t dt = t - s->at, rest;
	uint32_t nr = s->nr_idle - nr_replaced(s);
	double blame = 0;

	if (!dt)
		return;
	draw(s, t);
	if (s->nr_busy + s->nr_callers)
		blame = (double)dt * nr / (s->nr_busy + s->nr_callers);
	else
		r->blame_nobody += (double)dt * nr;
	s->now.blame += blame;
	rest = s->nr_idle ? dt * nr / s->nr_idle : 0;
	s->now.caller += dt - rest;
	if (s->nr_ready_now) {
		s->now.late += rest;
	} else if (s->nr_ops_now) {
		s->now.io += rest;
	} else {
		s->now.starved += rest;
		s->now.blame_starved += blame;
		r->starved[why_starved(s, t)] += rest * s->nr_idle;
	}
	s->ops_area += (double)dt * s->nr_ops_now;
	s->at = t;
}

static void note_gap(struct gap *g, uint64_t size, const struct worker *w)
{
	if (size <= g->size)
		return;
	g->size = size;
	g->at = (struct place){ w->walk.gap_begin, w->walk.gap_end,
				(int32_t)w->walk.lane->executor };
}

/* A body is over, or another one begins within it. */
static void account_body(struct sweep *s, struct worker *w, uint64_t size)
{
	const struct clocks *a = &w->began, *b = &s->now;
	struct kind *k = &s->r->kind[s->r->slice[w->walk.body].kind];

	s->nr_loops -= k->is_loop;
	k->blame += b->blame - a->blame;
	k->blame_starved += b->blame_starved - a->blame_starved;
	if (w->is_caller) {
		s->nr_callers--;
		return;
	}
	s->nr_busy--;
	k->total += size;
	w->samples.now[TIME_BODY] += size;
}

/* The span is over: its time goes where it belongs. */
static void account(struct sweep *s, struct worker *w)
{
	uint64_t size = w->walk.end - w->walk.begin, *t = w->samples.now;
	const struct clocks *a = &w->began, *b = &s->now;

	if (w->is_caller && w->walk.state != WALK_BODY)
		return;
	switch (w->walk.state) {
	case WALK_BODY:
		account_body(s, w, size);
		break;
	case WALK_ENTER:
		t[TIME_ENTER] += size;
		break;
	case WALK_SHORT:
		t[TIME_RUNTIME] += size;
		break;
	case WALK_IDLE:
		s->nr_idle--;
		t[TIME_LATE] += b->late - a->late;
		t[TIME_IO] += b->io - a->io;
		t[TIME_STARVED] += b->starved - a->starved;
		t[TIME_CALLER] += b->caller - a->caller;
		if (w->walk.end != w->walk.gap_end)
			break;
		note_gap(&s->r->starved_gap, b->starved - w->gap.starved, w);
		note_gap(&s->r->late_gap, b->late - w->gap.late, w);
		break;
	}
}

/* Bodies that begin now are no longer ready. */
static void start_bodies(struct sweep *s, const struct walk *w)
{
	uint32_t i;

	for (i = w->from_slice; i < w->slice; i++)
		s->nr_ready_now -= s->r->slice[i].ready != NO_TIME;
}

static void begin_body(struct sweep *s, const struct worker *w)
{
	s->nr_loops += s->r->kind[s->r->slice[w->walk.body].kind].is_loop;
	if (w->is_caller)
		s->nr_callers++;
	else
		s->nr_busy++;
}

/* The next span of a worker: 1; 0: none; -ENOMEM. */
static int begin_span(struct sweep *s, struct worker *w)
{
	int rc = walk_next(&w->walk);

	if (rc < 0)
		return rc;
	start_bodies(s, &w->walk);
	if (!rc)
		return 0;
	w->began = s->now;
	if (w->walk.state == WALK_BODY)
		begin_body(s, w);
	if (w->walk.state != WALK_IDLE || w->is_caller)
		return 1;
	s->nr_idle++;
	if (w->walk.gap_begin == w->walk.begin)
		w->gap = s->now;
	return 1;
}

static int step_worker(struct sweep *s)
{
	struct worker *w = &s->worker[s->heap[0]];
	int rc;

	account(s, w);
	if (!w->is_caller)
		samples_span(&w->samples, w->walk.end);
	rc = begin_span(s, w);
	if (rc < 0)
		return rc;
	if (!rc)
		s->heap[0] = s->heap[--s->nr_heap];
	sift_down(s, 0);
	return 0;
}

static uint64_t earliest(const struct sweep *s)
{
	uint64_t t = s->worker[s->heap[0]].walk.end;

	if (s->next_ready < s->nr_ready && s->ready[s->next_ready] < t)
		t = s->ready[s->next_ready];
	if (s->next_op < s->r->nr_ops && s->r->op[s->next_op].begin < t)
		t = s->r->op[s->next_op].begin;
	if (s->next_op_end < s->r->nr_ops && s->op_end[s->next_op_end] < t)
		t = s->op_end[s->next_op_end];
	return when_next(s->when, t);
}

static void change_counts(struct sweep *s)
{
	struct report *r = s->r;

	for (; s->next_ready < s->nr_ready && s->ready[s->next_ready] <= s->at;
	     s->next_ready++)
		s->nr_ready_now++;
	for (; s->next_op < r->nr_ops && r->op[s->next_op].begin <= s->at;
	     s->next_op++)
		s->nr_ops_now++;
	for (; s->next_op_end < r->nr_ops && s->op_end[s->next_op_end] <= s->at;
	     s->next_op_end++)
		s->nr_ops_now--;
	when_pass(s->when, s->at);
	if (s->nr_ready_now > r->most_ready)
		r->most_ready = s->nr_ready_now;
	if (s->nr_ops_now > r->most_ops)
		r->most_ops = s->nr_ops_now;
}

static int sweep_all(struct sweep *s)
{
	int rc = 0;

	change_counts(s);
	for (uint32_t i = 0; i < s->nr_walkers && !rc; i++) {
		rc = begin_span(s, &s->worker[i]);
		if (rc == 1)
			s->heap[s->nr_heap++] = i;
		rc = rc < 0 ? rc : 0;
	}
	for (uint32_t i = s->nr_heap; i-- && !rc;)
		sift_down(s, i);
	while (s->nr_heap && !rc) {
		advance(s, earliest(s));
		change_counts(s);
		if (s->worker[s->heap[0]].walk.end == s->at)
			rc = step_worker(s);
	}
	return rc;
}

/* Bodies that workers run, or threads of the program instead of one. */
static bool is_walked(const struct lane *l)
{
	return l->kind == LKDF_EXECUTOR_WORKER || l->kind == LANE_THREAD;
}

static void note_outside(struct report *r, const struct slice *s)
{
	r->nr_outside++;
	r->nr_outside_loops += r->kind[s->kind].is_loop;
	if (s->ready > r->last_outside)
		r->last_outside = s->ready;
}

/* Only bodies of these are waited for by workers. */
static int gather_ready(struct sweep *s)
{
	struct report *r = s->r;
	uint64_t *spare;
	uint32_t i;

	s->ready = malloc((r->nr_slices + 1ull) * sizeof(*s->ready));
	spare = malloc((r->nr_slices + 1ull) * sizeof(*spare));
	for (i = 0; s->ready && spare && i < r->nr_slices; i++) {
		if (!is_walked(&r->lane[r->slice[i].lane]) ||
		    r->slice[i].ready == NO_TIME)
			continue;
		s->ready[s->nr_ready++] = r->slice[i].ready;
		if (r->slice[i].is_outside)
			note_outside(r, &r->slice[i]);
	}
	if (s->ready && spare)
		sort_times(s->ready, spare, s->nr_ready);
	free(spare);
	return s->ready && spare ? 0 : -ENOMEM;
}

static int gather_ops(struct sweep *s)
{
	struct report *r = s->r;
	uint64_t *spare = malloc((r->nr_ops + 1ull) * sizeof(*spare));
	uint32_t i;

	s->op_end = malloc((r->nr_ops + 1ull) * sizeof(*s->op_end));
	for (i = 0; spare && s->op_end && i < r->nr_ops; i++)
		s->op_end[i] = r->op[i].end;
	if (spare && s->op_end)
		sort_times(s->op_end, spare, r->nr_ops);
	free(spare);
	return spare && s->op_end ? 0 : -ENOMEM;
}

/* Workers come first. */
static void start_walkers(struct sweep *s, uint32_t kind)
{
	struct report *r = s->r;
	struct worker *w;
	uint32_t i;

	for (i = 0; i < r->nr_lanes; i++) {
		if (r->lane[i].kind != kind || !r->lane[i].has_started)
			continue;
		w = &s->worker[s->nr_walkers++];
		w->is_caller = kind != LKDF_EXECUTOR_WORKER;
		walk_start(&w->walk, r, &r->lane[i]);
		if (!w->is_caller)
			samples_start(&w->samples, r, &r->lane[i]);
	}
}

static int start_workers(struct sweep *s)
{
	s->worker = calloc(s->r->nr_lanes + 1ull, sizeof(*s->worker));
	s->heap = calloc(s->r->nr_lanes + 1ull, sizeof(*s->heap));
	if (!s->worker || !s->heap)
		return -ENOMEM;
	start_walkers(s, LKDF_EXECUTOR_WORKER);
	start_walkers(s, LANE_THREAD);
	return 0;
}

/* The sums of workers, after what their threads' samples tell. */
static int finish(struct sweep *s)
{
	struct report *r = s->r;
	struct lane *l;
	uint32_t i, c;
	int rc = 0;

	for (i = 0; i < r->nr_workers && !rc; i++) {
		l = &r->lane[s->worker[i].walk.lane->executor];
		rc = samples_finish(&s->worker[i].samples, l);
		r->probe_ns += l->probe_ns;
		r->futex_ns += l->futex_ns;
		for (c = 0; c < NR_TIME_CLASSES; c++)
			r->time[c] += l->time[c];
	}
	for (i = 0; i < r->nr_lanes; i++)
		r->nr_enters += r->lane[i].nr_enters;
	r->mean_ops = r->wall ? s->ops_area / (double)r->wall : 0;
	return rc;
}

int report_sweep(struct report *r)
{
	struct sweep s = { .r = r };
	uint32_t i;
	int rc = gather_ready(&s);

	if (!rc)
		rc = gather_ops(&s);
	if (!rc)
		rc = when_gather(r, s.when);
	if (!rc)
		rc = start_workers(&s);
	if (!rc)
		rc = sweep_all(&s);
	if (!rc)
		rc = finish(&s);
	for (i = 0; s.worker && i < s.nr_walkers; i++) {
		walk_fini(&s.worker[i].walk);
		samples_fini(&s.worker[i].samples);
	}
	free(s.worker);
	free(s.heap);
	free(s.ready);
	free(s.op_end);
	when_fini(s.when);
	return rc;
}
