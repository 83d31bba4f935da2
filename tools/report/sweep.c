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
	uint64_t late, io, starved;
	double blame, blame_starved;
};

struct worker {
	struct walk walk;
	struct clocks began; /* the span */
	struct clocks gap; /* the gap around it */
	struct samples samples;
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
			r->busy[bin] += s->nr_busy * (to - from) / width;
		if (s->nr_ready_now > r->ready_max[bin])
			r->ready_max[bin] = s->nr_ready_now;
		if (s->nr_ops_now > r->ops_max[bin])
			r->ops_max[bin] = s->nr_ops_now;
	}
}

static void advance(struct sweep *s, uint64_t t)
{
	struct report *r = s->r;
	uint64_t dt = t - s->at;
	double blame = 0;

	if (!dt)
		return;
	draw(s, t);
	if (s->nr_busy)
		blame = (double)dt * s->nr_idle / s->nr_busy;
	else
		r->blame_nobody += (double)dt * s->nr_idle;
	s->now.blame += blame;
	if (s->nr_ready_now) {
		s->now.late += dt;
	} else if (s->nr_ops_now) {
		s->now.io += dt;
	} else {
		s->now.starved += dt;
		s->now.blame_starved += blame;
		if (when_is(&s->when[WAITED]))
			r->starved_waited += dt * s->nr_idle;
		else if (t <= r->last_outside)
			r->starved_before_last += dt * s->nr_idle;
		if (when_is(&s->when[FULL]))
			r->starved_full += dt * s->nr_idle;
		if (when_is(&s->when[HELD]))
			r->starved_held += dt * s->nr_idle;
		if (when_is(&s->when[DEVICE]))
			r->starved_device += dt * s->nr_idle;
		if (when_is(&s->when[POOL]))
			r->starved_pool += dt * s->nr_idle;
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

/* The span is over: its time goes where it belongs. */
static void account(struct sweep *s, struct worker *w)
{
	uint64_t size = w->walk.end - w->walk.begin, *t = w->samples.now;
	const struct clocks *a = &w->began, *b = &s->now;
	struct kind *k;

	switch (w->walk.state) {
	case WALK_BODY:
		s->nr_busy--;
		t[TIME_BODY] += size;
		k = &s->r->kind[s->r->slice[w->walk.body].kind];
		k->total += size;
		k->blame += b->blame - a->blame;
		k->blame_starved += b->blame_starved - a->blame_starved;
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
		if (w->walk.end != w->walk.gap_end)
			break;
		note_gap(&s->r->starved, b->starved - w->gap.starved, w);
		note_gap(&s->r->late, b->late - w->gap.late, w);
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
	s->nr_busy += w->walk.state == WALK_BODY;
	if (w->walk.state != WALK_IDLE)
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
	for (uint32_t i = 0; i < s->r->nr_workers && !rc; i++) {
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

/* Only bodies on workers are waited for by workers. */
static int gather_ready(struct sweep *s)
{
	struct report *r = s->r;
	uint64_t *spare;
	uint32_t i;

	s->ready = malloc((r->nr_slices + 1ull) * sizeof(*s->ready));
	spare = malloc((r->nr_slices + 1ull) * sizeof(*spare));
	for (i = 0; s->ready && spare && i < r->nr_slices; i++) {
		if (r->lane[r->slice[i].lane].kind != LKDF_EXECUTOR_WORKER ||
		    r->slice[i].ready == NO_TIME)
			continue;
		s->ready[s->nr_ready++] = r->slice[i].ready;
		if (!r->slice[i].is_outside)
			continue;
		r->nr_outside++;
		if (r->slice[i].ready > r->last_outside)
			r->last_outside = r->slice[i].ready;
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

static int start_workers(struct sweep *s)
{
	struct report *r = s->r;
	uint32_t i, nr = 0;

	s->worker = calloc(r->nr_workers + 1ull, sizeof(*s->worker));
	s->heap = calloc(r->nr_workers + 1ull, sizeof(*s->heap));
	if (!s->worker || !s->heap)
		return -ENOMEM;
	for (i = 0; i < r->nr_lanes; i++) {
		if (r->lane[i].kind != LKDF_EXECUTOR_WORKER ||
		    !r->lane[i].has_started)
			continue;
		walk_start(&s->worker[nr].walk, r, &r->lane[i]);
		samples_start(&s->worker[nr++].samples, r, &r->lane[i]);
	}
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
	for (i = 0; s.worker && i < r->nr_workers; i++) {
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
