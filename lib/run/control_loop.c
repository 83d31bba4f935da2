/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The modes of graphs with branches and loops. */
#include "run/mode.h"

#include "run/choose.h"
#include "run/enter.h"
#include "run/region_run.h"
#include "run/sources.h"
#include "run/tell.h"

#include <errno.h>

/* Its loop may have ended. Returns the task to run next. */
static __attribute__((noinline)) uint32_t
close_loop(struct burst *b, uint32_t l, uint32_t nr, uint32_t next)
{
	uint32_t head, nr_resolved = 0;

	if (!control_close(b->f, l, nr))
		return next;
	head = control_end_loop(b->w, b->f, l, &nr_resolved);
	b->nr_resolved += nr_resolved;
	return head == NO_TASK
		       ? next
		       : chain_take_or_push(b, &b->recs[head], head, next);
}

/* Edges of a task with REC_CONTROL that has returned value, in their order,
 * see lib/seal/edge_order.h. */
static inline __attribute__((always_inline)) uint32_t
fire_edges(struct burst *b, const struct rec *r, int value)
{
	const struct control *c = b->graph->control;
	const struct control_edge *e = c->out + r->succ[0];
	const struct control_edge *end = e + r->succ[1];
	uint32_t next = NO_TASK, nr_closed = 0;
	uint32_t loop = c->loop_of[b->ctx.index];

	if (e->choice)
		next = choose_arms(b, r, value, &nr_closed);
	else
		for (; e < end; e++)
			next = tell_edge(b, e, value, next, &nr_closed);
	return nr_closed ? close_loop(b, loop, nr_closed, next) : next;
}

/* The body has returned value: what follows. Returns the task to run next. */
static inline __attribute__((always_inline)) uint32_t
fire_control(struct burst *b, const struct rec *r, int value)
{
	uint32_t next = NO_TASK, nr, i;
	const uint32_t *succ;

	if (r->nr_succ == REC_CONTROL)
		return fire_edges(b, r, value);
	succ = graph_succ(b->graph, r, &nr);
	for (i = 0; i < nr; i++)
		next = tell_successor(b, succ[i], 0, VERDICT_LIVE, next);
	return next;
}

/* A body may return what is no branch of the task. */
static inline __attribute__((always_inline)) int
check_value(struct burst *b, const struct rec *r, uint32_t index, int value)
{
	uint8_t nr_dense;

	if (value < 0 || r->nr_succ != REC_CONTROL)
		return value;
	nr_dense = b->graph->control->out[r->succ[0]].nr_dense;
	if (likely(nr_dense == CONTROL_ANY_VALUE || value < nr_dense))
		return value;
	if (!control_check(b->f, index, value))
		return value;
	b->ctx.has_why = true;
	return -ERANGE;
}

static inline bool has_hooks(const struct burst *b)
{
	return b->graph->ports && b->graph->ports->has_hooks;
}

/* The body; false: the task is resolved, or somebody else's now. */
static inline __attribute__((always_inline)) bool
call_body(struct burst *b, const struct rec *r, uint32_t index, int *value)
{
	enum before how = chain_look(b, r->kind);
	struct lkdf_ctx *c = &b->ctx;
	bool is_transient;
	int rc;

	c->index = index;
	if (unlikely(how == BEFORE_LOOK)) {
		how = chain_before(b, index);
		if (how == BEFORE_TAKEN)
			return false;
	}
	rc = chain_call(b, r, how, CHAIN_TRANSIENT | CHAIN_CONTROL,
			&is_transient);
	if (unlikely(rc == LKDF_END) && burst_end_stream(b, index))
		return false;
	rc = check_value(b, r, index, rc);
	if (unlikely((rc | c->after) < 0) && !burst_after(b, index, rc))
		return false;
	if (is_transient)
		transient_called(c, &b->transient[index]);
	*value = rc;
	return true;
}

/* The task is resolved, its token passed on. Returns the task to run next. */
static inline __attribute__((always_inline)) uint32_t
tell_others(struct burst *b, const struct rec *r, int value)
{
	bool is_member = r->flags & REC_MEMBER;
	bool has_token = r->flags & REC_TOKEN && !is_member;
	uint32_t next;

	b->nr_resolved += !is_member;
	next = fire_control(b, r, value);
	if (unlikely(has_token))
		resolve_pass_token(b->w, b->f, b->ctx.index);
	return next;
}

