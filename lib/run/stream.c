/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/stream.h"

#include "base/err.h"
#include "core/failure.h"
#include "core/runtime.h"
#include "data/data.h"
#include "graph/access.h"
#include "graph/port.h"
#include "run/frame.h"
#include "run/planned.h"
#include "run/resolve.h"
#include "run/sources.h"
#include "run/stream_solo.h"
#include "scope/deadline.h"
#include "trace/counters.h"

#include <errno.h>

/* ---- what can be one ---------------------------------------------------- */

static int refuse_data(const struct lkdf_graph *g, const struct access_use *u,
		       const char *why)
{
	const struct access_var *v = access_var(g->accesses, u->var);
	char name[NAME_SIZE], text[DATA_TEXT];

	return err(-EOPNOTSUPP,
		   "run: STREAM: graph %s: %s, which %s uses, %s; %s, a port, "
		   "or a channel",
		   g->name, data_text(v->data, v->part, text),
		   graph_task_name(g, graph_number(g, u->task), name,
				   sizeof(name)),
		   why,
		   v->is_once ? "use it without LKDF_DATA_KEEP"
			      : "use LKDF_DATA_ONCE");
}

/* Another task that uses the same bytes, or some of them. */
static bool is_shared(const struct access_table *w, const struct access_use *u)
{
	const struct access_use *all = w->uses.items;
	uint32_t i;

	for (i = 0; i < w->uses.nr; i++)
		if (all[i].task != u->task &&
		    access_whole(w, all[i].var) == access_whole(w, u->var))
			return true;
	return false;
}

/* Each wave has bytes of its own, or nobody writes them. */
static bool has_wave_bytes(const struct access_var *v)
{
	return v->is_once && !(v->data->flags & LKDF_DATA_KEEP);
}

/* Written data is one serial stage's own: that takes the waves in order. */
static int check_data(const struct lkdf_graph *g)
{
	const struct access_table *w = g->accesses;
	const struct access_use *u = w->uses.items;
	const struct rec *r;
	uint32_t i;

	for (i = 0; i < w->uses.nr; i++) {
		r = &g->recs[u[i].task];
		if (has_wave_bytes(access_var(w, u[i].var)))
			continue;
		if (data_follows(access_var(w, u[i].var)->data))
			return refuse_data(g, &u[i], "may move or be copied");
		if (r->kind->is_away)
			return refuse_data(g, &u[i], "would be on a device");
		if (!(u[i].flags & ACCESS_WRITES))
			continue;
		if (r->kind->width != 1 || r->flags & REC_MEMBER)
			return refuse_data(g, &u[i],
					   "has no order there: a stage is not "
					   "SHARED and not in a loop");
		if (is_shared(w, &u[i]))
			return refuse_data(g, &u[i], "is used by others, too");
	}
	return 0;
}

static int check_waves(const struct lkdf_graph *g, const struct lkdf_run *r)
{
	if (r->max_waves <= g->nr_frames)
		return 0;
	return err(-EINVAL,
		   "run: STREAM: graph %s: max_waves %u, but its inflight is "
		   "%u; take fewer waves, 0 for all, or create the graph with "
		   "a larger inflight",
		   g->name, r->max_waves, g->nr_frames);
}

static int refuse_stream(const struct lkdf_graph *g, const struct lkdf_run *r)
{
	const struct lkdf_kind *k;
	char name[NAME_SIZE];

	if (g->nr_frames < 2)
		return err(-EINVAL,
			   "run: STREAM: graph %s has inflight 1, so no waves "
			   "side by side; use times or until",
			   g->name);
	if (g->nr_sources != 1)
		return err(-EINVAL,
			   "run: STREAM: graph %s has %u sources, a stream has "
			   "one",
			   g->name, g->nr_sources);
	k = g->recs[g->sources[0]].kind;
	if (!(g->recs[g->sources[0]].flags & REC_TOKEN) || k->width != 1)
		return err(
			-EINVAL,
			"run: STREAM: source %s is SHARED, so its calls have "
			"no order",
			graph_task_name(g, graph_number(g, g->sources[0]), name,
					sizeof(name)));
	if (check_waves(g, r))
		return -EINVAL;
	return g->accesses && g->accesses->nr_claims ? check_data(g) : 0;
}

/*
 * The state of a frame's wave, as f->stream and f->is_dropped tell:
 *
 *	NONE -> LIVE -> LIVE, the next wave -> ... -> DROPPED -> NONE
 *
 * and LIVE -> NONE after the last wave, or where no wave was to begin.
 */
