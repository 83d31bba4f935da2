/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/frame.h"

#include "base/err.h"
#include "base/futex.h"
#include "core/runtime.h"
#include "graph/port.h"
#include "graph/tell.h"
#include "run/checked_run.h"
#include "run/planned.h"
#include "run/resolve.h"
#include "run/solo_run.h"
#include "run/sources.h"
#include "run/stream.h"
#include "scope/deadline.h"
#include "task/task.h"
#include "trace/counters.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

CHECK_ONLY static const uint8_t legal[] = {
	[FRAME_FREE] = MOVE_TO(FRAME_BUSY),
	[FRAME_BUSY] = MOVE_TO(FRAME_FREE),
};

/* The one place that moves it. */
static void frame_move(struct frame *f, enum frame_state to)
{
	check_move(legal, a_load(&f->is_busy, relaxed), to);
	if (to == FRAME_BUSY)
		/* [frame.busy] what seal has made; pairs with [frame.look]. */
		a_store(&f->is_busy, FRAME_BUSY, release);
	else
		/* [graph.a] the run's end; pairs with [graph.d],
		 * [frame.free]. */
		a_store(&f->is_busy, FRAME_FREE, seq_cst);
}

/*
 * Under the graph's lock: the next frame of the ring, and where runs pass no
 * tokens, so have no order, any. NULL: it is busy, or all are.
 */
static struct frame *find_free(struct lkdf_graph *g)
{
	uint32_t nr = g->has_tokens ? 1 : g->nr_frames, i;
	struct frame *f;

	mutex_assert_held(&g->lock);
	for (i = 0; i < nr; i++) {
		f = &g->frames[(g->nr_runs + i) % g->nr_frames];
		/* [graph.d] after nr_waiters; pairs with [graph.a].
		 * [frame.free] the last run's end; pairs with [graph.a]. */
		if (!a_load(&f->is_busy, seq_cst))
			return f;
	}
	return NULL;
}

/*
 * Under the graph's lock, which it gives up to sleep until a run has ended. The
 * frame's turn is the next until it is free, and then every waiter looks again:
 * whoever comes second may find the frame after it free.
 */
static void wait_for_frame(struct lkdf_graph *g)
{
	uint32_t ended;
	bool is_busy;

	mutex_assert_held(&g->lock);
	/* [graph.c] before we look at the frame; pairs with [graph.b]. */
	a_add(&g->nr_waiters, 1, seq_cst);
	ended = a_load(&g->nr_ended, seq_cst);
	is_busy = !find_free(g);
	pthread_mutex_unlock(&g->lock);
	if (is_busy)
		deadline_sleep(g->rt, &g->nr_ended, ended, -1);
	a_sub(&g->nr_waiters, 1, relaxed);
	pthread_mutex_lock(&g->lock);
}

/* Takes the graph's lock unless NULL: all are busy and we may not wait. */
static struct frame *take_frame(struct lkdf_graph *g, bool may_wait)
{
	struct frame *f;

