/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A frame is one run in flight: a full copy of the graph's records, counters
 * included, and what differs from run to run. Runs take frames in a ring, so
 * run r is always in frame r % nr_frames and each task of run r knows where
 * its instance of run r + 1 waits for it.
 *
 *	FREE -> BUSY -> FREE, by frame_start() and frame_end()
 */
#ifndef RUN_FRAME_H
#define RUN_FRAME_H

#include "base/lock.h"
#include "core/item.h"
#include "core/verdict.h"
#include "graph/graph.h"
#include "run/checked_run.h"
#include "run/control.h"
#include "run/guard.h"
#include "run/port_run.h"
#include "run/values.h"
#include "sched/inbox.h"
#include "scope/event.h"
#include "scope/scope.h"
#include "signal/workers.h"

#include <errno.h>

struct failure;
struct io_req;
struct kernel_early;
struct planned_part;
struct run_mode;
struct stream;
struct task;
struct worker;

/* Sources a worker takes at a time. */
#define SOURCE_CHUNK 64

#define NO_OVERFLOW UINT32_MAX

/*
 * Ready tasks of a frame on their way to a worker: those no deque had room
 * for, or those of one node. They are linked by numbers, in their counters.
 */
struct ready_list {
	/* In one inbox or deque at most, while the list is not empty. */
	_Alignas(CACHE_LINE) struct link link;
	_Atomic(uint32_t) head; /* task << 1 | skip */

	/* Set at seal, constant afterwards. */
	uint16_t home; /* HOME_NONE: of those without room */
	struct frame *frame;
};

/* is_busy, which frame.c alone moves. */
enum frame_state {
	FRAME_FREE,
	FRAME_BUSY,
};

struct frame {
	/* In one inbox or deque at most, from start to the last source. */
	struct link start;

	/* Set at seal, constant afterwards. */
	struct lkdf_graph *graph;
	struct rec *recs;
	uint32_t *overflow_next; /* NULL: pending links them */
	uint32_t slot; /* in the runtime's table of frames */
	uint32_t item; /* what all its items have in common */
	uint32_t index; /* in the graph's ring */

	/* Set by frame_start(), constant during the run. */
	struct lkdf_scope *scope;
	const void *arg;
	uint64_t times;
	bool (*until)(void *u);
	void *until_arg;
	struct lkdf_event done; /* slot NULL: not wanted */
	struct task *parent; /* whose child it is; NULL: nobody's */
	bool repeats; /* times or until */
	struct stream *stream; /* NULL: no wave of one */

	/* The worker that handles start, or ends the run: one at a time. */
	uint32_t next_source; /* or step of the static order */
	_Atomic(uint64_t) wave; /* of a stream, from 0; why looks */
	bool is_dropped; /* the wave: the stream has ended before it */
	bool waits; /* the wave, until those before it have gathered */
	uint64_t seq;
	struct solo_run solo; /* where that is possible */
	uint32_t nr_turns; /* iterations of the loop that is judged */
	struct workers_mark mark; /* before the first, see solo_alarm() */
	bool has_mark;
	const struct run_mode *mode; /* NULL: not chosen yet */
	struct guard guard; /* by the static order, and others may take it */

	/* Any worker. */
	_Alignas(CACHE_LINE) _Atomic(uint32_t) remaining; /* unresolved */
	_Atomic(uint32_t) is_busy;

	/* Any worker. */
	struct ready_list overflow;
	struct ready_list *placed; /* two a node, by home; NULL: no places */

	struct planned_part *planned; /* by node; NULL: it is not */

	/* Under lock: operations done before their tasks, see io_chain.h. */
	struct lock early_lock;
	struct io_req *early;

	/* By index, see offload/early.h; NULL: no kernel leads. */
	struct kernel_early *kernels;
	struct kernel_piece *pieces; /* see offload/gather.h; or NULL */

	/* See there; nothing in it without data uses. */
	struct values values;

	/* See there; nothing in it without loops. */
	struct control_run control;

	/* See there; nothing in it without ports. */
	struct port_run port;

	/* Any worker, on errors only. */
	_Atomic(int32_t) first_err;
	_Atomic(struct failure *) failure;
	struct tally tally;
	_Atomic(uint32_t) is_late; /* failed first after the cancel */

	/* Option check, the thread that drains: see checked_run.c. */
	struct frame_check *check;
};

