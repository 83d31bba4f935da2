/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/solo_run.h"

#include "base/clock.h"
#include "core/runtime.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/publish/publish.h"
#include "run/alone.h"
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

void solo_run_begin(struct worker *w, struct frame *f)
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

void solo_run_end(struct worker *w, struct frame *f)
{
	bool is_one = f->nr_turns < SOLO_TURNS;

	if (f->solo.is_held) {
		holdoff_end(w);
		counter_add(w->executor->counters,
			    f->solo.is_solo ? COUNTER_SOLO : COUNTER_FEW,
			    is_one);
	}
	if (likely(is_one))
		judge_run(f);
}

void solo_run_turn(struct worker *w, struct frame *f)
{
	if (++f->nr_turns % SOLO_TURNS)
		return;
	if (f->solo.is_solo)
		counter_add(w->executor->counters, COUNTER_SOLO_TURNS,
			    SOLO_TURNS);
	judge_run(f);
	solo_run_begin(w, f);
}