	pthread_mutex_lock(&g->lock);
	for (;;) {
		f = find_free(g);
		if (f)
			return f;
		if (!may_wait)
			break;
		wait_for_frame(g);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

void frame_init_counts(struct frame *f, uint64_t seq)
{
	f->seq = seq;
	a_store(&f->first_err, 0, relaxed);
	a_store(&f->failure, NULL, relaxed);
	tally_clear(&f->tally);
	a_store(&f->is_late, 0, relaxed);
}

static void init_run(struct frame *f, struct lkdf_scope *s,
		     const struct lkdf_run *r, struct task *parent)
{
	f->scope = s;
	f->parent = parent;
	f->arg = r->arg;
	f->times = r->times ? r->times : r->until ? UINT64_MAX : 1;
	f->until = r->until;
	f->until_arg = r->u;
	f->repeats = f->times > 1;
	f->done = (struct lkdf_event){ 0 };
	frame_init_counts(f, a_add(&f->graph->next_seq, 1, relaxed));
}

void frame_init_wave(struct frame *f, struct lkdf_scope *s,
		     const struct lkdf_run *r, uint64_t seq)
{
	frame_move(f, FRAME_BUSY);
	f->scope = s;
	f->parent = NULL;
	f->arg = r->arg;
	f->repeats = false;
	f->done = (struct lkdf_event){ 0 };
	if (unlikely(f->graph->rt->check != NULL))
		checked_run_again(f);
	frame_init_counts(f, seq);
}

/*
 * s may be the run's own, see deadline.h. A child run lives in the scope of its
 * parent, which counts there for both.
 */
static void leave_scope(struct lkdf_scope *s, const struct task *parent)
{
	if (s->is_own && !(parent && s == parent->scope))
		s = deadline_leave(s);
	if (!parent)
		scope_leave(s, 1);
}

/* Takes all that the run holds until its end; undone by frame_let_go(). */
int frame_hold(struct lkdf_graph *g, const struct lkdf_run *r,
	       const struct task *parent, struct lkdf_scope **s,
	       struct lkdf_event *done)
{
	bool may_wait = scope_may_wait() && !(r->flags & LKDF_RUN_NOWAIT);
	int rc = parent ? scope_refuse(*s) : scope_enter(*s, 1, may_wait);

	check(g->is_sealed);
	if (rc)
		return rc;
	if (unlikely(g->rt->check != NULL))
		checked_stream_begins(g);
	if (r->deadline_ns)
		rc = deadline_create(*s, r->deadline_ns, s);
	if (!rc && done)
		rc = event_create(g->rt, runtime_executor(g->rt), 1, 2, done);
	if (rc)
		leave_scope(*s, parent);
	else
		graph_get(g);
	return rc;
}

void frame_release(struct lkdf_graph *g, const struct task *parent,
		   struct lkdf_scope *s)
{
	graph_put(g);
	leave_scope(s, parent);
}

void frame_let_go(struct lkdf_graph *g, const struct task *parent,
		  struct lkdf_scope *s, struct lkdf_event *done)
{
	if (done) {
		event_put(*done);
		event_put(*done);
	}
	frame_release(g, parent, s);
}

static uint32_t slot_of(const struct lkdf_graph *g, uint32_t n)
{
	return g->frames[n].slot;
}

void frame_tell_graph(struct frame *f)
{
	graph_tell(f->graph, slot_of);
}

static void note_begin(struct frame *f, struct executor *ex)
{
	if (unlikely(trace_is_recording(&f->graph->rt->trace)))
		graph_tell(f->graph, slot_of);
	if (ex)
		trace_event(ex->ring, EVENT_RUN_BEGIN, f->slot, f->seq);
	else
		trace_event_outside(trace_outside(&f->graph->rt->trace),
				    EVENT_RUN_BEGIN, f->slot, f->seq);
}

/* w is NULL where an empty graph ends at once. */
static void note_end(struct frame *f, struct worker *w, int error)
{
	struct trace_ring *outside = trace_outside(&f->graph->rt->trace);

	if (w) {
		counter_add(w->executor->counters, COUNTER_RUNS, 1);
		trace_event(w->executor->ring, EVENT_RUN_END, f->slot,
			    (uint64_t)-error);
	} else {
		trace_count_outside(outside, COUNTER_RUNS, 1);
		trace_event_outside(outside, EVENT_RUN_END, f->slot,
				    (uint64_t)-error);
	}
}

void frame_set_free(struct frame *f)
{
	struct lkdf_graph *g = f->graph;

	check(a_load(&f->is_busy, relaxed) == FRAME_BUSY);
	frame_move(f, FRAME_FREE);
	/* [graph.b] after is_busy; pairs with [graph.c]. */
	if (a_load(&g->nr_waiters, seq_cst)) {
		a_add(&g->nr_ended, 1, seq_cst);
		futex_wake(&g->nr_ended, INT_MAX);
	}
}

/*
 * Under the graph's lock, so that runs take their places in the order in which
 * they take frames. 1: it may start; 0: it starts by itself; or why not.
 */
static int take_place(struct frame *f, struct executor *ex)
{
	int rc;

	mutex_assert_held(&f->graph->lock);
	frame_move(f, FRAME_BUSY);
	note_begin(f, ex);
	/* No executor: what this lets in does not run under our lock. */
	rc = f->graph->accesses ? values_enter(NULL, f) : 1;
	if (rc < 0) {
		note_end(f, NULL, rc);
		frame_set_free(f);
	}
	return rc;
}

static void begin_run(struct frame *f, struct executor *ex)
{
	check(frame_sane(f));
	if (f->graph->accesses)
		values_begin(f);
	if (f->graph->nr_tasks)
		sources_start(f->graph->rt, NULL, f);
	else
		frame_end(ex ? ex->worker : NULL, f);
}

int frame_start(struct lkdf_graph *g, struct lkdf_scope *s,
		const struct lkdf_run *r, struct task *parent,
		struct lkdf_event *done)
{
	struct executor *ex = runtime_executor(g->rt);
	bool may_wait = !ex && !(r->flags & LKDF_RUN_NOWAIT);
	struct lkdf_event event;
	struct frame *f;
	int rc;

	check(g->is_sealed);
	rc = g->accesses ? values_prepare(g) : 0;
	if (!rc)
		rc = frame_hold(g, r, parent, &s, done ? &event : NULL);
	if (rc)
		return rc;
	f = take_frame(g, may_wait);
	if (!f) {
		frame_let_go(g, parent, s, done ? &event : NULL);
		return err(-EAGAIN, "graph %s: %u runs are under way", g->name,
			   g->nr_frames);
	}
	init_run(f, s, r, parent);
	if (done)
		f->done = event;
	if (unlikely(g->rt->check != NULL))
		checked_run_begins(f);
	rc = take_place(f, ex);
	g->nr_runs += rc >= 0;
	pthread_mutex_unlock(&g->lock);
	if (rc < 0) {
		frame_let_go(g, parent, s, done ? &event : NULL);
		return rc;
	}
	if (done)
		*done = event;
	if (rc)
		begin_run(f, ex);
	sched_drain(&g->rt->sched);
	return 0;
}

/* After the run has let go of it the frame may be anybody's. */
static void free_frame(struct worker *w, struct frame *f, int error)
{
	struct failure *failure = a_load(&f->failure, relaxed);
	struct lkdf_graph *g = f->graph;
	struct task *parent = f->parent;
	struct lkdf_scope *s = f->scope;
	struct lkdf_event done = f->done;
	struct lkdf *rt = g->rt;

	if (error && !failure && deadline_hit(s))
		failure = frame_tell_late(f);

	if (g->accesses)
		values_leave(w ? w->executor : NULL, f, error, failure);
	if (g->has_tokens && f->repeats)
		resolve_pass_tokens(w, f);
	if (!error && !failure && done.slot)
		failure = frame_tell_counts(g, f->seq, &f->tally);
	a_store(&f->failure, NULL, relaxed);
	note_end(f, w, error);
	frame_set_free(f);
	frame_release(g, parent, s);
	/* The event last: who waits for it may close the runtime. */
	if (done.slot)
		event_finish(done, error, failure);
	if (parent)
		task_child_ended(runtime_executor(rt), parent, error, failure);
	failure_put(failure, &rt->log);
}

static bool is_enough(struct frame *f)
{
	if (unlikely(f->graph->rt->check != NULL))
		return checked_run_until(f, f->until, f->until_arg);
	return f->until(f->until_arg);
}

/* Is there another repetition? A cancelled one is an error. */
static bool goes_on(struct frame *f, int *error)
{
	if (*error || --f->times == 0)
		return false;
	if (f->until && is_enough(f))
		return false;
	*error = frame_cancelled(f);
	return !*error;
}

/* Between two repetitions. True: the next one may start now. */
static bool pass_on(struct worker *w, struct frame *f)
{
	struct executor *ex = w ? w->executor : NULL;

	if (!f->graph->accesses)
		return true;
	/* Tasks of the next call may wait for our tokens, with the data. */
	if (!values_are_wanted(f) || f->graph->has_tokens) {
		values_count(f);
		return true;
	}
	values_leave(ex, f, 0, NULL);
	if (values_enter(ex, f) == 0)
		return false;
	values_begin(f);
	return true;
}

void frame_end(struct worker *w, struct frame *f)
{
	int rc;

	check(!a_load(&f->remaining, relaxed));
	check(frame_sane(f));
	if (unlikely(f->stream)) {
		stream_wave_ended(w, f);
		return;
	}
	if (f->graph->solo.is_possible)
		solo_run_end(w, f);
	do {
		if (f->graph->planned)
			planned_end(f);
		if (f->graph->ports)
			port_end(f);
		rc = frame_report(f);
		if (!goes_on(f, &rc)) {
			free_frame(w, f, rc);
			return;
		}
		f->seq = a_add(&f->graph->next_seq, 1, relaxed);
		if (unlikely(f->graph->rt->check != NULL))
			checked_run_again(f);
		/* An empty graph has nobody to come back here. */
	} while (!f->graph->nr_tasks);
	if (pass_on(w, f))
		sources_start(f->graph->rt, w, f);
}

static void set_arg(struct lkdf_graph *g, uint32_t task, const void *arg)
{
	uint32_t index = graph_index(g, task), i;
	struct rec *r = &g->recs[index];
	struct lkdf_kind *k = r->kind;

	check(graph_has(g, task));
	if (k->drop)
		k->drop(r->arg);
	if (k->arg_size) {
		memcpy(r->arg, arg, k->arg_size);
		return;
	}
	for (i = 0; i < g->nr_frames; i++)
		g->frames[i].recs[index].arg = (void *)(uintptr_t)arg;
}

int frame_set_arg(struct lkdf_graph *g, uint32_t task, const void *arg)
{
	int rc = 0;
	uint32_t i;

	check(g->is_sealed);
	pthread_mutex_lock(&g->lock);
	/* [frame.free] the last run's end; pairs with [graph.a]. */
	for (i = 0; i < g->nr_frames && !rc; i++)
		if (a_load(&g->frames[i].is_busy, acquire))
			rc = -EBUSY;
	if (!rc)
		set_arg(g, task, arg);
	pthread_mutex_unlock(&g->lock);
	return rc ? err(rc, "set: graph %s: runs are under way", g->name) : 0;
}
