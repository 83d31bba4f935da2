/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A stream: one call that keeps all frames of a graph busy. Wave n is the n'th
 * run of the stream; it lies in frame n % nr_frames, counted from where the
 * stream began, and a frame whose wave has ended starts the wave nr_frames
 * later by itself. Tokens keep the order: a task that is not SHARED takes the
 * waves one after another, so the graph's source is asked in order, though
 * waves end in any.
 *
 * The end is found where the source of a wave gets ready, in order: from the
 * first wave on that comes after it waves are dropped, their tasks are passed
 * over, and a frame stops with its first dropped wave. So the waves that were
 * under way stand side by side, without a gap, and tokens lie where the graph's
 * next run looks for them.
 *
 * At the end of each STREAM_TURN'th wave the waves since then are judged as a
 * run of other graphs is (policy/solo.h): does it pay to share them? There are
 * no more frames than that, so a judge's wave begins after the one before it
 * has been judged, and no two judge at once. Waves that go the other way from
 * now on are gathered first: waves from gather_at on do not begin, those before
 * it end, as they need nothing of later ones, and the worker that ends the last
 * of them begins all the others. When wave n ends n + nr_frames has not begun,
 * so no source from there on has been asked, so no wave from there on has
 * ended, so none from n + 2 * nr_frames on has begun; and whatever ends one
 * from n + nr_frames on has seen what the judge wrote. Nobody counts waves:
 * their number stands in the frames, once these have stopped.
 *
 * With max_waves the source of a wave, once it is ready, takes room for the
 * wave, dropped ones too, and the wave's end gives the room back. Sources get
 * ready one after another, so one wave at most waits for room.
 */
#ifndef RUN_STREAM_H
#define RUN_STREAM_H

#include "base/atomic.h"
#include "core/verdict.h"
#include "policy/solo.h"

#include <lkdf/event.h>
#include <lkdf/graph.h>

struct executor;
struct failure;
struct frame;
struct lkdf_scope;
struct worker;

/*
 * Waves of a turn, which counts as one run where solo.h judges it: not fewer
 * than a graph has frames.
 */
#ifndef STREAM_TURN
#define STREAM_TURN 64
#endif

/* As gather_at: they do not gather. */
#define STREAM_NEVER UINT64_MAX

/* For a graph with several frames; one stream at a time. */
struct stream {
	/* Any worker, across streams: whether waves are shared. */
	struct solo solo;

	/* Set by stream_start(), constant during the stream. */
	struct lkdf_scope *scope;
	_Atomic(uint64_t) times; /* waves at most; why looks */
	uint32_t max_waves; /* under way; 0: as many as there are frames */
	uint64_t first_seq;
	bool (*until)(void *u);
	void *until_arg;
	bool goes_on; /* after a failure */
	struct lkdf_event done; /* slot NULL: not wanted */
	struct frame *holder; /* its claim is that of all waves */

	/* Any worker. */
	_Atomic(uint8_t) has_ended; /* set, never cleared */
	_Atomic(uint8_t) is_cut; /* the same: a cancel has ended it */
	_Atomic(int32_t) room; /* waves that may begin; -1: waiting does */
	_Atomic(struct frame *) waiting; /* for room, if that is -1 */
	_Atomic(uint32_t) nr_running; /* frames that have not stopped */
	_Atomic(uint64_t) gather_at; /* waves from here on wait; NEVER */
	_Atomic(int32_t) error; /* the first */
	_Atomic(struct failure *) failure; /* of error */
	struct tally tally; /* of all waves */

	/* The worker that judges, or that begins gathered waves: one. */
	struct solo_run turn;
	bool is_solo; /* as waves go */
};

/* See lkdf_graph_run() with LKDF_RUN_STREAM; r is checked. */
int stream_start(struct lkdf_graph *g, struct lkdf_scope *s,
		 const struct lkdf_run *r, struct lkdf_event *done);

/* The claim is there, for which the stream has waited. */
void stream_granted(struct executor *ex, struct frame *holder);

/*
 * A task of a stream's frame is ready. True: it is the source of a wave that is
 * dropped, and is pushed as such, or that waits for room. On a worker.
 */
bool stream_takes(struct worker *w, struct frame *f, uint32_t index);

/* The source has returned LKDF_END: its wave is the first that is dropped. */
void stream_end(struct frame *f);

/* Does the frame's wave wait for another one to end? A look from outside. */
static inline bool stream_waits(const struct stream *s, const struct frame *f)
{
	return a_load(&s->room, relaxed) < 0 &&
	       a_load(&s->waiting, relaxed) == f;
}

/*
 * Waves that have not begun wait until all others have ended, and then one
 * worker begins them. By the worker that judges, at the end of the frame's
 * wave.
 */
void stream_gather(struct frame *f);

/* All tasks of the frame's wave are resolved. */
void stream_wave_ended(struct worker *w, struct frame *f);

#endif
