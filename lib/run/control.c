/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/control.h"

#include "base/err.h"
#include "core/item.h"
#include "data/data.h"
#include "data/replica.h"
#include "graph/access.h"
#include "graph/port.h"
#include "run/always.h"
#include "run/frame.h"
#include "run/frame_count.h"
#include "run/resolve.h"
#include "run/solo_run.h"
#include "run/stream.h"
#include "sched/worker.h"
#include "trace/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a run's part ------------------------------------------------------- */

static void arm_loop(const struct graph_loop *l, struct loop_run *r)
{
	a_store(&r->goes_back, 0, relaxed);
	a_store(&r->leaves, 0, relaxed);
	a_store(&r->has_failed, 0, relaxed);
	plain_store(&r->entry, VERDICT_LIVE);
	/* Relaxed: those who come next come after what we tell. */
	a_store(&r->nr_backs, l->nr_backs, relaxed);
}

int control_run_create(struct frame *f)
{
	const struct control *c = f->graph->control;
	uint32_t l;

	if (!c->nr_loops)
		return 0;
	f->control.loops = calloc(c->nr_loops, sizeof(*f->control.loops));
	f->control.taken = calloc(c->nr_exits + 1ul, sizeof(*f->control.taken));
	if (!f->control.loops || !f->control.taken)
		return err(-ENOMEM, "graph %s: no memory for a run's loops",
			   f->graph->name);
	for (l = 0; l < c->nr_loops; l++)
		arm_loop(&c->loops[l], &f->control.loops[l]);
	return 0;
}

void control_run_destroy(struct frame *f)
{
	free(f->control.loops);
	free(f->control.taken);
}

/* ---- arrivals ----------------------------------------------------------- */

void control_push(struct worker *w, struct frame *f, uint32_t index,
		  int verdict)
{
	check(frame_has(f, index));
	if (verdict == VERDICT_UNCHOSEN)
		a_or(&f->recs[index].pending, REC_UNCHOSEN, relaxed);
	resolve_push(w, f, index, verdict < 0 ? ITEM_SKIP : 0);
}

bool control_is_unchosen(struct frame *f, uint32_t index)
{
	_Atomic(uint32_t) *pending = &f->recs[index].pending;

	check(frame_has(f, index));
	if (!(a_load(pending, relaxed) & REC_UNCHOSEN))
		return false;
	a_and(pending, ~REC_UNCHOSEN, relaxed);
	return true;
}

void control_arrive(struct worker *w, struct frame *f, uint32_t to,
		    uint8_t flags, int verdict)
{
	struct rec *r = &f->recs[to];
	uint32_t all;

	if (r->nr_in != 1) {
		if (!rec_arrive_control(r, control_arrival(flags, verdict),
					&all))
			return;
		rec_rearm(r, graph_nr_in(f->graph, r, to));
		verdict = control_verdict(r, all);
	}
	if (unlikely(f->stream) && stream_takes(w, f, to))
		return;
	control_push(w, f, to, verdict);
}

/* ---- loops -------------------------------------------------------------- */

void control_leave(struct frame *f, const struct control_edge *e)
{
	const struct control *c = f->graph->control;
	uint32_t l = c->loop_of[e->from];

	a_store(&f->control.taken[e->to], 1, relaxed);
	for (;;) {
		a_store(&f->control.loops[l].leaves, 1, relaxed);
		if (l == e->loop)
			return;
		l = c->loops[l].parent;
	}
}

void control_tell_back(struct frame *f, const struct control_edge *e,
		       bool is_taken)
{
	if (is_taken)
		a_store(&f->control.loops[e->loop].goes_back, 1, relaxed);
	if (e->flags & CONTROL_PORT)
		port_tell(&f->port, e->live, is_taken);
}

bool control_close(struct frame *f, uint32_t l, uint32_t nr)
{
	struct loop_run *r = &f->control.loops[l];

	check(l < f->graph->control->nr_loops && nr);
	if (f->graph->control->loops[l].has_one_latch)
		return true;
	/* [loop.latch] what the members have done; pairs with itself. */
	return a_sub(&r->nr_backs, nr, acq_rel) == nr;
}

/* How the loop has ended, for what leaves it. */
static int loop_verdict(const struct loop_run *r)
{
	if (plain_load(&r->entry) != VERDICT_LIVE)
		return plain_load(&r->entry);
	return a_load(&r->has_failed, relaxed) ? VERDICT_FAILED : VERDICT_LIVE;
}

/*
 * The verdict that passes the edge. Between the same two tasks may be another
 * one, of data, that does not pass a failure on.
 */
static int edge_passes(struct frame *f, const struct control_edge *e,
		       int verdict, bool is_taken)
{
	verdict = control_passes(e->flags, verdict, is_taken);
	return e->flags & CONTROL_GIVEN
		       ? verdict
		       : resolve_passes(f, e->from, e->task, verdict);
}

static int exit_verdict(struct frame *f, const struct control_edge *e,
			uint32_t exit, int verdict)
{
	bool is_taken = a_load(&f->control.taken[exit], relaxed);

	a_store(&f->control.taken[exit], 0, relaxed);
	return edge_passes(f, e, verdict, is_taken);
}

