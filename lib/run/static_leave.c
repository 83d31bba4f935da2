/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/static_leave.h"

#include "core/runtime.h"
#include "graph/access.h"
#include "run/resolve.h"
#include "run/static_run.h"
#include "run/transient_call.h"

static void make_value(struct worker *w, struct frame *f,
		       const struct transient_use *u, void *bytes)
{
	struct heap *h = f->values.heap;
	struct value *v = &f->values.var[u->var];

	if (v->bytes)
		transient_take_left(f, heap_thread_cache(h), u, v);
	v->bytes = bytes;
	v->maker = (uint32_t)w->executor->id << MAKER_SHIFT | CACHE_NO_MEMORY;
}

static void end_value(struct frame *f, const struct transient_use *u)
{
	struct value *v = &f->values.var[u->var];

	/* Its block stays with us. */
	if (u->nr_readers <= 1 ||
	    readers_leave(&v->readers, u->nr_readers, true))
		v->bytes = NULL;
}

/* Does to values what the step has done; is_over: its body has ended. */
static void redo_bytes(struct worker *w, struct frame *f, uint32_t step,
		       bool is_over)
{
	const struct static_order *o = static_order_in(f);
	const struct static_step *s = &o->step[step];
	_Atomic(void *) *bytes = o->frame[f->index].bytes;
	const struct transient_use *u;
	uint32_t i, nr = s[1].first - s->first;

	if (!nr)
		return;
	u = f->values.transient + f->values.transient_task[s->index].first;
	for (i = 0; i < nr; i++)
		if (u[i].flags & TRANSIENT_MAKES)
			make_value(w, f, &u[i],
				   a_load(&bytes[o->cell[s->first + i]],
					  relaxed));
	for (i = 0; is_over && i < nr; i++)
		if (u[i].flags & TRANSIENT_ENDS)
			end_value(f, &u[i]);
}

/* Blocks that values have by now are theirs. */
static void pass_blocks(struct frame *f, uint32_t step)
{
	const struct static_order *o = static_order_in(f);
	const struct static_step *s = &o->step[step];
	struct static_frame *sf = &o->frame[f->index];
	const struct transient_use *u;
	uint32_t i, nr = s[1].first - s->first;
	_Atomic(void *) *at;
	void *p;

	if (!nr)
		return;
	u = f->values.transient + f->values.transient_task[s->index].first;
	for (i = 0; i < nr; i++) {
		at = &sf->bytes[o->cell[s->first + i]];
		p = a_load(at, relaxed);
		if (!(u[i].flags & TRANSIENT_MAKES) || !p ||
		    f->values.var[u[i].var].bytes != p)
			continue;
		a_store(at, NULL, relaxed);
		sf->is_full = false;
	}
}

/*
 * Does to counters what the step has done. A task that is ready has 0 then, as
 * sources have; a task that has run is armed again.
 */
static void redo_arrivals(struct frame *f, uint32_t index)
{
	struct rec *r = &f->recs[index], *to;
	const uint32_t *succ;
	uint32_t nr, i;

	check(frame_has(f, index));
	rec_rearm(r, graph_nr_in(f->graph, r, index));
	succ = graph_succ(f->graph, r, &nr);
	for (i = 0; i < nr; i++) {
		to = &f->recs[succ[i]];
		a_store(&to->pending, a_load(&to->pending, relaxed) - 1,
			relaxed);
	}
}

/* Ready ones from a step on: linked by their counters, NO_TASK at the end. */
static uint32_t link_ready(struct frame *f, uint32_t step)
{
	const struct static_order *o = static_order_in(f);
	uint32_t head = NO_TASK, index;

	for (; step < o->nr_steps; step++) {
		index = o->step[step].index;
		if (a_load(&f->recs[index].pending, relaxed))
			continue;
		a_store(&f->recs[index].pending, head, relaxed);
		head = index;
	}
	return head;
}

static void push_ready(struct worker *w, struct frame *f, uint32_t head)
{
	uint32_t index;
	struct rec *r;

	while (head != NO_TASK) {
		index = head;
		r = &f->recs[index];
		head = a_load(&r->pending, relaxed);
		rec_rearm(r, graph_nr_in(f->graph, r, index));
		resolve_push(w, f, index, 0);
	}
}

void static_leave(struct worker *w, struct frame *f, uint32_t nr,
		  bool is_in_body)
{
	const struct static_order *o = static_order_in(f);
	struct static_state *s = &f->graph->order;
	uint32_t i, hold = a_load(&s->hold, relaxed);
	struct rec *r;

	a_store(&s->remaining, hold, relaxed);
	hold = hold ? hold * 2 : STATIC_HOLD;
	a_store(&s->hold, (uint32_t)min_u64(hold, STATIC_HOLD_MAX), relaxed);
	for (i = 0; i < nr; i++) {
		redo_bytes(w, f, i, true);
		redo_arrivals(f, o->step[i].index);
	}
	if (is_in_body) {
		redo_bytes(w, f, nr, false);
		r = &f->recs[o->step[nr].index];
		rec_rearm(r, graph_nr_in(f->graph, r, o->step[nr].index));
	}
	nr += is_in_body;
	for (i = 0; i < nr; i++)
		pass_blocks(f, i);
	push_ready(w, f, link_ready(f, nr));
}
