/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/sources.h"

#include "base/clock.h"
#include "core/runtime.h"
#include "run/planned.h"
#include "run/resolve.h"
#include "run/static_run.h"
#include "sched/holdoff.h"
#include "sched/publish.h"

/*
 * Ticks that all bodies take one after the other; 0: some are not known short.
 */
static uint64_t serial_ticks(const struct lkdf_graph *g)
{
	const struct lkdf_kind *k;
	uint64_t ticks = 0;
	uint32_t i;

	for (i = 0; i < g->nr_recs; i++) {
		k = g->recs[i].kind;
		if (a_load(&k->slow, relaxed) & ~SLOW_BUT_SHORT)
			return 0;
		ticks += a_load(&k->least_ticks, relaxed);
	}
	return ticks;
}

/* Of frame 0, as all have the same. */
static void sample_again(const struct lkdf_graph *g)
{
	const struct lkdf_kind *last = NULL;
	uint32_t i;

	for (i = 0; i < g->nr_recs; i++)
		if (g->recs[i].kind != last) {
			last = g->recs[i].kind;
			kind_sample_again(g->recs[i].kind);
		}
}

static void begin_run(struct worker *w, struct frame *f)
{
	struct solo *s = &f->graph->solo;

	if (unlikely(solo_is_due(s)) && solo_try(s))
		sample_again(f->graph);
	solo_begin(s, &f->solo);
	if (unlikely(f->solo.is_first) && !f->has_mark) {
		workers_mark(&f->graph->rt->signals, &f->mark);
		f->has_mark = true;
	}
	if (!f->solo.is_solo) {
		holdoff_end(w);
		return;
	}
	holdoff_begin(w,
		      f->solo.began + solo_patience(s, w->sched->wake_ticks));
	publish_ask(w);
}

/* One of the first runs has ended: where did its time go? */
static void look_for_alarm(struct worker *w, struct frame *f)
{
	struct workers *b = &f->graph->rt->signals;
	uint64_t now = clock_ticks();
	struct workers_share share;
	struct workers_mark mark;

	workers_mark(b, &mark);
	share = workers_share(&f->mark, &mark);
	if (share.source == LKDF_SIGNAL_NONE ||
	    !solo_alarm(&f->graph->solo, &f->solo, now, share.permille,
			serial_ticks(f->graph)))
		return;
	counter_add(w->executor->counters, COUNTER_ALARMS, 1);
	trace_event(w->executor->ring, EVENT_SIGNAL, share.source,
		    share.permille);
}

static void judge_run(struct worker *w, struct frame *f)
{
	struct solo *s = &f->graph->solo;

	if (unlikely(f->solo.is_first))
		look_for_alarm(w, f);
	solo_end(s, &f->solo);
	if (unlikely(solo_asks(s)))
		solo_answer(s, serial_ticks(f->graph));
}

void sources_end(struct worker *w, struct frame *f)
{
	bool is_one = f->nr_turns < SOURCES_TURNS;

	if (f->solo.is_solo) {
		holdoff_end(w);
		counter_add(w->executor->counters, COUNTER_SOLO, is_one);
	}
	if (likely(is_one))
		judge_run(w, f);
}

void sources_turn(struct worker *w, struct frame *f)
{
	if (++f->nr_turns % SOURCES_TURNS)
		return;
	if (f->solo.is_solo)
		counter_add(w->executor->counters, COUNTER_SOLO_TURNS,
			    SOURCES_TURNS);
	judge_run(w, f);
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
	       !w->other_classes && !worker_should_look(w);
}

/* While there are more, start stays an item in our deque. */
uint64_t sources_take(struct worker *w, struct frame *f)
{
	const struct lkdf_graph *g = f->graph;
	uint32_t first = f->next_source, end, source;

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
