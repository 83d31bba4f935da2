/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/control_loop.h"

#include "graph/port.h"
#include "run/chain.h"
#include "run/control.h"
#include "run/enter.h"
#include "run/region_run.h"

#include <errno.h>

/*
 * An edge to the task is resolved. Returns the task to run next. *passed: a
 * task that no branch has chosen, or NO_TASK; the others of them are pushed.
 */
static inline __attribute__((always_inline)) uint32_t
tell_successor(struct burst *b, uint32_t to, uint8_t flags, int verdict,
	       uint32_t next, uint32_t *passed)
{
	struct rec *m = &b->recs[to];
	uint32_t all;

	if (m->nr_in != 1) {
		if (!rec_arrive_control(m, control_arrival(flags, verdict),
					&all))
			return next;
		rec_rearm(m, graph_nr_in(b->graph, m, to));
		verdict = control_verdict(m, all);
	}
	if (likely(verdict >= 0))
		return chain_take_or_push(b, m, to, next);
	if (verdict == VERDICT_UNCHOSEN && *passed == NO_TASK)
		*passed = to;
	else
		control_push(b->w, b->f, to, verdict);
	return next;
}

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

/* Whether the branch is not taken alone decides that its target is not chosen.
 */
static inline bool passes_alone(const struct burst *b,
				const struct control_edge *e, bool is_taken)
{
	return e->flags & CONTROL_BRANCH && !is_taken &&
	       b->recs[e->to].nr_in == 1;
}

/* Arms of a choice that are not chosen, and the one task that they lead to. */
struct arms {
	uint32_t nr, nr_owed; /* to the frame: no members of loops */
	uint32_t to;
};

/* Nothing else is due than to count the task, and to arrive at the join. */
static bool joins_simply(const struct burst *b, uint32_t index, uint32_t *to)
{
	const struct control *c = b->graph->control;
	const struct rec *r = &b->recs[index];
	const struct control_edge *e;

	if (r->nr_succ != REC_CONTROL || r->succ[1] != 1 ||
	    r->flags & REC_TOKEN || r->kind->is_ours)
		return false;
	if (r->flags & REC_MEMBER && c->loops[c->loop_of[index]].head == index)
		return false;
	e = c->out + r->succ[0];
	*to = e->to;
	return (e->flags & ~CONTROL_BRANCH) == CONTROL_COUNTS &&
	       b->recs[e->to].nr_in != 1;
}

static bool add_arm(const struct burst *b, struct arms *a, uint32_t index)
{
	uint32_t to;

	if (b->graph->accesses || b->f->stream || !joins_simply(b, index, &to))
		return false;
	if (a->nr && a->to != to)
		return false;
	a->to = to;
	a->nr++;
	a->nr_owed += !(b->recs[index].flags & REC_MEMBER);
	return true;
}

/* All of them at once; the run may be over afterwards. */
static void tell_join(struct burst *b, const struct arms *a)
{
	struct counters *c = b->w->executor->counters;
	struct rec *m = &b->recs[a->to];
	uint32_t all;

	counter_add(c, ending_rows[ENDED_UNCHOSEN].counter, a->nr);
	a_add(&b->f->tally.nr[ENDED_UNCHOSEN], a->nr, relaxed);
	b->nr_resolved += a->nr_owed;
	if (!b->nr_resolved)
		b->slot = NO_SLOT;
	if (!rec_arrive_unchosen(m, a->nr, &all))
		return;
	rec_rearm(m, graph_nr_in(b->graph, m, a->to));
	control_push(b->w, b->f, a->to, control_verdict(m, all));
}

/*
 * Tasks that these edges lead to, nr of them, are not chosen. The last one may
 * close the loop or end the run, and then the graph may be gone.
 */
static __attribute__((noinline)) void
pass_arms(struct burst *b, const struct control_edge *e, int value, uint32_t nr)
{
	struct arms arms = { .nr = 0 };

	for (; nr; e++) {
		if (e->flags & (CONTROL_EXIT | CONTROL_BACK) ||
		    !passes_alone(b, e, control_takes(value, e->branch)))
			continue;
		nr--;
		if (!add_arm(b, &arms, e->to))
			burst_pass_over(b, e->to);
	}
	if (arms.nr)
		tell_join(b, &arms);
}

