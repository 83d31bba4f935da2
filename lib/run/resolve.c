/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/resolve.h"

#include "base/options.h"
#include "run/control.h"
#include "run/planned.h"
#include "run/stream.h"
#include "task/kind.h"
#include "trace/counters.h"

static struct ready_list *list_of(struct frame *f, uint16_t home)
{
	return &f->placed[2 * home_node(home) + home_is_bound(home)];
}

/* The list is not empty any more: to the inbox of those who may take it. */
static void send_list(struct worker *w, struct ready_list *l)
{
	struct sched *s = w->sched;
	bool has_woken;

	if (l->home == HOME_NONE)
		has_woken = sched_push(s, w->executor->node, &l->link);
	else if (home_is_bound(l->home))
		has_woken = sched_push_bound(s, home_node(l->home), &l->link);
	else
		has_woken = sched_push(s, home_node(l->home), &l->link);
	if (has_woken)
		worker_has_woken(w);
}

static void add_to_list(struct worker *w, struct ready_list *l, uint32_t index,
			uint32_t skip)
{
	struct frame *f = l->frame;
	uint32_t entry = index << 1 | (skip ? 1 : 0);
	uint32_t head = a_load(&l->head, relaxed);

	do {
		if (f->overflow_next)
			f->overflow_next[index] = head;
		else
			a_store(&f->recs[index].pending, head, relaxed);
		/* [overflow.push] the link before the head; pairs with
		 * [overflow.take]. */
	} while (!a_cas(&l->head, &head, entry, release, relaxed));
	if (head == NO_OVERFLOW)
		send_list(w, l);
}

void resolve_overflow(struct worker *w, struct frame *f, uint32_t index,
		      uint32_t skip)
{
	uint16_t home = HOME_NONE;

	check(frame_has(f, index));
	counter_add(w->executor->counters, COUNTER_OVERFLOWS, 1);
	if (unlikely(f->recs[index].flags & REC_PLACED))
		home = renumber_home(f->graph, index);
	add_to_list(w, home_is_bound(home) ? list_of(f, home) : &f->overflow,
		    index, skip);
}

/* Which deque of a worker that may run it. */
static unsigned deque_of(const struct frame *f, uint32_t index)
{
	uint8_t flags = f->recs[index].flags;

	check(frame_has(f, index));
	if (unlikely(flags & REC_PLACED) &&
	    home_is_bound(renumber_home(f->graph, index)))
		return DEQUE_BOUND;
	return flags & REC_CLASS;
}

static bool is_home(struct worker *w, struct frame *f, uint32_t index)
{
	const uint32_t *starts = f->graph->starts;
	int node = w->executor->node;

	if (w->sched->is_serial)
		return true;
	if (unlikely(planned_has_moved(f->graph)))
		return home_node(planned_home(f, index)) == node;
	return index >= starts[home_make(node, false)] &&
	       index < starts[home_make(node, true) + 1];
}

void resolve_push(struct worker *w, struct frame *f, uint32_t index,
		  uint32_t skip)
{
	check(frame_has(f, index));
	if (unlikely(f->recs[index].flags & REC_PLACED) &&
	    !is_home(w, f, index))
		add_to_list(w, list_of(f, planned_home(f, index)), index, skip);
	else if (unlikely(!worker_push(w, deque_of(f, index),
				       item_make(f, index, skip))))
		resolve_overflow(w, f, index, skip);
}

void resolve_push_source(struct worker *w, struct frame *f, bool is_dropped)
{
	uint32_t source = f->graph->sources[0];

	if (f->graph->control)
		control_push(w, f, source,
			     is_dropped ? VERDICT_UNCHOSEN : VERDICT_LIVE);
	else
		resolve_push(w, f, source, is_dropped ? ITEM_SKIP : 0);
}

/* The entry below; before it is taken, for pending may be the link. */
static uint32_t list_below(struct frame *f, uint32_t entry)
{
	uint32_t index = entry >> 1;

	return f->overflow_next ? f->overflow_next[index]
				: a_load(&f->recs[index].pending, relaxed);
}

/*
 * Takes one entry; *below is what is left then. The holder of the link is the
 * only one that takes, so a head that is still there has not been away, and its
 * link has not changed.
 */
static uint32_t take_entry(struct ready_list *l, uint32_t *below)
{
	/* [overflow.take] the links; pairs with [overflow.push]. */
	uint32_t entry = a_load(&l->head, acquire);

	do {
		*below = list_below(l->frame, entry);
		/* [overflow.take] as above. */
	} while (!a_cas(&l->head, &entry, *below, acquire, acquire));
	return entry;
}

