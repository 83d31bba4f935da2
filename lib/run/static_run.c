/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/static_run.h"

#include "base/membarrier.h"
#include "core/completion.h"
#include "core/runtime.h"
#include "core/signals.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/part/part.h"
#include "mem/heap.h"
#include "run/enter.h"
#include "run/mode.h"
#include "run/resolve.h"
#include "run/static_leave.h"
#include "run/transient.h"
#include "sched/current.h"
#include "sched/tick.h"
#include "task/kind.h"
#include "task/noted.h"
#include "trace/counters.h"

#include <sched.h>

/* Rounds of who waits for a thief, until it lets others have the CPU. */
#define SPINS 1000

/* ---- a run begins ------------------------------------------------------- */

static bool fill_cells(const struct executor *ex, struct frame *f)
{
	const struct static_order *o = static_order_in(f);
	struct static_frame *s = &o->frame[f->index];
	uint32_t i;

	if (unlikely(!s->is_full || s->node != ex->node))
		static_order_fill(o, f->values.heap, s, ex->node);
	for (i = o->nr_blocks; i < o->nr_cells; i++)
		a_store(&s->bytes[i],
			f->values.var[o->var[i - o->nr_blocks]].bytes, relaxed);
	return s->is_full;
}

/* Will this worker have the run for itself? */
static bool is_alone(const struct worker *w, const struct frame *f)
{
	return worker_is_alone(w) ||
	       (f->solo.is_solo && f->graph->rt->has_membarrier);
}

/* May it have runs to come for itself? */
static bool may_be_alone(const struct worker *w, const struct frame *f)
{
	return worker_is_alone(w) ||
	       (f->graph->solo.is_possible && f->graph->rt->has_membarrier);
}

static bool begin_in_order(struct worker *w, struct frame *f)
{
	struct static_state *s = &f->graph->order;
	uint32_t remaining;

	if (!s->is_possible)
		return false;
	/* The first run may be the only one, and the third one is warm. */
	if (unlikely(!a_load(&s->is_tried, relaxed)) && f->seq &&
	    may_be_alone(w, f))
		static_order_make(f->graph, w->executor->node);
	if (!is_alone(w, f))
		return false;
	remaining = a_load(&s->remaining, relaxed);
	if (remaining) {
		a_store(&s->remaining, remaining - 1, relaxed);
		return false;
	}
	if (!static_order_see(f->graph) || burst_hindered(f) ||
	    !fill_cells(w->executor, f))
		return false;
	if (worker_is_alone(w))
		return true;
	f->guard.is_on = true;
	a_store(&f->guard.state, GUARD_WAITS, relaxed);
	/* The link, too: the run does not end before it is back. */
	a_add(&f->remaining, 1, relaxed);
	return true;
}

/* ---- it leaves the order ------------------------------------------------ */

/* Somebody has taken the run. The step in doubt; in a body it is that one. */
static uint32_t wait_until_left(struct frame *f)
{
	uint32_t spins = 0;

	while (!guard_is_left(&f->guard)) {
		if (++spins % SPINS)
			a_pause();
		else
			sched_yield();
	}
	return f->guard.left_at;
}

/*
 * The owner has done nr steps; the body of the next one is under way or not.
 * False: somebody has taken the run, and has left the order for us.
 */
static bool leave_order(struct worker *w, struct frame *f, uint32_t nr,
			bool is_in_body)
{
	if (f->guard.is_on) {
		if (!guard_stop(&f->guard, GUARD_ENDED))
			return false;
	} else {
		f->next_source = f->graph->nr_sources;
	}
	static_leave(w, f, nr, is_in_body);
	return true;
}

void static_run_leave_ctx(struct lkdf_ctx *c)
{
	const struct static_order *o = static_order_in(c->frame);
	uint32_t step = c->frame->next_source;

	/* It is among these steps, so it is near. */
	while (o->step[step].index != c->index)
		step++;
	c->in_order = false;
	if (!leave_order(c->ex->worker, c->frame, step, true))
		wait_until_left(c->frame);
}

/*
 * The body of a step wants more than to be called. In any case the run leaves
 * its order.
 */
static void end_step(struct burst *b, uint32_t step, int rc)
{
	struct frame *f = b->f;
	uint32_t index = b->ctx.index;

	if (b->ctx.in_order && !leave_order(b->w, f, step, true))
		wait_until_left(f);
	if (burst_after(b, index, rc)) {
		burst_count(b, 1);
		if (f->graph->accesses)
			transient_used(f, index);
		resolve_task(b->w, f, index, VERDICT_LIVE);
		b->nr_resolved++;
	}
	/* Somebody else may resolve it and end the run. */
	burst_leave_frame(b);
}

