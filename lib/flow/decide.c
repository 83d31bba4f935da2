/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "flow/decide.h"

#include "flow/kind.h"

void decide_spill(struct worker *w, struct frame *f, uint32_t index,
		  uint32_t skip)
{
	uint32_t entry = index << 1 | (skip ? 1 : 0);
	uint32_t head = a_load(&f->spill, relaxed);

	counter_add(w->executor->counters, COUNTER_OVERFLOWS, 1);
	do {
		if (f->spill_next)
			f->spill_next[index] = head;
		else
			a_store(&f->recs[index].pending, head, relaxed);
		/* [spill.push] the link before the head; pairs with
		 * [spill.take]. */
	} while (!a_cas(&f->spill, &head, entry, release, relaxed));
	if (head == NO_SPILL) {
		inbox_push(&w->node->inbox, &f->spill_link);
		park_notify(&w->sched->park);
	}
}

void decide_push(struct worker *w, struct frame *f, uint32_t index,
		 uint32_t skip)
{
	enum sched_class class = f->recs[index].flags & REC_CLASS;

	if (unlikely(!worker_push(w, class, item_make(f, index, skip))))
		decide_spill(w, f, index, skip);
}

/* What found no room in a deque, all of it at once. */
void decide_spilled(struct worker *w, struct frame *f)
{
	uint32_t entry, index, next;

	/* [spill.take] the links; pairs with [spill.push]. */
	entry = a_xchg(&f->spill, NO_SPILL, acquire);
	for (; entry != NO_SPILL; entry = next) {
		index = entry >> 1;
		if (f->spill_next) {
			next = f->spill_next[index];
		} else {
			next = a_load(&f->recs[index].pending, relaxed);
			rec_rearm(&f->recs[index],
				  graph_nr_in(f->graph, &f->recs[index],
					      index));
		}
		decide_push(w, f, index, entry & 1 ? ITEM_SKIP : 0);
	}
}

/* The task is the last to arrive at r: ready, or to be skipped. */
void decide_arrived(struct worker *w, struct frame *f, uint32_t index,
		    enum arrival a)
{
	struct rec *r = &f->recs[index];

	if (a == ARRIVAL_EARLY)
		return;
	rec_rearm(r, graph_nr_in(f->graph, r, index));
	decide_push(w, f, index, a == ARRIVAL_DEAD ? ITEM_SKIP : 0);
}

/* The instance of the next run may go, as far as we are concerned. */
void decide_pass_token(struct worker *w, struct frame *f, uint32_t index)
{
	struct lkdf_graph *g = f->graph;
	uint32_t to;

	if (f->repeats) {
		rec_arrive(&f->recs[index]);
		return;
	}
	to = (f->index + graph_stride(g, f->recs[index].kind)) % g->nr_frames;
	decide_arrived(w, &g->frames[to], index,
		       rec_arrive(&g->frames[to].recs[index]));
}

void decide_pass_tokens(struct worker *w, struct frame *f)
{
	struct lkdf_graph *g = f->graph;
	struct rec *r;
	uint32_t i, to;

	for (i = 0; i < g->nr_tasks; i++) {
		r = &f->recs[i];
		if (!(r->flags & REC_TOKEN))
			continue;
		/* Our own arrival of the last repetition moves on. */
		a_add(&r->pending, 1, relaxed);
		to = (f->index + graph_stride(g, r->kind)) % g->nr_frames;
		decide_arrived(w, &g->frames[to], i,
			       rec_arrive(&g->frames[to].recs[i]));
	}
}

static void arrive_dead(struct worker *w, struct frame *f, uint32_t index)
{
	struct rec *r = &f->recs[index];

	if (r->nr_in == 1)
		decide_push(w, f, index, ITEM_SKIP);
	else
		decide_arrived(w, f, index, rec_arrive_dead(r));
}

static void arrive_live(struct worker *w, struct frame *f, uint32_t index)
{
	struct rec *r = &f->recs[index];

	if (r->nr_in == 1)
		decide_push(w, f, index, 0);
	else
		decide_arrived(w, f, index, rec_arrive(r));
}

/* Without the count: the caller tells the frame. */
void decide_task(struct worker *w, struct frame *f, uint32_t index, bool live)
{
	const uint32_t *succ;
	uint32_t nr, i;

	succ = graph_succ(f->graph, &f->recs[index], &nr);
	for (i = 0; i < nr; i++) {
		if (live)
			arrive_live(w, f, succ[i]);
		else
			arrive_dead(w, f, succ[i]);
	}
	if (f->recs[index].flags & REC_TOKEN)
		decide_pass_token(w, f, index);
}

void decide_and_tell(struct worker *w, struct frame *f, uint32_t index,
		     bool live)
{
	decide_task(w, f, index, live);
	frame_decided(w, f, 1);
}
