/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A stream over a ring of two or three frames: stream.c, frame.c and port_run.c
 * as they are shipped. The graph is S -> T and S -> U; S of each wave waits for
 * S of the wave before by a token and leaves a value, which T or U may own.
 * Waves are asked for in order, the stream is finished once, by whoever stops
 * last and sees all waves, and a value is owned once or dropped. With max_waves
 * 1 a wave begins when the one before lies behind it, with 2 of 3 when one of
 * those before does. Deques and the run loop are replaced: a ready task is a
 * bit in a box.
 */
#include "mc.h"
#include "stream_below.h"
#include "task/ctx.h"

#include <errno.h>

/* ---- tasks --------------------------------------------------------------- */

static void push(struct frame *f, uint32_t task, bool is_skipped)
{
	a_or(&box, 1u << (f->index * 4 + task + (is_skipped ? SKIP : 0)),
	     release);
}

void resolve_push_source(struct worker *w, struct frame *f, bool is_dropped)
{
	(void)w;
	push(f, S, is_dropped);
}

/* As resolve_give_token(). */
static void arrive_s(struct worker *w, struct frame *f)
{
	struct rec *r = &f->recs[S];

	if (rec_arrive(r) == ARRIVAL_EARLY)
		return;
	rec_rearm(r, r->nr_in);
	if (!f->stream || !stream_takes(w, f, S))
		push(f, S, false);
}

void sources_start(struct lkdf *r, struct worker *w, struct frame *f)
{
	(void)r;
	/* The wave before lies behind us, with its value. */
	mc_assert(a_load(&f->port.state[0], relaxed) == PORT_EMPTY);
	mc_assert(may_begin(f));
	a_store(&f->remaining, f->graph->nr_tasks, relaxed);
	arrive_s(w, f);
}

void sources_go_on(struct worker *w, struct frame *f)
{
	sources_start(NULL, w, f);
}

/* A body, if there is to be one. False: it does not run. */
static bool may_run(struct frame *f, bool is_skipped)
{
	if (!is_skipped && !frame_cancelled(f))
		return true;
	a_add(&f->tally.nr[is_skipped ? ENDED_SKIPPED : ENDED_CANCELLED],
	      !f->is_dropped, relaxed);
	return false;
}

/* So many of the waves before lie behind us that this one may begin. */
static void has_room(uint64_t wave)
{
	uint32_t nr = 0;
	uint64_t i;

	for (i = 0; i < wave; i++)
		nr += a_load(&nr_read[i], relaxed) < 2;
	mc_assert(!max_waves || nr < max_waves);
}

static bool body_of_s(struct frame *f)
{
	const struct lkdf_ctx c = { .frame = f, .index = S };

	mc_assert(plain_load(&next_wave) == f->wave);
	mc_assert(f->wave <= ends_at);
	has_room(f->wave);
	if (f->wave == ends_at) {
		stream_end(f);
		return false;
	}
	plain_store(&next_wave, f->wave + 1);
	plain_store(&ran[f->wave][S], 1);
	plain_store((int *)port_out(&c, 0), (int)f->wave + 1);
	return true;
}

/* No worker: nothing is recorded. */
static void resolved(struct worker *w, struct frame *f)
{
	frame_resolved(f->stream ? w : NULL, f, 1);
}

static void run_s(struct worker *w, struct frame *f, bool is_skipped)
{
	bool is_live = f->stream && may_run(f, is_skipped) && body_of_s(f);

	port_resolved(f, S, is_live);
	push(f, T, !is_live);
	push(f, U, !is_live);
	arrive_s(w, &frames[(f->index + 1) % graph.nr_frames]);
	resolved(w, f);
}

/* As frame_fail(). */
static void fail(struct frame *f)
{
	struct failure *failure = &failures[f->wave];

	a_add(&f->tally.nr[ENDED_FAILED], 1, relaxed);
	plain_store(&failed[f->wave], 1);
	a_store(&failure->nr_refs, 1, relaxed);
	a_store(&f->first_err, -EIO, relaxed);
	a_store(&f->failure, failure, release);
}

/* T or U. */
static void run_reader(struct worker *w, struct frame *f, uint32_t task,
		       bool is_skipped)
{
	const struct lkdf_ctx c = { .frame = f, .index = task };
	uint64_t wave = f->wave;

	if (!f->stream) {
		plain_store(&told[task], 1);
		resolved(w, f);
		return;
	}
	if (may_run(f, is_skipped)) {
		mc_assert(plain_load((const int *)port_in(&c, 0)) ==
			  (int)wave + 1);
		if (owns && port_own(&c, 0) == 0)
			plain_store(&nr_owned[wave],
				    plain_load(&nr_owned[wave]) + 1);
		if (task == T && wave == fails_at)
			fail(f);
	}
	plain_store(&ran[wave][task], plain_load(&ran[wave][task]) + 1);
	a_add(&nr_read[wave], 1, relaxed);
	resolved(w, f);
}