/* Somebody has taken the run; at: the step whose body we did not call. */
static void give_away(struct burst *b, uint32_t at)
{
	const struct static_order *o = static_order_in(b->f);
	uint32_t left_at = wait_until_left(b->f);
	uint32_t index = o->step[left_at].index;

	if (left_at == at) {
		burst_run_one(b, index, false);
	} else {
		/* It was called, and is counted. */
		check(left_at == at - 1);
		if (b->graph->accesses)
			transient_used(b->f, index);
		resolve_task(b->w, b->f, index, VERDICT_LIVE);
	}
	burst_leave_frame(b);
}

/* We have the link of a run that another worker has. True: it is ours now. */
static bool take_run(struct worker *w, struct frame *f)
{
	struct guard *g = &f->guard;
	uint32_t step;

	if (!guard_take(g))
		return false;
	membarrier_all();
	step = guard_look(g);
	static_leave(w, f, step, true);
	guard_leave(g, step);
	return true;
}

/* ---- it goes on --------------------------------------------------------- */

/*
 * Before a body, where something is out of the common: does the run leave its
 * order? Somebody who asks for work is put off until there is some to share.
 */
static __attribute__((noinline)) bool must_leave(struct burst *b, uint32_t slow,
						 uint32_t attn, bool is_taken)
{
	struct worker *w = b->w;

	if (attn & ATTN_CLOCK)
		attn = worker_look(w, true);
	if (attn == ATTN_STEAL && holdoff_is_alone(w) &&
	    holdoff_answers(w, true))
		attn = 0;
	/* Where a token is wanted the run may have to wait for it. */
	slow &= ~SLOW_BUT_SHORT | SLOW_GATED;
	return attn | slow | b->hindered | is_taken;
}

/*
 * From a step on, and where it ended; NO_TASK: the run has left its order, all
 * is done. is_noted: kinds are noted or counted, and all have kind_notes();
 * what is noted stays until the steps have ended.
 */
static inline __attribute__((always_inline)) uint32_t
run_steps(struct burst *b, uint32_t at, uint32_t end, bool is_guarded,
	  bool is_noted)
{
	_Atomic(uint32_t) *noted = &b->ctx.ex->noted;
	const uint32_t outer = is_noted ? a_load(noted, relaxed) : 0;
	const uint32_t notes = is_noted ? kind_notes(b->rt) : 0;
	const struct static_order *o = static_order_in(b->f);
	_Atomic(void *) *bytes = o->frame[b->f->index].bytes;
	const struct static_step *s = &o->step[at];
	struct guard *g = &b->f->guard;
	const uint32_t *cell = o->cell;
	struct lkdf_ctx *c = &b->ctx;
	const uint32_t first = at;
	uint32_t i, nr, attn, slow;
	bool is_taken;
	const struct rec *r;
	struct lkdf_kind *k;
	lkdf_fn fn;
	int rc = 0;

	for (; at < end; at++, s++) {
		r = &b->recs[s->index];
		k = r->kind;
		fn = k->fn;
		nr = s[1].first - s->first;
		if (nr) {
			fn = k->inner[AROUND_BYTES];
			for (i = 0; i < nr; i++)
				c->bytes[i] = a_load(&bytes[cell[s->first + i]],
						     relaxed);
		}
		is_taken = is_guarded && guard_at(g, at);
		attn = a_load(&b->w->attn, relaxed);
		slow = a_load(&k->slow, relaxed) ^ notes;
		if (unlikely(attn | slow | b->hindered | is_taken) &&
		    must_leave(b, slow, attn, is_taken))
			break;
		c->nr_bytes = nr;
		c->index = s->index;
		if (is_noted)
			a_store(noted, k->trace_name, relaxed);
		rc = likely(!slow) ? (is_noted ? noted_body(k, c, fn, r->arg)
					       : body_call(fn, c, r->arg))
				   : kind_call_timed(k, c, fn, r->arg);
		if (unlikely((rc | c->after) < 0))
			break;
	}
	if (is_noted)
		a_store(noted, outer, relaxed);
	c->nr_bytes = 0;
	b->nr_resolved += at - first;
	burst_count(b, at - first);
	if (likely(!((rc | c->after) < 0)))
		return at;
	end_step(b, at, rc);
	return NO_TASK;
}

static __attribute__((noinline, aligned(CACHE_LINE))) uint32_t
run_alone(struct burst *b, uint32_t at, uint32_t end)
{
	return run_steps(b, at, end, false, false);
}

static __attribute__((noinline)) uint32_t
run_alone_noted(struct burst *b, uint32_t at, uint32_t end)
{
	return run_steps(b, at, end, false, true);
}

static __attribute__((noinline, aligned(CACHE_LINE))) uint32_t
run_guarded(struct burst *b, uint32_t at, uint32_t end)
{
	return run_steps(b, at, end, true, false);
}

static __attribute__((noinline)) uint32_t
run_guarded_noted(struct burst *b, uint32_t at, uint32_t end)
{
	return run_steps(b, at, end, true, true);
}

static bool notes_kinds(const struct burst *b)
{
	return signals_want_kinds(b->rt);
}