enum wave_state {
	WAVE_NONE,
	WAVE_LIVE,
	WAVE_DROPPED, /* the frame's last one */
};

CHECK_ONLY static const uint8_t legal[] = {
	[WAVE_NONE] = MOVE_TO(WAVE_LIVE),
	[WAVE_LIVE] =
		MOVE_TO(WAVE_LIVE) | MOVE_TO(WAVE_DROPPED) | MOVE_TO(WAVE_NONE),
	[WAVE_DROPPED] = MOVE_TO(WAVE_NONE),
};

CHECK_ONLY static enum wave_state wave_of(const struct frame *f)
{
	if (!f->stream)
		return WAVE_NONE;
	return f->is_dropped ? WAVE_DROPPED : WAVE_LIVE;
}

/* ---- start -------------------------------------------------------------- */

/* Under the graph's lock. */
static bool is_idle(const struct lkdf_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->nr_frames; i++)
		/* [frame.free] the last run's end; pairs with [graph.a]. */
		if (a_load(&g->frames[i].is_busy, acquire))
			return false;
	return true;
}

static void init_stream(struct lkdf_graph *g, struct lkdf_scope *scope,
			const struct lkdf_run *r, struct lkdf_event done)
{
	struct stream *s = g->stream;
	uint32_t nr;

	s->scope = scope;
	a_store(&s->times, r->times ? r->times : UINT64_MAX, relaxed);
	s->until = r->until;
	s->until_arg = r->u;
	s->goes_on = r->flags & LKDF_RUN_GO_ON;
	s->done = done;
	s->first_seq = a_load(&g->next_seq, relaxed);
	s->max_waves = r->max_waves < g->nr_frames ? r->max_waves : 0;
	nr = (uint32_t)min_u64(a_load(&s->times, relaxed), g->nr_frames);
	a_store(&s->has_ended, 0, relaxed);
	a_store(&s->is_cut, 0, relaxed);
	a_store(&s->room, (int32_t)s->max_waves, relaxed);
	a_store(&s->waiting, NULL, relaxed);
	a_store(&s->nr_running, nr, relaxed);
	a_store(&s->gather_at, STREAM_NEVER, relaxed);
	a_store(&s->error, 0, relaxed);
	a_store(&s->failure, NULL, relaxed);
	tally_clear(&s->tally);
	stream_solo_begin(s);
}

/* Before any of them starts: who ends the last wave looks at all. */
static uint32_t take_frames(struct lkdf_graph *g, const struct lkdf_run *r)
{
	uint32_t i, first = (uint32_t)(g->nr_runs % g->nr_frames);
	struct frame *f;

	for (i = 0; i < g->nr_frames; i++) {
		f = &g->frames[(first + i) % g->nr_frames];
		check_move(legal, wave_of(f), WAVE_LIVE);
		f->stream = g->stream;
		a_store(&f->wave, i, relaxed);
		f->is_dropped = f->waits = false;
		frame_init_wave(f, g->stream->scope, r,
				g->stream->first_seq + i);
	}
	return first;
}

/* Under the graph's lock. */
static void free_frames(struct lkdf_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->nr_frames; i++) {
		check_move(legal, wave_of(&g->frames[i]), WAVE_NONE);
		g->frames[i].stream = NULL;
		frame_set_free(&g->frames[i]);
	}
}

void stream_granted(struct executor *ex, struct frame *holder)
{
	struct lkdf_graph *g = holder->graph;
	struct worker *w = ex ? ex->worker : NULL;
	uint32_t first = holder->index, i, nr;

	/* Frames of a short stream stay where they are: it may be over. */
	nr = a_load(&g->stream->nr_running, relaxed);
	if (g->accesses)
		values_begin(holder);
	for (i = 1; i < nr && g->accesses; i++)
		values_begin_wave(&g->frames[(first + i) % g->nr_frames],
				  holder);
	for (i = 0; i < nr; i++)
		sources_start(g->rt, w, &g->frames[(first + i) % g->nr_frames]);
}