/*
 * Takes the next frame and starts. See lkdf_graph_run(); with a parent, which
 * has counted it, lkdf_spawn_graph().
 */
int frame_start(struct lkdf_graph *g, struct lkdf_scope *s,
		const struct lkdf_run *r, struct task *parent,
		struct lkdf_event *done);

/* For stream.c: what a call holds until its end, undone by one of these two. */
int frame_hold(struct lkdf_graph *g, const struct lkdf_run *r,
	       const struct task *parent, struct lkdf_scope **s,
	       struct lkdf_event *done);
void frame_let_go(struct lkdf_graph *g, const struct task *parent,
		  struct lkdf_scope *s, struct lkdf_event *done);
void frame_release(struct lkdf_graph *g, const struct task *parent,
		   struct lkdf_scope *s);

/* A recording has begun while the frame is busy. Under the runtime's lock. */
void frame_tell_graph(struct frame *f);

/* For stream.c: a wave begins, the first in the frame or a later one. */
void frame_init_wave(struct frame *f, struct lkdf_scope *s,
		     const struct lkdf_run *r, uint64_t seq);
void frame_init_counts(struct frame *f, uint64_t seq);

/* The counts and the error of one repetition or wave, upwards. */
int frame_report(struct frame *f);

/*
 * The counts of a run that ended well, for its event: no error, and observed.
 * NULL: they are all 0, or no memory.
 */
struct failure *frame_tell_counts(const struct lkdf_graph *g, uint64_t seq,
				  const struct tally *t);

/* Its own deadline is over, of which the user's scope does not know. */
struct failure *frame_tell_late(struct frame *f);

/* The frame is nobody's any more. */
void frame_set_free(struct frame *f);

/* A task of the frame failed. why may be NULL. */
void frame_fail(struct frame *f, uint32_t task, int returned, const char *why,
		int worker);

/* The run's last task is resolved. Next repetition or the end. */
void frame_end(struct worker *w, struct frame *f);

/* For a run under way; any worker that has one of its tasks. */
static inline bool frame_sane(const struct frame *f)
{
	const struct lkdf_graph *g = f->graph;

	return a_load(&f->is_busy, relaxed) == FRAME_BUSY &&
	       f->index < g->nr_frames && (f->recs || !g->nr_recs) &&
	       f->scope && a_load(&f->first_err, relaxed) <= 0;
}

/* Is it one of its records? */
static inline bool frame_has(const struct frame *f, uint32_t index)
{
	return index < f->graph->nr_recs;
}

/* nr tasks are resolved; ends the run with the last one. */
static inline void frame_resolved(struct worker *w, struct frame *f,
				  uint32_t nr)
{
	check(nr && a_load(&f->remaining, relaxed) >= nr);
	check(frame_sane(f));
	/* [frame.resolved] what the tasks did; pairs with itself. */
	if (a_sub(&f->remaining, nr, acq_rel) == nr)
		frame_end(w, f);
}

/* 0, or why this run's tasks do not start any more. */
static inline int frame_cancelled(const struct frame *f)
{
	return scope_cancelled(f->scope);
}

/* Why a task of this run failed, was skipped or cancelled. */
static inline int frame_error(const struct frame *f)
{
	int rc = a_load(&f->first_err, relaxed);

	if (!rc)
		rc = frame_cancelled(f);
	return rc ? rc : -ECANCELED;
}

/* Nothing has failed, and no task has been counted as anything but run. */
static inline bool frame_is_well(const struct frame *f)
{
	uint64_t nr = 0;
	int i;

	for (i = 0; i < NR_ENDINGS; i++)
		nr |= a_load(&f->tally.nr[i], relaxed);
	return !nr && !a_load(&f->first_err, relaxed) &&
	       !a_load(&f->failure, relaxed);
}

/* The next wave: counts that are as they were begun need no other store. */
static inline void frame_renew(struct frame *f, uint64_t seq)
{
	if (unlikely(f->check != NULL))
		checked_run_again(f);
	f->seq = seq;
	if (unlikely(!frame_is_well(f)))
		frame_init_counts(f, seq);
}

/* See lkdf_graph_set(). -EBUSY: runs are under way. */
int frame_set_arg(struct lkdf_graph *g, uint32_t task, const void *arg);

/* The item of a task; skip: ITEM_SKIP or 0. */
static inline uint64_t item_make(const struct frame *f, uint32_t index,
				 uint32_t skip)
{
	return (uint64_t)index << 32 | f->item | skip;
}

#endif