/*
 * Tells the edges that leave the loop. The loop around it waits for all of
 * this, so nobody comes back to an exit before. True: that loop has ended, too.
 */
static bool tell_exits(struct worker *w, struct frame *f,
		       const struct graph_loop *l, int how)
{
	const struct control *c = f->graph->control;
	/* With the last exit told, run and graph may be gone. */
	uint32_t i = l->first_exit, end = i + l->nr_exits, nr_closed = 0;
	int verdict;

	for (; i < end; i++) {
		verdict = exit_verdict(f, &c->exits[i], i, how);
		if (c->exits[i].flags & CONTROL_PORT)
			port_tell(&f->port, c->exits[i].live,
				  verdict == VERDICT_LIVE);
		if (!(c->exits[i].flags & CONTROL_BACK)) {
			control_arrive(w, f, c->exits[i].to, c->exits[i].flags,
				       verdict);
			continue;
		}
		if (verdict == VERDICT_LIVE)
			a_store(&f->control.loops[l->parent].goes_back, 1,
				relaxed);
		nr_closed++;
	}
	return nr_closed && control_close(f, l->parent, nr_closed);
}

/* A cancel after the last body counts the head that does not run again. */
static bool is_cancelled(struct worker *w, struct frame *f, struct loop_run *r)
{
	if (likely(!frame_cancelled(f)))
		return false;
	frame_count(f, w->executor->counters, ENDED_CANCELLED);
	a_store(&r->has_failed, 1, relaxed);
	return true;
}

/*
 * All members are resolved, and whoever else reduces into these comes before
 * the loop or after it: we are alone with the copies. False: a function has
 * failed.
 */
static bool combine_copies(struct worker *w, struct frame *f, uint32_t l)
{
	const struct control *c = f->graph->control;
	const struct loop_fold *fold = c->folds + c->loops[l].first_fold;
	const struct loop_fold *end = fold + c->loops[l].nr_folds;
	int rc = 0;

	for (; fold < end && !rc; fold++) {
		data_will_write(fold->copies->data);
		rc = reduction_combine(fold->copies);
		if (!rc)
			continue;
		frame_fail(f, fold->task, rc, NULL, w->id);
		a_store(&f->control.loops[l].has_failed, 1, relaxed);
	}
	return !rc;
}

static bool goes_again(struct worker *w, struct frame *f, uint32_t l)
{
	struct loop_run *r = &f->control.loops[l];

	return a_load(&r->goes_back, relaxed) && !a_load(&r->leaves, relaxed) &&
	       !a_load(&r->has_failed, relaxed) &&
	       plain_load(&r->entry) == VERDICT_LIVE &&
	       !is_cancelled(w, f, r) &&
	       (likely(!f->graph->control->loops[l].nr_folds) ||
		combine_copies(w, f, l));
}

/* Its next entry has no value that came round. */
static void forget_values(struct frame *f, const struct graph_loop *l)
{
	const uint32_t *live = f->graph->control->back_ports + l->first_back;
	uint32_t i;

	for (i = 0; i < l->nr_back_ports; i++)
		port_tell(&f->port, live[i], false);
}

void control_over(struct frame *f, uint32_t l)
{
	check(l < f->graph->control->nr_loops);
	a_store(&f->control.loops[l].leaves, 0, relaxed);
	forget_values(f, &f->graph->control->loops[l]);
}

/* The loop is over: its failure is that of the loop around it. */
static bool leave_loop(struct worker *w, struct frame *f, uint32_t l,
		       uint32_t *nr)
{
	const struct graph_loop *loop = &f->graph->control->loops[l];
	struct loop_run *r = &f->control.loops[l];
	int how = loop_verdict(r);

	if (loop->parent == NO_LOOP)
		*nr += loop->nr_members;
	else if (a_load(&r->has_failed, relaxed))
		a_store(&f->control.loops[loop->parent].has_failed, 1, relaxed);
	/* With the last exit the loop may be entered anew. */
	arm_loop(loop, r);
	forget_values(f, loop);
	if (loop->parent == NO_LOOP && f->recs[loop->head].flags & REC_TOKEN)
		resolve_pass_token(w, f, loop->head);
	return tell_exits(w, f, loop, how);
}

uint32_t control_end_loop(struct worker *w, struct frame *f, uint32_t l,
			  uint32_t *nr)
{
	const struct control *c = f->graph->control;

	for (;;) {
		if (goes_again(w, f, l)) {
			arm_loop(&c->loops[l], &f->control.loops[l]);
			counter_add(w->executor->counters, COUNTER_ITERATIONS,
				    1);
			if (c->loops[l].is_judged)
				solo_run_turn(w, f);
			return c->loops[l].head;
		}
		if (!leave_loop(w, f, l, nr))
			return NO_TASK;
		l = c->loops[l].parent;
	}
}

/* ---- one task ----------------------------------------------------------- */