int stream_start(struct lkdf_graph *g, struct lkdf_scope *s,
		 const struct lkdf_run *r, struct lkdf_event *done)
{
	struct lkdf_event event = { 0 };
	int rc = refuse_stream(g, r);
	uint32_t first;

	check(g->is_sealed);
	if (!rc && g->accesses)
		rc = values_prepare(g);
	if (!rc)
		rc = frame_hold(g, r, NULL, &s, done ? &event : NULL);
	if (rc)
		return rc;
	pthread_mutex_lock(&g->lock);
	if (!is_idle(g)) {
		pthread_mutex_unlock(&g->lock);
		frame_let_go(g, NULL, s, done ? &event : NULL);
		return err(-EBUSY,
			   "run: STREAM: other runs of graph %s are under way",
			   g->name);
	}
	init_stream(g, s, r, event);
	first = take_frames(g, r);
	g->stream->holder = &g->frames[first];
	rc = g->accesses ? values_enter(NULL, g->stream->holder) : 1;
	if (rc < 0)
		free_frames(g);
	pthread_mutex_unlock(&g->lock);
	if (rc < 0) {
		frame_let_go(g, NULL, s, done ? &event : NULL);
		return rc;
	}
	if (done)
		*done = event;
	if (rc)
		stream_granted(NULL, g->stream->holder);
	sched_drain(&g->rt->sched);
	return 0;
}

/* ---- waves -------------------------------------------------------------- */

void stream_end(struct frame *f)
{
	check_move(legal, wave_of(f), WAVE_DROPPED);
	f->is_dropped = true;
	a_store(&f->stream->has_ended, 1, relaxed);
}

/* Does the frame's wave begin no more? Asked once a wave, in their order. */
static bool is_over(struct frame *f)
{
	struct stream *s = f->stream;

	if (frame_cancelled(f))
		a_store(&s->is_cut, 1, relaxed);
	if (a_load(&s->has_ended, relaxed) || a_load(&s->is_cut, relaxed) ||
	    (a_load(&f->wave, relaxed) && s->until && s->until(s->until_arg)))
		stream_end(f);
	return f->is_dropped;
}

/* False: whoever gives room back next goes on with the wave. */
static bool take_room(struct frame *f)
{
	struct stream *s = f->stream;

	a_store(&s->waiting, f, relaxed);
	/* [stream.room] our frame, and what the wave has done that gave the
	 * room; pairs with itself. */
	return a_sub(&s->room, 1, acq_rel) > 0;
}

/* A wave has ended. */
static void give_room(struct worker *w, struct stream *s)
{
	struct frame *f;

	/* [stream.room] all of the wave, or the frame that waits; pairs with
	 * itself. */
	if (a_add(&s->room, 1, acq_rel) >= 0)
		return;
	f = a_load(&s->waiting, relaxed);
	resolve_push_source(w, f, is_over(f));
}

/* In the order of waves: the source of one gets ready after that before. */
bool stream_takes(struct worker *w, struct frame *f, uint32_t index)
{
	check(frame_has(f, index));
	if (index != f->graph->sources[0])
		return false;
	if (f->stream->max_waves && !take_room(f))
		return true;
	if (!is_over(f))
		return false;
	resolve_push_source(w, f, true);
	return true;
}

/* The frame's own counts and error go up. */
static void collect_wave(struct frame *f)
{
	struct stream *s = f->stream;
	struct failure *failure = a_load(&f->failure, relaxed), *none = NULL;
	int rc = frame_report(f);
	int32_t zero = 0;

	tally_add(&s->tally, &f->tally);
	failure = a_load(&f->failure, relaxed);
	if (rc && a_cas(&s->error, &zero, rc, relaxed, relaxed) && failure &&
	    a_cas(&s->failure, &none, failure, relaxed, relaxed))
		failure = NULL;
	failure_put(failure, &f->graph->rt->log);
	a_store(&f->failure, NULL, relaxed);
	if (rc && !s->goes_on)
		a_store(&s->has_ended, 1, relaxed);
}

/*
 * All frames have stopped. Their last waves stand side by side, but for frames
 * that a short stream has left out.
 */
static uint64_t count_waves(const struct lkdf_graph *g)
{
	uint64_t nr = 0, times = a_load(&g->stream->times, relaxed), wave;
	uint32_t i;

	for (i = 0; i < g->nr_frames; i++) {
		wave = a_load(&g->frames[i].wave, relaxed);
		if (wave < times)
			nr = max_u64(nr, wave + 1);
	}
	return nr;
}

