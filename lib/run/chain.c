/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/chain.h"

#include "core/home.h"
#include "mechanism/holdoff/holdoff.h"
#include "run/planned.h"
#include "scope/deadline.h"
#include "task/gate.h"

/*
 * A record with a place waits there, and planned work where far.h knows it. A
 * run with a deadline, its own or a scope's, has no time to wait.
 */
static struct gate_item item_to_wait(const struct burst *b, uint32_t index)
{
	struct gate_item i = { .item = item_make(b->f, index, 0),
			       .node = GATE_HERE };
	uint32_t flags = b->recs[index].flags;
	uint16_t home;

	if ((flags & REC_CLASS) > CLASS_HIGH)
		return (struct gate_item){ .why = GATE_PASS_URGENT };
	if (deadline_is_ahead(b->f->scope))
		return (struct gate_item){ .why = GATE_PASS_DEADLINE };
	i.ring = item_is_planned(i.item)
			 ? GATE_PLANNED
			 : (enum gate_ring_id)(flags & REC_CLASS);
	if (!(flags & REC_PLACED))
		return i;
	home = planned_home(b->f, index);
	i.node = home_node(home);
	if (home_is_bound(home))
		i.ring = GATE_BOUND;
	return i;
}

enum before chain_before(struct burst *b, uint32_t index)
{
	struct lkdf_kind *k = b->recs[index].kind;
	uint32_t slow = a_load(&k->slow, relaxed);
	bool is_short = !(slow & ~SLOW_BUT_SHORT);
	struct worker *w = b->w;

	check(frame_has(b->f, index));
	if (a_load(&w->attn, relaxed) & ATTN_LOOK) {
		/* [run.look] the news; pairs with [sched.look]. */
		a_and(&w->attn, ~ATTN_LOOK, seq_cst);
		b->hindered = burst_hindered(b->f);
	}
	if (b->hindered && burst_hinder(b, index))
		return BEFORE_TAKEN;
	if (slow & SLOW_GENERAL) {
		burst_start(b, index);
		return BEFORE_TAKEN;
	}
	if (gate_concerns(w, slow) &&
	    !gate_before(w, k, slow, item_to_wait(b, index)))
		return BEFORE_TAKEN;
	if (!is_short || worker_has_private(w))
		worker_offer(w, is_short, a_load(&k->body_ticks, relaxed));
	return slow & ~SLOW_GATED ? BEFORE_TIME : BEFORE_RUN;
}

/* It would be the youngest that is private: the token has just been passed. */
uint64_t chain_keep_stage(struct burst *b, uint32_t stage, uint32_t next)
{
	const struct lkdf_graph *g = b->graph;
	struct lkdf_kind *k = b->recs[stage].kind;
	struct deque *d = &b->w->deque[CLASS_NORMAL];
	uint32_t to = (b->f->index + graph_stride(g, k)) % g->nr_frames;
	uint64_t item = item_make(&g->frames[to], stage, 0);

	check(frame_has(b->f, stage) && frame_has(b->f, next));
	if (!b->f->stream || holdoff_is_on(b->w) ||
	    !policy_keep_stage(a_load(&k->body_ticks, relaxed),
			       b->w->sched->share_ticks))
		return 0;
	/* Another one may come of it, if somebody publishes what lies there. */
	if (!deque_has_private(d) || deque_at(d, deque_head(d) - 1) != item ||
	    !deque_pop(d, &item))
		return 0;
	if (!deque_push(d, item_make(b->f, next, 0)))
		resolve_overflow(b->w, b->f, next, 0);
	return item;
}

uint32_t chain_push_special(struct burst *b, const struct rec *m,
			    uint32_t index, uint32_t next)
{
	check(frame_has(b->f, index));
	if (next == NO_TASK && (m->flags & REC_CLASS) == CLASS_NORMAL &&
	    index - b->home_first < b->nr_home)
		return index;
	resolve_push(b->w, b->f, index, 0);
	return next;
}