/* Before the task tells others. */
static void note_member(struct frame *f, uint32_t index, int verdict)
{
	uint32_t l = f->graph->control->loop_of[index];
	struct loop_run *r = &f->control.loops[l];

	check(frame_has(f, index));
	if (verdict >= 0)
		return;
	if (f->graph->control->loops[l].head == index)
		plain_store(&r->entry, (int8_t)verdict);
	if (verdict_row(verdict)->fails_loop)
		a_store(&r->has_failed, 1, relaxed);
}

static void tell_edge(struct worker *w, struct frame *f,
		      const struct control_edge *e, int verdict, bool is_taken)
{
	verdict = edge_passes(f, e, verdict, is_taken);
	if (e->flags & CONTROL_PORT)
		port_tell(&f->port, e->live, verdict >= 0);
	control_arrive(w, f, e->to, e->flags, verdict);
}

/*
 * Edges of a task with REC_CONTROL, in their order, see lib/seal/edge_order.h.
 * Returns the number of those that close its loop.
 */
static uint32_t tell_edges(struct worker *w, struct frame *f,
			   const struct rec *r, int verdict)
{
	const struct control *c = f->graph->control;
	const struct control_edge *e = c->out + r->succ[0];
	const struct control_edge *end = e + r->succ[1];
	uint32_t nr_closed = 0;
	bool is_taken;

	for (; e < end; e++) {
		is_taken = verdict >= 0 && control_takes(verdict, e->branch);
		if (e->flags & CONTROL_EXIT) {
			if (is_taken)
				control_leave(f, e);
		} else if (e->flags & CONTROL_BACK) {
			control_tell_back(f, e, is_taken);
			nr_closed++;
		} else {
			tell_edge(w, f, e, verdict, is_taken);
		}
	}
	return nr_closed;
}

static void tell_successors(struct worker *w, struct frame *f, uint32_t index,
			    int verdict)
{
	const uint32_t *succ;
	uint32_t nr, i;

	succ = graph_succ(f->graph, &f->recs[index], &nr);
	for (i = 0; i < nr; i++)
		control_arrive(w, f, succ[i], 0,
			       resolve_passes(f, index, succ[i], verdict));
}

uint32_t control_resolve(struct worker *w, struct frame *f, uint32_t index,
			 int verdict)
{
	const struct rec *r = &f->recs[index];
	bool is_member = r->flags & REC_MEMBER;
	uint32_t nr = !is_member, nr_closed = 0, l, head;

	check(frame_has(f, index));
	if (f->graph->ports && f->graph->ports->has_hooks)
		port_resolved(f, index, verdict >= 0);
	if (is_member)
		note_member(f, index, verdict);
	if (r->nr_succ == REC_CONTROL)
		nr_closed = tell_edges(w, f, r, verdict);
	else
		tell_successors(w, f, index, verdict);
	if (!nr_closed)
		return nr;
	l = f->graph->control->loop_of[index];
	if (!control_close(f, l, nr_closed))
		return nr;
	head = control_end_loop(w, f, l, &nr);
	if (head != NO_TASK)
		resolve_push(w, f, head, 0);
	return nr;
}

/* ---- what a body may return --------------------------------------------- */

static bool has_branch(const uint16_t *number, uint32_t nr, int branch)
{
	return branches_find(number, nr, (uint32_t)branch) < nr;
}

/* Returned: LKDF_BRANCHES(), each of which is to be there. */
static bool has_branches(const uint16_t *number, uint32_t nr, int value)
{
	int branch;

	for (branch = 0; branch < CONTROL_SEVERAL; branch++)
		if (value >> branch & 1 && !has_branch(number, nr, branch))
			return false;
	return true;
}

static int refuse_branch(const struct frame *f, uint32_t index,
			 const uint16_t *number, uint32_t nr, int value)
{
	char name[NAME_SIZE], list[100] = "";
	size_t used = 0;
	uint32_t i;

	check(frame_has(f, index));
	for (i = 0; i < nr && used + 8 < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used,
					 "%s%u", used ? ", " : "", number[i]);
	return err(-ERANGE, "%s returned %#x, which is no branch of it: %s%s",
		   graph_task_name(f->graph, graph_number(f->graph, index),
				   name, sizeof(name)),
		   (unsigned)value, list, i == nr ? "" : " ...");
}

int control_check(const struct frame *f, uint32_t index, int value)
{
	const struct rec *r = &f->recs[index];
	const struct control *c = f->graph->control;
	const struct branches *b;
	const uint16_t *number;
	uint32_t at;

	check(frame_has(f, index));
	if (r->nr_succ != REC_CONTROL || value == LKDF_NO_BRANCH)
		return 0;
	at = c->out[r->succ[0]].branches;
	if (!at)
		return 0;
	b = &c->branches[at - 1];
	number = &c->branch[b->first];
	if (value <= UINT16_MAX
		    ? has_branch(number, b->nr, value)
		    : value >= 0x20000000 && value < LKDF_NO_BRANCH &&
			      has_branches(number, b->nr, value))
		return 0;
	return refuse_branch(f, index, number, b->nr, value);
}