/* Is there something that may not wait for all the steps of a turn? */
static bool has_news(struct worker *w)
{
	return a_load(&w->other_classes, relaxed) ||
	       !inbox_is_empty(&w->node->inbox) ||
	       !inbox_is_empty(&w->node->bound) || completion_has_news(w) ||
	       part_has_news(w);
}

/* The steps of a turn; *end where it was to end by what has come meanwhile. */
static uint32_t take_turn(struct burst *b, uint32_t at, uint32_t *end,
			  uint32_t (*run)(struct burst *b, uint32_t at,
					  uint32_t end))
{
	uint32_t last = *end;

	b->ctx.in_order = true;
	do {
		*end = (uint32_t)min_u64(at + STATIC_LOOK, last);
		at = run(b, at, *end);
	} while (at == *end && at < last && !has_news(b->w));
	b->ctx.in_order = false;
	return at;
}

/* Below one item of those that are there, or they would never be on top. */
static void put_back(struct worker *w, struct frame *f)
{
	struct deque *d = &w->deque[CLASS_NORMAL];
	uint64_t other = 0;

	if (deque_room(d))
		deque_pop(d, &other);
	if (!worker_push(w, CLASS_NORMAL, link_item(&f->start)))
		inbox_push(&w->node->inbox, &f->start);
	if (other)
		worker_push(w, CLASS_NORMAL, other);
	worker_look_soon(w);
}

static void count_run(struct burst *b)
{
	struct static_state *s = &b->f->graph->order;

	if (unlikely(a_load(&s->hold, relaxed)))
		a_store(&s->hold, 0, relaxed);
	counter_add(b->w->executor->counters, COUNTER_STATIC, 1);
}

/* Some steps of a run that nobody else can have. */
static void go_on_alone(struct burst *b, uint32_t end, uint32_t nr_steps)
{
	struct frame *f = b->f;
	uint32_t at;

	at = take_turn(b, f->next_source, &end,
		       notes_kinds(b) ? run_alone_noted : run_alone);
	if (at == NO_TASK)
		return;
	if (at < end) {
		leave_order(b->w, f, at, false);
	} else if (at == nr_steps) {
		count_run(b);
	} else {
		f->next_source = at;
		put_back(b->w, f);
	}
}

/* Some steps of a run that others may take: its link lies there for them. */
static void go_on_guarded(struct burst *b, uint32_t end, uint32_t nr_steps)
{
	struct deque *d = &b->w->deque[CLASS_NORMAL];
	struct frame *f = b->f;
	uint32_t at = f->next_source;
	bool is_ours;

	guard_begin(&f->guard, at);
	put_back(b->w, f);
	if (deque_has_private(d))
		deque_share_all(d);
	at = take_turn(b, at, &end,
		       notes_kinds(b) ? run_guarded_noted : run_guarded);
	if (at == NO_TASK)
		return;
	if (at < end) {
		is_ours = leave_order(b->w, f, at, false);
	} else {
		f->next_source = at;
		is_ours = guard_stop(&f->guard, at == nr_steps ? GUARD_ENDED
							       : GUARD_WAITS);
	}
	if (!is_ours)
		give_away(b, at);
	else if (at == nr_steps)
		count_run(b);
}

/* We have the link; the run is not to go by its order, or not any more. */
static void end_guarded(struct burst *b)
{
	struct frame *f = b->f;
	enum guard_state state;

	do {
		state = guard_see(&f->guard);
		if (state == GUARD_WAITS) {
			a_store(&f->guard.state, GUARD_ENDED, relaxed);
			static_leave(b->w, f, f->next_source, false);
		}
	} while (state == GUARD_RUNS && !take_run(b->w, f));
	/* The link's. */
	b->nr_resolved++;
}

/*
 * Some steps of the burst's frame, whose link the worker has; or none, if it
 * runs one item only. The link is not the caller's any more.
 */
static void run_turn(struct burst *b)
{
	struct frame *f = b->f;
	const struct static_order *o = static_order_in(f);
	bool is_guarded = f->guard.is_on;
	uint32_t end;

	if (is_guarded && (!b->ctx.bytes || !holdoff_is_alone(b->w) ||
			   guard_see(&f->guard) != GUARD_WAITS)) {
		end_guarded(b);
		return;
	}
	if (!b->ctx.bytes) {
		leave_order(b->w, f, f->next_source, false);
		return;
	}
	end = (uint32_t)min_u64(f->next_source + STATIC_TURN, o->nr_steps);
	if (is_guarded)
		go_on_guarded(b, end, o->nr_steps);
	else
		go_on_alone(b, end, o->nr_steps);
}

static uint64_t start_in_order(struct burst *b, struct frame *f)
{
	struct executor *ex = b->ctx.ex;
	struct lkdf_ctx *outer;

	enter_frame(b, f);
	outer = current_set(ex, &b->ctx);
	run_turn(b);
	current_restore(ex, outer);
	return 0;
}

const struct run_mode static_mode = {
	.name = "static",
	.is_for = begin_in_order,
	.run = mode_run_transient,
	.start = start_in_order,
};
