/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For mc_stream.c: what the scenarios count, and what stream.c and frame.c call
 * of scopes, events and failures.
 */
#ifndef STREAM_BELOW_H
#define STREAM_BELOW_H

#include "check_below.h"
#include "run/solo_run.h"
#include "run/stream_solo.h"
#include "sched/worker.h"
#include "stream_graph.h"
#include "trace/counters.h"

#define NR_WAVES 8 /* more than a scenario has */
#define NR_WORKERS 2
#define SKIP 12 /* of the first bit of a task that is skipped */
#define DONE (1u << 31)
#define NEVER UINT64_MAX

static struct lkdf_scope scope;
static struct worker workers[NR_WORKERS];
static struct executor executors[NR_WORKERS];
static struct counters counters[NR_WORKERS];
static struct failure failures[NR_WAVES];
static _Atomic(uint32_t) box, nr_entered, nr_left;
static _Atomic(uint32_t) nr_read[NR_WAVES]; /* by T and U */

/* plain: the protocol must order them */
static uint64_t next_wave; /* S's calls follow one another */
static int ran[NR_WAVES][NR_TASKS], nr_owned[NR_WAVES], nr_dropped[NR_WAVES];
static int failed[NR_WAVES]; /* what failures[] tell */
static int nr_finished;
static int told[NR_TASKS]; /* of a run before the stream */
static int nr_judged; /* one after the other */
static int error; /* of the stream */

/* As the scenario has it. */
static uint64_t ends_at, fails_at;
static uint32_t max_waves;
static bool owns;

/* ---- what the sources call ----------------------------------------------- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

int scope_enter(struct lkdf_scope *s, uint32_t nr, bool may_wait)
{
	a_add(&nr_entered, nr, relaxed);
	return 0;
}

void scope_leave(struct lkdf_scope *s, uint32_t nr)
{
	a_add(&nr_left, nr, relaxed);
}

void scope_count(struct lkdf_scope *s, const struct tally *t)
{
}

void scope_fail(struct lkdf_scope *s, int e, struct failure *f)
{
}

void graph_put(struct lkdf_graph *g)
{
}

int event_create(struct lkdf *r, struct executor *ex, uint32_t count,
		 uint32_t nr_refs, struct lkdf_event *e)
{
	e->slot = &box;
	return 0;
}

void event_put(struct lkdf_event e)
{
}

void failure_put(struct failure *f, const struct log *log)
{
	if (f)
		a_sub(&f->nr_refs, 1, relaxed);
}

/* The graph is idle again, and whatever waves did lies behind us. */
void event_finish(struct lkdf_event e, int rc, struct failure *f)
{
	uint64_t i, nr = plain_load(&next_wave);
	int t;

	plain_store(&nr_finished, plain_load(&nr_finished) + 1);
	plain_store(&error, rc);
	mc_assert(a_load(&nr_left, relaxed));
	for (i = 0; i < nr; i++) {
		for (t = T; t < NR_TASKS; t++)
			mc_assert(plain_load(&ran[i][t]) == 1);
		mc_assert(plain_load(&nr_owned[i]) +
				  plain_load(&nr_dropped[i]) ==
			  plain_load(&ran[i][S]));
	}
	if (f)
		mc_assert(plain_load(&failed[f - failures]) == 1);
	mc_free(graph.stream);
	a_or(&box, DONE, release);
}

static void drop(void *value)
{
	int wave = plain_load((int *)value) - 1;

	plain_store(&nr_dropped[wave], plain_load(&nr_dropped[wave]) + 1);
}

/* Waves that are to gather wait. */
static bool may_begin(const struct frame *f)
{
	return !f->stream || a_load(&f->wave, relaxed) <
				     a_load(&f->stream->gather_at, relaxed);
}

/* Each turn, where the scenario has it. */
void stream_judge(struct worker *w, struct frame *f)
{
	uint32_t i;

	plain_store(&nr_judged, plain_load(&nr_judged) + 1);
	if (a_load(&f->stream->gather_at, relaxed) != STREAM_NEVER)
		return;
	mc_see("they gather");
	stream_gather(f);
	for (i = 0; i < graph.nr_frames; i++)
		mc_assert(may_begin(&graph.frames[i]));
}

void stream_solo_begin(struct stream *s)
{
}

void stream_solo_gathered(struct worker *w, struct stream *s)
{
	mc_see("they have gathered");
}

void stream_solo_end(struct worker *w, struct stream *s)
{
}

NOT_REACHED(void, runtime_push, struct lkdf *r, struct executor *ex,
	    struct link *link)
NOT_REACHED(void, solo_run_end, struct worker *w, struct frame *f)

#pragma GCC diagnostic pop

#endif