/* Edges of a task with REC_CONTROL that has returned value. */
static inline __attribute__((always_inline)) uint32_t
fire_edges(struct burst *b, const struct rec *r, int value)
{
	const struct control *c = b->graph->control;
	const struct control_edge *e = c->out + r->succ[0];
	const struct control_edge *end = e + r->succ[1];
	uint32_t next = NO_TASK, nr_closed = 0, loop = 0, passed = NO_TASK;
	uint32_t nr_arms = 0;
	bool is_taken;

	for (; e < end; e++) {
		is_taken = control_takes(value, e->branch);
		if (unlikely(e->flags & CONTROL_EXIT)) {
			if (is_taken)
				control_leave(b->f, e);
		} else if (e->flags & CONTROL_BACK) {
			control_tell_back(b->f, e, is_taken);
			loop = e->loop;
			nr_closed++;
		} else {
			is_taken |= !(e->flags & CONTROL_BRANCH);
			if (unlikely(e->flags & CONTROL_PORT))
				port_tell(&b->f->port, e->live, is_taken);
			if (passes_alone(b, e, is_taken)) {
				nr_arms++;
				continue;
			}
			next = tell_successor(b, e->to, e->flags,
					      is_taken ? VERDICT_LIVE
						       : VERDICT_UNCHOSEN,
					      next, &passed);
		}
	}
	/* They may close the loop, which all our edges have been told of. */
	if (passed != NO_TASK)
		burst_pass_over(b, passed);
	if (nr_arms)
		pass_arms(b, b->graph->control->out + r->succ[0], value,
			  nr_arms);
	return nr_closed ? close_loop(b, loop, nr_closed, next) : next;
}

/* The body has returned value: what follows. Returns the task to run next. */
static inline __attribute__((always_inline)) uint32_t
fire_control(struct burst *b, const struct rec *r, int value)
{
	uint32_t next = NO_TASK, nr, i, passed = NO_TASK;
	const uint32_t *succ;

	if (r->nr_succ == REC_CONTROL)
		return fire_edges(b, r, value);
	succ = graph_succ(b->graph, r, &nr);
	for (i = 0; i < nr; i++)
		next = tell_successor(b, succ[i], 0, VERDICT_LIVE, next,
				      &passed);
	if (unlikely(passed != NO_TASK))
		burst_pass_over(b, passed);
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
pop_task(struct burst *b, uint32_t plain_item, uint64_t *item)
{
	struct worker *w = b->w;

	if (worker_should_look(w) || w->other_classes ||
	    !deque_pop(&w->deque[CLASS_NORMAL], item))
		return NO_TASK;
	w->nr_picks++;
	if (unlikely((uint32_t)*item != plain_item))
		return NO_TASK;
	/* In this slot may be another frame by now. */
	if (!b->nr_resolved) {
		enter_frame(b, slots_frame(b->rt, item_slot(*item)));
		if (unlikely(!b->graph->control))
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
run_task(struct burst *b, uint32_t *index, uint32_t *nr_run)
{
	const struct region *region = region_at(b, *index);
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
 * As run_chain() of run.c. A loop may never end, so all else has its turn every
 * CONTROL_TURNS tasks. A member owes its frame nothing until its loop has
 * ended: where we owe nothing the run may be over once successors are told.
 */
HOT_LOOP uint64_t run_control(struct burst *b, uint32_t index)
{
	const uint32_t plain_item = (uint32_t)item_make(b->f, 0, 0);
	enum step step;
	uint32_t nr_run = 0;
	uint64_t item = 0;

	for (;;) {
		step = run_task(b, &index, &nr_run);
		if (unlikely(step != STEP_NEXT))
			break;
		if (index != NO_TASK) {
			if (likely(nr_run % CONTROL_TURNS))
				continue;
			resolve_push(b->w, b->f, index, 0);
			break;
		}
		index = pop_task(b, plain_item, &item);
		if (index == NO_TASK)
			break;
		item = 0;
	}
	burst_count(b, nr_run);
	if (step == STEP_AWAY || !b->nr_resolved)
		burst_leave_frame(b);
	return item;
}
