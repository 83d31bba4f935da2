/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/stream_solo.h"

#include "base/options.h"
#include "core/runtime.h"
#include "graph/graph.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/publish/publish.h"
#include "run/alone.h"
#include "run/frame.h"
#include "trace/counters.h"

/*
 * A task with a home stays there; loops are judged by themselves. The waves of
 * some workers of several would each be kept by another one, so it is one or
 * all.
 */
void stream_solo_init(struct lkdf_graph *g)
{
	const struct sched *s = &g->rt->sched;

	solo_init(&g->stream->solo,
		  g->rt->options->solo_runs && !s->is_serial &&
			  s->nr_workers > 1 && g->nr_tasks > 1 && !g->homes &&
			  !g->planned && !g->control,
		  SOLO_OR_ALL);
}

void stream_solo_begin(struct stream *s)
{
	s->is_solo = false;
	s->turn = (struct solo_run){ .is_solo = false };
}

static void keep_waves(struct worker *w, const struct stream *s)
{
	holdoff_begin(w,
		      clock_ticks() +
			      solo_patience(&s->solo, w->sched->wake_ticks),
		      0);
	publish_ask(w);
}

static void begin_turn(struct worker *w, struct frame *f)
{
	struct stream *s = f->stream;

	if (unlikely(solo_is_due(&s->solo)) && solo_try(&s->solo))
		alone_sample_again(f->graph);
	solo_begin(&s->solo, &s->turn);
	if (unlikely(s->turn.anew))
		alone_doubt(f->graph);
	if (s->turn.is_solo != s->is_solo)
		stream_gather(f);
	else if (s->is_solo)
		keep_waves(w, s);
}

void stream_judge(struct worker *w, struct frame *f)
{
	struct stream *s = f->stream;

	/* Until they have gathered they go neither way. */
	if (a_load(&s->gather_at, relaxed) != STREAM_NEVER)
		return;
	solo_end(&s->solo, &s->turn);
	if (s->is_solo)
		counter_add(w->executor->counters, COUNTER_SOLO, STREAM_TURN);
	if (unlikely(solo_asks(&s->solo)))
		solo_answer(&s->solo, STREAM_TURN * alone_ticks(f->graph));
	begin_turn(w, f);
}

void stream_solo_gathered(struct worker *w, struct stream *s)
{
	s->is_solo = s->turn.is_solo;
	if (s->is_solo)
		keep_waves(w, s);
	else
		holdoff_end(w);
}

void stream_solo_end(struct worker *w, struct stream *s)
{
	if (s->is_solo)
		holdoff_end(w);
}
