/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/sources.h"

#include "core/runtime.h"
#include "run/mode.h"
#include "run/planned.h"
#include "run/resolve.h"
#include "run/solo_run.h"

void sources_begin(struct worker *w, struct frame *f)
{
	f->nr_turns = 0;
	if (f->graph->solo.is_possible)
		solo_run_begin(w, f);
	mode_choose(w, f);
}

/* It would be the item that the worker pops next. */
static bool is_next(const struct worker *w, const struct rec *r)
{
	return (r->flags & (REC_CLASS | REC_PLACED)) == CLASS_NORMAL &&
	       !a_load(&w->other_classes, relaxed) && !worker_should_look(w);
}

/* While there are more, start stays an item in our deque. */
uint64_t sources_take(struct burst *b, struct frame *f)
{
	struct worker *w = b->w;
	const struct lkdf_graph *g = f->graph;
	uint32_t first = f->next_source, end, source;

	check(first <= g->nr_sources);
	end = (uint32_t)min_u64(first + SOURCE_CHUNK, g->nr_sources);
	f->next_source = end;
	if (end < g->nr_sources &&
	    !worker_push(w, CLASS_NORMAL, link_item(&f->start)))
		inbox_push(&w->node->inbox, &f->start);
	while (end > first) {
		source = g->sources[--end];
		if (!(f->recs[source].flags & REC_TOKEN)) {
			if (end == first && is_next(w, &f->recs[source]))
				return item_make(f, source, 0);
			resolve_push(w, f, source, 0);
			continue;
		}
		/* Where the token is still to come the run may end elsewhere
		 * from here on, and the graph with it. */
		resolve_give_token(w, f, source);
	}
	return 0;
}

void sources_start(struct lkdf *rt, struct worker *w, struct frame *f)
{
	f->next_source = 0;
	f->mode = NULL;
	f->guard.is_on = false;
	if (f->graph->planned)
		planned_begin(f, w ? w->executor : NULL);
	a_store(&f->remaining, f->graph->nr_tasks, relaxed);
	if (w && worker_push(w, CLASS_NORMAL, link_item(&f->start)))
		return;
	runtime_push(rt, NULL, &f->start);
}

void sources_go_on(struct worker *w, struct frame *f)
{
	check(f->graph->nr_sources == 1 && !f->guard.is_on);
	if (f->graph->planned)
		planned_begin(f, w->executor);
	a_store(&f->remaining, f->graph->nr_tasks, relaxed);
	resolve_give_token(w, f, f->graph->sources[0]);
}