static void run(int id, uint32_t bit)
{
	struct frame *f = &frames[bit % SKIP / 4];

	if (bit % 4 == S)
		run_s(&workers[id], f, bit >= SKIP);
	else
		run_reader(&workers[id], f, bit % 4, bit >= SKIP);
}

/* One thread begins with the first tasks, the other with the last. */
static void work(int id)
{
	uint32_t ready, bit;

	for (;;) {
		ready = a_load(&box, relaxed);
		if (ready == DONE)
			return;
		if (!ready) {
			a_pause();
			continue;
		}
		bit = id ? 31u - (uint32_t)__builtin_clz(ready)
			 : (uint32_t)__builtin_ctz(ready);
		if (a_and(&box, ~(1u << bit), acquire) & 1u << bit)
			run(id, bit);
	}
}

/* ---- streams ------------------------------------------------------------- */

static void init_waves(void)
{
	int i, t;

	plain_store(&next_wave, 0);
	for (i = 0; i < NR_WAVES; i++) {
		for (t = 0; t < NR_TASKS; t++)
			plain_store(&ran[i][t], 0);
		plain_store(&nr_owned[i], 0);
		a_store(&nr_read[i], 0, relaxed);
		plain_store(&nr_dropped[i], 0);
		plain_store(&failed[i], 0);
		a_store(&failures[i].nr_refs, 0, relaxed);
	}
	plain_store(&nr_finished, 0);
	a_store(&nr_entered, 0, relaxed);
	a_store(&nr_left, 0, relaxed);
	for (t = 0; t < NR_TASKS; t++)
		plain_store(&told[t], 0);
	plain_store(&nr_judged, 0);
	plain_store(&error, 0);
}

static void init_with(uint32_t nr_frames)
{
	uint32_t i;

	memset(&scope, 0, sizeof(scope));
	init_graph(nr_frames, drop);
	for (i = 0; i < NR_WORKERS; i++) {
		executors[i].counters = &counters[i];
		workers[i].executor = &executors[i];
	}
	init_waves();
	a_store(&box, 0, relaxed);
	ends_at = fails_at = NEVER;
	max_waves = 0;
	owns = true;
	mc_name(&box, "box");
	mc_name(&graph.stream->nr_running, "nr_running");
	mc_name(&graph.stream->has_ended, "has_ended");
	mc_name(&graph.stream->room, "room");
	mc_name(&frames[0].remaining, "remaining0");
	mc_name(&frames[1].remaining, "remaining1");
	mc_name(&recs[0][S].pending, "S0");
	mc_name(&recs[1][S].pending, "S1");
}

static void init(void)
{
	init_with(2);
}

static int start(uint64_t times, uint32_t flags)
{
	const struct lkdf_run r = { .size = sizeof(r),
				    .times = times,
				    .max_waves = max_waves,
				    .flags = LKDF_RUN_STREAM | flags };
	struct lkdf_event done;

	return stream_start(&graph, &scope, &r, &done);
}

/* As before the stream, and the next run takes the frame that has its token. */
static void is_idle(uint64_t waves, uint64_t runs, int rc)
{
	uint32_t i, next = (uint32_t)graph.nr_runs % graph.nr_frames;

	mc_assert(nr_finished == 1);
	mc_assert(a_load(&nr_left, relaxed) == a_load(&nr_entered, relaxed));
	for (i = 0; i < graph.nr_frames; i++) {
		mc_assert(!a_load(&frames[i].is_busy, relaxed));
		mc_assert(!frames[i].stream);
		mc_assert(a_load(&recs[i][S].pending, relaxed) ==
			  (i == next ? 1 : 2));
		mc_assert(a_load(&state[i][0], relaxed) == PORT_EMPTY);
	}
	for (i = 0; i < NR_WAVES; i++)
		mc_assert(!a_load(&failures[i].nr_refs, relaxed));
	mc_assert(a_load(&graph.next_seq, relaxed) == graph.nr_runs);
	mc_assert(next_wave == waves && graph.nr_runs == runs && error == rc);
}

/* ---- scenarios ----------------------------------------------------------- */

static void three_waves(void)
{
	init();
	mc_assert(start(3, 0) == 0);
}

static void all_ran(void)
{
	is_idle(3, 3, 0);
}

/* After two waves those from the sixth on wait for all before. */
static void waves_gather(void)
{
	init();
	graph.stream->solo.is_possible = true;
	mc_assert(!start(NR_WAVES - 2, 0));
}

static void waves_gather_or_end(void)
{
	init();
	ends_at = NR_WAVES - 3;
	graph.stream->solo.is_possible = true;
	mc_assert(start(0, 0) == 0);
}

static void all_ran_gathered(void)
{
	is_idle(NR_WAVES - 2, NR_WAVES - 2, 0);
}

static void all_ran_up_to_the_end(void)
{
	is_idle(NR_WAVES - 3, graph.nr_runs, 0);
}

static void three_waves_alone(void)
{
	init();
	max_waves = 1;
	mc_assert(start(3, 0) == 0);
}

static void three_waves_of_two(void)
{
	init_with(3);
	max_waves = 2;
	mc_assert(start(3, 0) == 0);
}

