/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/burst.h"

#include "base/err.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "mechanism/holdoff/holdoff.h"
#include "run/checked_run.h"
#include "run/control.h"
#include "run/frame_count.h"
#include "run/own_task.h"
#include "run/resolve.h"
#include "run/stream.h"
#include "run/task_claim.h"
#include "task/again.h"
#include "task/kind.h"
#include "task/task.h"

#include <errno.h>

static bool is_always(const struct burst *b, uint32_t index)
{
	return b->recs[index].kind->flags & LKDF_ALWAYS;
}

/* Its work was given together with that of the task before it. */
static bool is_early(struct frame *f, uint32_t index)
{
	return f->recs[index].flags & REC_FOLLOWS &&
	       f->recs[index].kind->ops->chain->is_early(f, index);
}

/* Else the frame's next run would take it for its own. */
static void forget_early(struct frame *f, uint32_t index)
{
	check(frame_has(f, index));
	if (unlikely(f->recs[index].flags & REC_FOLLOWS))
		f->recs[index].kind->ops->chain->forget(f, index);
}

static bool is_hindered(const struct burst *b, uint32_t index)
{
	if (b->hindered & HINDERED_ALL)
		return !is_early(b->f, index);
	return b->hindered && values_are_missing(b->f, index);
}

/* A run that we owe nothing may end, see burst_leave_frame(). */
static void task_resolved(struct burst *b, uint32_t index, int verdict)
{
	check(frame_has(b->f, index));
	b->nr_resolved += resolve_task(b->w, b->f, index, verdict);
	if (unlikely(!b->nr_resolved))
		b->slot = NO_SLOT;
}

static inline void pass_over(struct burst *b, uint32_t index,
			     enum ending ending, bool counts)
{
	check(frame_has(b->f, index));
	if (unlikely(b->rt->check != NULL) && ending != ENDED_UNCHOSEN)
		checked_run_passed(b->f, index);
	if (counts)
		frame_count(b->f, b->w->executor->counters, ending);
	task_resolved(b, index, ending_verdicts[ending]);
}

/* An input failed, or the run is cancelled. */
static void skip_task(struct burst *b, uint32_t index)
{
	bool is_ours = b->recs[index].kind->is_ours;

	forget_early(b->f, index);
	/* The burst's own word may be of before the cancel. */
	if (b->hindered & HINDERED_ALL || frame_cancelled(b->f))
		pass_over(b, index, ENDED_CANCELLED, true);
	else
		pass_over(b, index, ENDED_SKIPPED, !is_ours);
}

void burst_pass_over(struct burst *b, uint32_t index)
{
	bool is_ours = b->recs[index].kind->is_ours;

	pass_over(b, index, ENDED_UNCHOSEN, !b->f->is_dropped && !is_ours);
}

static bool is_unchosen(const struct burst *b, uint32_t index)
{
	return (b->graph->control && control_is_unchosen(b->f, index)) ||
	       (b->f->stream && b->f->is_dropped);
}

/* A task of its own, with its tokens. NULL: it waits for them, or failed. */
static struct task *create_task(struct burst *b, uint32_t index, bool is_dead)
{
	struct executor *ex = b->w->executor;
	struct task *t = own_task_create(ex, b->f, index);
	int rc = -ENOMEM;

	holdoff_end(b->w);
	if (t) {
		t->is_dead = is_dead;
		rc = task_claim_enter(ex, t);
	}
	if (rc > 0 && unlikely(b->f->recs[index].flags & REC_FOLLOWS))
		t->kind->ops->chain->adopt(t);
	if (rc >= 0)
		return rc ? t : NULL;
	forget_early(b->f, index);
	if (t)
		task_destroy(b->rt, ex, t);
	frame_fail(b->f, index, -ENOMEM, "no memory for its task", b->w->id);
	task_resolved(b, index, VERDICT_FAILED);
	return NULL;
}

/* Its work is under way, or done, and resolves it. */
static bool joins_early(struct burst *b, uint32_t index)
{
	const struct chain_ops *chain;

	if (likely(!(b->recs[index].flags & REC_FOLLOWS)))
		return false;
	chain = b->recs[index].kind->ops->chain;
	return chain->joins && chain->joins(b->w->executor, b->f, index);
}

static void start_task(struct burst *b, uint32_t index, bool is_dead)
{
	struct task *t;

	check(frame_has(b->f, index));
	if (joins_early(b, index))
		return;
	t = create_task(b, index, is_dead);
	if (t)
		task_start(b->rt, b->w->executor, t);
}

void burst_start(struct burst *b, uint32_t index)
{
	check(frame_has(b->f, index));
	start_task(b, index, false);
}

bool burst_hinder(struct burst *b, uint32_t index)
{
	check(frame_has(b->f, index));
	if (is_always(b, index))
		start_task(b, index, false);
	else if (is_hindered(b, index))
		skip_task(b, index);
	else
		return false;
	return true;
}

void burst_dead(struct burst *b, uint32_t index)
{
	check(frame_has(b->f, index));
	if (unlikely(is_unchosen(b, index))) {
		burst_pass_over(b, index);
		return;
	}
	if (likely(!is_always(b, index))) {
		skip_task(b, index);
		return;
	}
	start_task(b, index, true);
	/* Somebody else may resolve it and end the run. */
	burst_leave_frame(b);
}

bool burst_end_stream(struct burst *b, uint32_t index)
{
	check(frame_has(b->f, index));
	if (!b->f->stream || b->ctx.after < 0)
		return false;
	stream_end(b->f);
	burst_count(b, 1);
	task_resolved(b, index, VERDICT_UNCHOSEN);
	return true;
}

void burst_run_one(struct burst *b, uint32_t index, bool is_dead)
{
	struct task *t;

	check(frame_has(b->f, index));
	if (is_dead && unlikely(is_unchosen(b, index))) {
		burst_pass_over(b, index);
		return;
	}
	if (!is_always(b, index) && (is_dead || is_hindered(b, index))) {
		skip_task(b, index);
		return;
	}
	if (joins_early(b, index))
		return;
	t = create_task(b, index, is_dead);
	if (t)
		task_run(b->w->executor, t);
}

bool burst_after(struct burst *b, uint32_t index, int rc)
{
	struct lkdf_ctx *c = &b->ctx;
	bool has_why;

	check(frame_has(b->f, index));
	if (unlikely(rc == LKDF_AGAIN && !c->task))
		rc = again_refuse(c);
	has_why = c->has_why;
	c->after = 0;
	c->has_why = false;
	c->has_spawned = false;
	if (c->put_off) {
		c->put_off = false;
		burst_start(b, index);
		return false;
	}
	if (rc < 0 || c->task)
		burst_count(b, 1);
	if (c->task) {
		c->has_why = has_why;
		if (task_after(c, rc) == TASK_COMPLETE)
			task_complete(b->w->executor, c->task);
		c->task = NULL;
		c->leaves = c->has_why = false;
		return false;
	}
	if (rc >= 0)
		return true;
	frame_fail(b->f, index, rc, has_why ? err_text() : NULL, b->w->id);
	task_resolved(b, index, VERDICT_FAILED);
	return false;
}
