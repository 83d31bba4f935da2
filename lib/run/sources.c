/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/sources.h"

#include "base/clock.h"
#include "core/runtime.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/publish/publish.h"
#include "run/alone.h"
#include "run/planned.h"
#include "run/resolve.h"
#include "run/static_run.h"
#include "trace/counters.h"

/* A run has become a solo one: what an alarm has done is told here. */
static void begin_solo(struct worker *w, const struct frame *f)
{
	uint32_t alarm = f->solo.anew;

	alone_doubt(f->graph);
	if (alarm == SOLO_ANEW)
		return;
	counter_add(w->executor->counters, COUNTER_ALARMS, 1);
	trace_event(w->executor->ring, EVENT_SIGNAL, alarm >> 16,
		    alarm & 0xffff);
}

static void begin_run(struct worker *w, struct frame *f)
{
	struct solo *s = &f->graph->solo;

	if (unlikely(solo_is_due(s)) && solo_try(s))
		alone_sample_again(f->graph);
	solo_begin(s, &f->solo);
	if (unlikely(f->solo.anew))
		begin_solo(w, f);
	if (unlikely(f->solo.is_first) && !f->has_mark) {
		workers_mark(&f->graph->rt->signals, &f->mark);
		f->has_mark = true;
	}
	if (!f->solo.is_held) {
		holdoff_end(w);
		return;
	}
	holdoff_begin(w, f->solo.began + solo_patience(s, w->sched->wake_ticks),
		      f->solo.width);
	publish_ask(w);
}

/* One of the first runs has ended: where did its time go? */
static void look_for_alarm(struct frame *f)
{
	struct workers *b = &f->graph->rt->signals;
	uint64_t now = clock_ticks(), serial;
	struct solo *s = &f->graph->solo;
	struct workers_share share;
	struct workers_mark mark;

	workers_mark(b, &mark);
	share = workers_share(&f->mark, &mark);
	if (share.source == LKDF_SIGNAL_NONE)
		return;
	serial = alone_ticks(f->graph);
	if (share.permille < SOLO_ALARM) {
		share.source = LKDF_SIGNAL_SELF;
		share.permille = solo_excess(s, &f->solo, now, serial);
	}
	solo_alarm(s, &f->solo, now,
		   solo_alarm_word(share.source, share.permille), serial);
}

static void judge_run(struct frame *f)
{
	struct solo *s = &f->graph->solo;

	if (unlikely(f->solo.is_first))
		look_for_alarm(f);
	solo_end(s, &f->solo);
	if (unlikely(solo_asks(s)))
		solo_answer(s, alone_ticks(f->graph));
}

void sources_end(struct worker *w, struct frame *f)
{
	bool is_one = f->nr_turns < SOURCES_TURNS;

	if (f->solo.is_held) {
		holdoff_end(w);
		counter_add(w->executor->counters,
			    f->solo.is_solo ? COUNTER_SOLO : COUNTER_FEW,
			    is_one);
	}
	if (likely(is_one))
		judge_run(f);
}

void sources_turn(struct worker *w, struct frame *f)
{
	if (++f->nr_turns % SOURCES_TURNS)
		return;
	if (f->solo.is_solo)
		counter_add(w->executor->counters, COUNTER_SOLO_TURNS,
			    SOURCES_TURNS);
	judge_run(f);
	begin_run(w, f);
}

void sources_begin(struct worker *w, struct frame *f)
{
	f->nr_turns = 0;
	if (f->graph->solo.is_possible)
		begin_run(w, f);
	static_run_begin(w, f);
}

/* It would be the item that the worker pops next. */
static bool is_next(const struct worker *w, const struct rec *r)
{
	return (r->flags & (REC_CLASS | REC_PLACED)) == CLASS_NORMAL &&
	       !a_load(&w->other_classes, relaxed) && !worker_should_look(w);
}

/* While there are more, start stays an item in our deque. */
uint64_t sources_take(struct worker *w, struct frame *f)
{
	const struct lkdf_graph *g = f->graph;
	uint32_t first = f->next_source, end, source;

	check(first <= g->nr_sources);
	end = (uint32_t)min_u64(first + SOURCE_CHUNK, g->nr_sources);
	f->next_source = end;
	if (end < g->nr_sources &&
	    !worker_push(w, CLASS_NORMAL, link_item(&f->start)))
		inbox_push(&w->node->inbox, &f->start);
	while (end > first) {
		source = g->sources[--end];
		if (!(f->recs[source].flags & REC_TOKEN)) {
			if (end == first && is_next(w, &f->recs[source]))
				return item_make(f, source, 0);
			resolve_push(w, f, source, 0);
			continue;
		}
		/* Where the token is still to come the run may end elsewhere
		 * from here on, and the graph with it. */
		resolve_give_token(w, f, source);
	}
	return 0;
}

void sources_start(struct lkdf *rt, struct worker *w, struct frame *f)
{
	f->next_source = 0;
	f->guard.is_on = false;
	if (f->graph->planned)
		planned_begin(f, w ? w->executor : NULL);
	a_store(&f->remaining, f->graph->nr_tasks, relaxed);
	if (w && worker_push(w, CLASS_NORMAL, link_item(&f->start)))
		return;
	runtime_push(rt, NULL, &f->start);
}

void sources_go_on(struct worker *w, struct frame *f)
{
	check(f->graph->nr_sources == 1 && !f->is_static);
	if (f->graph->planned)
		planned_begin(f, w->executor);
	a_store(&f->remaining, f->graph->nr_tasks, relaxed);
	resolve_give_token(w, f, f->graph->sources[0]);
}