static void nobody_owns(void)
{
	init();
	owns = false;
	mc_assert(start(2, 0) == 0);
}

static void both_ran(void)
{
	is_idle(2, 2, 0);
}

/* Dropped: the wave of the END and the one after it. */
static void second_ends(void)
{
	init();
	ends_at = 1;
	mc_assert(start(0, 0) == 0);
}

static void second_ends_alone(void)
{
	init();
	ends_at = 1;
	max_waves = 1;
	mc_assert(start(0, 0) == 0);
}

static void one_ran(void)
{
	is_idle(1, 3, 0);
}

static void first_ends(void)
{
	init();
	ends_at = 0;
	mc_assert(start(0, 0) == 0);
}

static void none_ran(void)
{
	is_idle(0, 2, 0);
}

static void first_fails(void)
{
	init();
	fails_at = 0;
	mc_assert(start(5, 0) == 0);
}

/* The second was under way; the next of each frame is dropped. */
static void two_ran(void)
{
	is_idle(2, 4, -EIO);
}

static void first_fails_alone(void)
{
	init();
	fails_at = 0;
	max_waves = 1;
	mc_assert(start(5, 0) == 0);
}

/* The second is dropped, and so is the next of the other frame. */
static void first_ran(void)
{
	is_idle(1, 3, -EIO);
}

static void first_fails_and_goes_on(void)
{
	init();
	fails_at = 0;
	mc_assert(start(3, LKDF_RUN_GO_ON) == 0);
}

static void all_ran_but_one(void)
{
	is_idle(3, 3, -EIO);
}

static void ends_or_cancelled(void)
{
	init();
	ends_at = 2;
	mc_assert(start(0, 0) == 0);
}

static void work_or_cancel(int id)
{
	if (id < NR_WORKERS)
		work(id);
	else
		a_store(&scope.cancel_err, -ECANCELED, relaxed);
}

static void ended_or_cancelled(void)
{
	is_idle(error ? next_wave : 2, graph.nr_runs, error);
	mc_assert(!error || error == -ECANCELED);
	mc_see(error ? "the cancel ends it" : "END comes first");
}

/* The user starts it while its waves run. */
static void start_or_work(int id)
{
	if (id < NR_WORKERS)
		work(id);
	else
		mc_assert(start(2, 0) == 0);
}

static void one_run(void)
{
	const struct lkdf_run r = { .size = sizeof(r) };

	init();
	mc_assert(frame_start(&graph, &scope, &r, NULL, NULL) == 0);
}

/* A stream waits for no run; what the last one did lies behind it. */
static void work_or_start_after(int id)
{
	if (id && start(2, 0) != 0) {
		mc_see("a run is under way");
		while (a_load(&frames[0].is_busy, relaxed))
			a_pause();
		mc_assert(start(2, 0) == 0);
	}
	if (id) {
		mc_assert(plain_load(&told[T]) == 1);
		mc_assert(plain_load(&told[U]) == 1);
	}
	work(id);
}

static void both_ran_after(void)
{
	is_idle(2, 3, 0);
}

#define ROW(text, nr, b, before, f, after)                      \
	.name = text, .nr_threads = nr, .bound = b, .stale = 2, \
	.init = before, .thread = f, .final = after

static const struct mc_scenario table[] = {
	{ ROW("three waves", 2, 1, three_waves, work, all_ran) },
	{ ROW("three waves, one at a time", 2, 1, three_waves_alone, work,
	      all_ran) },
	{ ROW("three waves, two at a time", 2, 1, three_waves_of_two, work,
	      all_ran) },
	{ ROW("waves gather", 2, 1, waves_gather, work, all_ran_gathered),
	  .must_see = { "they gather", "they have gathered" } },
	{ ROW("waves gather before END", 2, 1, waves_gather_or_end, work,
	      all_ran_up_to_the_end),
	  .must_see = { "they gather", "they have gathered" } },
	{ ROW("nobody owns the value", 2, 1, nobody_owns, work, both_ran) },
	{ ROW("the second wave is END", 2, 1, second_ends, work, one_ran) },
	{ ROW("the second wave is END, one at a time", 2, 1, second_ends_alone,
	      work, one_ran) },
	{ ROW("the first wave is END", 2, 1, first_ends, work, none_ran) },
	{ ROW("the first wave fails", 2, 1, first_fails, work, two_ran) },
	{ ROW("the first wave fails, one at a time", 2, 1, first_fails_alone,
	      work, first_ran) },
	{ ROW("the first wave fails, the stream goes on", 2, 1,
	      first_fails_and_goes_on, work, all_ran_but_one) },
	{ ROW("END against cancel", 3, 1, ends_or_cancelled, work_or_cancel,
	      ended_or_cancelled),
	  .must_see = { "the cancel ends it", "END comes first" } },
	{ ROW("waves end while the stream is started", 3, 1, init,
	      start_or_work, both_ran) },
	{ ROW("a stream after a run", 2, 1, one_run, work_or_start_after,
	      both_ran_after),
	  .must_see = { "a run is under way" } },
};

MC_MAIN(table)
