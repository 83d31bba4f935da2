/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A burst of work of one worker, and how it treats the tasks of a frame that do
 * not simply run: those that are skipped, and those that get a task of their
 * own. The hot loop is run.c.
 *
 * A kind with LKDF_ALWAYS runs though an input failed or the run is cancelled,
 * then as a task of its own: that is rare, and the hot loop knows nothing of
 * it.
 */
#ifndef RUN_BURST_H
#define RUN_BURST_H

#include "run/frame.h"
#include "sched/sched.h"
#include "task/ctx.h"

#define NO_SLOT UINT32_MAX

enum hindered {
	HINDERED_ALL = 1, /* cancelled */
	HINDERED_SOME = 2, /* those whose data is not there */
};

struct burst {
	struct worker *w;
	struct lkdf *rt;
	struct frame *f; /* whose tasks we run; gone once all are told */
	struct rec *recs; /* f's */
	const struct lkdf_graph *graph; /* f's */
	const struct transient_task
		*transient; /* f's, by index; NULL: has none */
	uint32_t slot; /* of f; NO_SLOT: none */
	uint32_t nr_resolved; /* of f, not yet told */
	uint8_t hindered; /* f: some of its tasks, or all, are skipped */
	/* Records of f that are at home on this node: first and how many. */
	uint32_t home_first, nr_home;
	struct lkdf_ctx ctx;
};

/* Tells the frame before we turn to something else. */
static inline void burst_flush(struct burst *b)
{
	uint32_t nr = b->nr_resolved;

	if (!nr)
		return;
	b->nr_resolved = 0;
	frame_resolved(b->w, b->f, nr);
}

static inline void burst_count(struct burst *b, uint64_t nr)
{
	counter_add(b->w->executor->counters, COUNTER_BODIES, nr);
}

/*
 * A task's body may take long: the frame is told first, so its run may end and
 * what we know of it is stale. A link may also belong to the frame's next run.
 */
static inline void burst_leave_frame(struct burst *b)
{
	burst_flush(b);
	b->slot = NO_SLOT;
}

static inline uint8_t burst_hindered(const struct frame *f)
{
	return (frame_cancelled(f) ? HINDERED_ALL : 0) |
	       (f->values.is_poisoned ? HINDERED_SOME : 0);
}

/* The kind needs a task of its own; without memory the task fails. */
void burst_start(struct burst *b, uint32_t index);

/* For a frame that is hindered. True: it does not run here. */
bool burst_hinder(struct burst *b, uint32_t index);

/*
 * No branch has chosen it: that is no failure. Tells its successors, and the
 * run may be over then, see burst_leave_frame().
 */
void burst_pass_over(struct burst *b, uint32_t index);

/* An input failed or was skipped. */
void burst_dead(struct burst *b, uint32_t index);

/*
 * Error, children, continuation of a body. True: resolved and live, go on as
 * usual. False: somebody else may resolve it and end the run.
 */
bool burst_after(struct burst *b, uint32_t index, int rc);

/* A body has returned LKDF_END. True: it is resolved, its wave is dropped. */
bool burst_end_stream(struct burst *b, uint32_t index);

/* This task, dead or not, and none that follows: it is over afterwards. */
void burst_run_one(struct burst *b, uint32_t index, bool is_dead);

#endif