/*
 * The task of the same frame that our deque has on top; NO_TASK: there is none,
 * or *item is to be run next. plain_item: of that frame, which may be gone.
 */
static inline __attribute__((always_inline)) uint32_t
pop_task(struct burst *b, uint32_t plain_item, uint64_t *item,
	 const struct run_mode *mode)
{
	struct worker *w = b->w;

	if (worker_should_look(w) || a_load(&w->other_classes, relaxed) ||
	    !deque_pop(&w->deque[CLASS_NORMAL], item))
		return NO_TASK;
	w->looks.nr_picks++;
	if (unlikely((uint32_t)*item != plain_item))
		return NO_TASK;
	/* In this slot may be another frame by now. */
	if (!b->nr_resolved) {
		enter_frame(b, slots_frame(b->rt, item_slot(*item)));
		if (unlikely(b->f->mode != mode))
			return NO_TASK;
	}
	return item_index(*item);
}

/* How a task goes on. */
enum step {
	STEP_NEXT, /* *index is next, or NO_TASK */
	STEP_TURN, /* all else has its turn */
	STEP_AWAY, /* a task is somebody else's now */
};

static enum step step_of(enum region_end end)
{
	if (end == REGION_NEXT)
		return STEP_NEXT;
	return end == REGION_TURN ? STEP_TURN : STEP_AWAY;
}

/* The task runs, or iterations of the loop whose head it is do. */
static inline __attribute__((always_inline)) enum step
run_task(struct burst *b, uint32_t *index, uint32_t *nr_run,
	 const bool has_regions)
{
	const struct region *region = has_regions ? region_at(b, *index) : NULL;
	enum region_end end = REGION_READY;
	struct rec *r;
	int value;

	if (region)
		end = region_run(b, region, index, nr_run, &value);
	if (end > REGION_RAN)
		return step_of(end);
	r = &b->recs[*index];
	if (end == REGION_READY && unlikely(!call_body(b, r, *index, &value)))
		return STEP_AWAY;
	++*nr_run;
	if (unlikely(has_hooks(b)))
		port_resolved(b->f, *index, true);
	*index = tell_others(b, r, value);
	return STEP_NEXT;
}

/*
 * As run_chain() of plain.c. A loop may never end, so all else has its turn
 * every CONTROL_TURNS tasks. A member owes its frame nothing until its loop has
 * ended: where we owe nothing the run may be over once successors are told.
 */
static inline __attribute__((always_inline)) uint64_t
go_through(struct burst *b, uint32_t index, const struct run_mode *mode,
	   const bool has_regions)
{
	const uint32_t plain_item = (uint32_t)item_make(b->f, 0, 0);
	enum step step;
	uint32_t nr_run = 0;
	uint64_t item = 0;

	for (;;) {
		step = run_task(b, &index, &nr_run, has_regions);
		if (unlikely(step != STEP_NEXT))
			break;
		if (index != NO_TASK) {
			if (likely(nr_run % CONTROL_TURNS))
				continue;
			resolve_push(b->w, b->f, index, 0);
			break;
		}
		index = pop_task(b, plain_item, &item, mode);
		if (index == NO_TASK)
			break;
		item = 0;
	}
	burst_count(b, nr_run);
	if (step == STEP_AWAY || !b->nr_resolved)
		burst_leave_frame(b);
	return item;
}

static HOT_LOOP uint64_t run_control(struct burst *b, uint32_t index)
{
	return go_through(b, index, &control_mode, false);
}

static HOT_LOOP uint64_t run_regions(struct burst *b, uint32_t index)
{
	return go_through(b, index, &regions_mode, true);
}

static bool has_branches(struct worker *w, struct frame *f)
{
	(void)w;
	return f->graph->control != NULL;
}

static bool has_loop_regions(struct worker *w, struct frame *f)
{
	return has_branches(w, f) && f->graph->control->regions;
}

const struct run_mode control_mode = {
	.name = "control",
	.is_for = has_branches,
	.run = run_control,
	.start = sources_take,
};

const struct run_mode regions_mode = {
	.name = "regions",
	.is_for = has_loop_regions,
	.run = run_regions,
	.start = sources_take,
};