/* The last frame has stopped. */
static void finish_stream(struct worker *w, struct lkdf_graph *g)
{
	struct stream *s = g->stream;
	struct failure *failure = a_load(&s->failure, relaxed);
	uint64_t nr_waves = count_waves(g);
	int error = a_load(&s->error, relaxed);
	struct lkdf_scope *scope = s->scope;
	struct lkdf_event done = s->done;
	struct lkdf *rt = g->rt;

	stream_solo_end(w, s);
	if (!error && (a_load(&s->is_cut, relaxed) ||
		       a_load(&s->tally.nr[ENDED_CANCELLED], relaxed)))
		error = scope_cancelled(scope);
	if (error && !failure && deadline_hit(scope))
		failure = frame_tell_late(&g->frames[0]);
	if (failure)
		failure_count(failure, &s->tally);
	if (g->accesses) {
		values_end_waves(s->holder);
		values_leave(w->executor, s->holder, error, failure);
	}
	if (!error && !failure && done.slot)
		failure = frame_tell_counts(g, s->holder->seq, &s->tally);
	pthread_mutex_lock(&g->lock);
	a_add(&g->next_seq, nr_waves, relaxed);
	g->nr_runs += nr_waves;
	free_frames(g);
	pthread_mutex_unlock(&g->lock);
	counter_add(w->executor->counters, COUNTER_RUNS, nr_waves);
	frame_release(g, NULL, scope);
	/* The event last: who waits for it may close the runtime. */
	if (done.slot)
		event_finish(done, error, failure);
	failure_put(failure, &rt->log);
}

void stream_gather(struct frame *f)
{
	struct stream *s = f->stream;

	check(f->graph->nr_frames <= STREAM_TURN);
	check(a_load(&s->gather_at, relaxed) == STREAM_NEVER);
	/* Waves that come to see it begin after this one has ended. */
	a_store(&s->gather_at,
		a_load(&f->wave, relaxed) + 2ull * f->graph->nr_frames,
		relaxed);
}

/* The wave that the frame has by now. */
static void begin_wave(struct worker *w, struct frame *f)
{
	frame_renew(f, f->seq + f->graph->nr_frames);
	if (f->graph->accesses)
		values_begin_wave(f, f->stream->holder);
	sources_go_on(w, f);
}

/* All frames have stopped or wait. False: none waits. */
static bool begin_gathered(struct worker *w, struct lkdf_graph *g)
{
	struct stream *s = g->stream;
	uint64_t waiting = 0, left;
	uint32_t i;

	check(g->nr_frames <= 64);
	for (i = 0; i < g->nr_frames; i++) {
		if (!g->frames[i].waits)
			continue;
		g->frames[i].waits = false;
		waiting |= 1ull << i;
	}
	if (!waiting)
		return false;
	a_store(&s->gather_at, STREAM_NEVER, relaxed);
	a_store(&s->nr_running, (uint32_t)__builtin_popcountll(waiting),
		relaxed);
	stream_solo_gathered(w, s);
	/* A frame may be anywhere once it has begun. */
	for (left = waiting; left; left &= left - 1)
		begin_wave(w, &g->frames[__builtin_ctzll(left)]);
	return true;
}

static void end_or_begin(struct worker *w, struct frame *f)
{
	struct lkdf_graph *g = f->graph;
	struct stream *s = f->stream;
	uint64_t next = a_load(&f->wave, relaxed) + g->nr_frames;

	if (!f->is_dropped && next < a_load(&s->times, relaxed)) {
		a_store(&f->wave, next, relaxed);
		f->waits = next >= a_load(&s->gather_at, relaxed);
		if (likely(!f->waits)) {
			begin_wave(w, f);
			return;
		}
	}
	/* [stream.stop] what all waves did; pairs with itself. */
	if (a_sub(&s->nr_running, 1, acq_rel) == 1 && !begin_gathered(w, g))
		finish_stream(w, g);
}

void stream_wave_ended(struct worker *w, struct frame *f)
{
	struct lkdf_graph *g = f->graph;
	struct stream *s = f->stream;

	if (g->planned)
		planned_end(f);
	if (g->ports)
		port_end(f);
	if (unlikely(!frame_is_well(f)))
		collect_wave(f);
	if (g->accesses)
		values_end_wave(f, s->holder);
	if (s->max_waves)
		give_room(w, s);
	if (unlikely(s->solo.is_possible &&
		     (a_load(&f->wave, relaxed) + 1) % STREAM_TURN == 0))
		stream_judge(w, f);
	end_or_begin(w, f);
}