/* Pushes an entry into our own deque. True: there was room. */
static bool push_entry(struct worker *w, struct frame *f, uint32_t entry)
{
	uint32_t index = entry >> 1, skip = entry & 1 ? ITEM_SKIP : 0;

	if (!f->overflow_next)
		rec_rearm(&f->recs[index],
			  graph_nr_in(f->graph, &f->recs[index], index));
	if (worker_push(w, deque_of(f, index), item_make(f, index, skip)))
		return true;
	resolve_overflow(w, f, index, skip);
	return false;
}

/* As many as there is room for now, and no more than that. */
static void take_listed(struct worker *w, struct ready_list *l, uint32_t max)
{
	uint32_t entry, below = 0;
	struct frame *f = l->frame;
	bool has_room = true;

	while (has_room && below != NO_OVERFLOW && max--) {
		entry = take_entry(l, &below);
		has_room = push_entry(w, f, entry);
	}
	/* With the last entry the link went too, and maybe the frame. */
	if (below != NO_OVERFLOW)
		send_list(w, l);
}

void resolve_listed(struct worker *w, struct ready_list *l)
{
	const struct sched *s = w->sched;
	bool is_thief = l->link.type == LINK_FRAME_PLANNED &&
			home_node(l->home) != w->executor->node &&
			!s->is_serial;

	take_listed(w, l, !is_thief ? UINT32_MAX : s->options->far_steals != 0);
}

static inline void arrive_at(struct worker *w, struct frame *f, uint32_t index,
			     int verdict)
{
	struct rec *r = &f->recs[index];
	enum arrival a = verdict < 0 ? ARRIVAL_DEAD : ARRIVAL_LIVE;

	check(frame_has(f, index));
	if (r->nr_in != 1) {
		a = verdict < 0 ? rec_arrive_dead(r) : rec_arrive(r);
		if (a == ARRIVAL_EARLY)
			return;
		rec_rearm(r, graph_nr_in(f->graph, r, index));
	}
	if (unlikely(f->stream) && stream_takes(w, f, index))
		return;
	resolve_push(w, f, index, a == ARRIVAL_DEAD ? ITEM_SKIP : 0);
}

void resolve_give_token(struct worker *w, struct frame *f, uint32_t index)
{
	check(frame_has(f, index));
	if (unlikely(f->graph->control))
		control_arrive(w, f, index, 0, VERDICT_LIVE);
	else
		arrive_at(w, f, index, VERDICT_LIVE);
}

/* The instance of the next run may go, as far as we are concerned. */
void resolve_pass_token(struct worker *w, struct frame *f, uint32_t index)
{
	struct lkdf_graph *g = f->graph;
	uint32_t to;

	check(frame_has(f, index));
	if (f->repeats) {
		rec_arrive(&f->recs[index]);
		return;
	}
	to = (f->index + graph_stride(g, f->recs[index].kind)) % g->nr_frames;
	resolve_give_token(w, &g->frames[to], index);
}

void resolve_pass_tokens(struct worker *w, struct frame *f)
{
	struct lkdf_graph *g = f->graph;
	struct rec *r;
	uint32_t i, to;

	for (i = 0; i < g->nr_recs; i++) {
		r = &f->recs[i];
		if (!(r->flags & REC_TOKEN))
			continue;
		/* Our own arrival of the last repetition moves on. */
		a_add(&r->pending, 1, relaxed);
		to = (f->index + graph_stride(g, r->kind)) % g->nr_frames;
		resolve_give_token(w, &g->frames[to], i);
	}
}

static void tell_successors(struct worker *w, struct frame *f, uint32_t index,
			    int verdict)
{
	const uint32_t *succ;
	uint32_t nr, i;

	succ = graph_succ(f->graph, &f->recs[index], &nr);
	for (i = 0; i < nr; i++)
		arrive_at(w, f, succ[i],
			  resolve_passes(f, index, succ[i], verdict));
}

uint32_t resolve_task(struct worker *w, struct frame *f, uint32_t index,
		      int verdict)
{
	bool has_data = unlikely(verdict < 0 && f->graph->accesses);
	uint32_t nr = 1;

	check(frame_has(f, index));
	if (has_data && verdict == VERDICT_UNCHOSEN)
		values_unchosen(f, index);
	else if (has_data)
		values_dead(f, index);
	if (unlikely(f->recs[index].flags & REC_MEMBER))
		return control_resolve(w, f, index, verdict);
	if (unlikely(f->graph->control))
		nr = control_resolve(w, f, index, verdict);
	else
		tell_successors(w, f, index, verdict);
	if (has_data)
		values_forget_untouched(f, index);
	if (f->recs[index].flags & REC_TOKEN)
		resolve_pass_token(w, f, index);
	return nr;
}

void resolve_and_tell(struct worker *w, struct frame *f, uint32_t index,
		      int verdict)
{
	uint32_t nr = resolve_task(w, f, index, verdict);

	check(frame_has(f, index));
	if (nr)
		frame_resolved(w, f, nr);
}
