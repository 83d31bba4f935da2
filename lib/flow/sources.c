/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "flow/sources.h"

#include "flow/decide.h"
#include "flow/planned.h"
#include "flow/runtime.h"

/* While there are more, start stays an item in our deque. */
void sources_take(struct worker *w, struct frame *f)
{
	const struct lkdf_graph *g = f->graph;
	uint32_t first = f->next_source, end, source;
	enum arrival a;

	end = (uint32_t)min_u64(first + SOURCE_CHUNK, g->nr_sources);
	f->next_source = end;
	if (end < g->nr_sources &&
	    !worker_push(w, CLASS_NORMAL, link_item(&f->start)))
		inbox_push(&w->node->inbox, &f->start);
	while (end > first) {
		source = g->sources[--end];
		if (!(f->recs[source].flags & REC_TOKEN)) {
			decide_push(w, f, source, 0);
			continue;
		}
		/* Where the token is still to come the run may end elsewhere
		 * from here on, and the graph with it. */
		a = rec_arrive(&f->recs[source]);
		if (a != ARRIVAL_EARLY)
			decide_arrived(w, f, source, a);
	}
}

void sources_start(struct lkdf *rt, struct worker *w, struct frame *f)
{
	f->next_source = 0;
	if (f->graph->planned)
		planned_begin(f);
	a_store(&f->remaining, f->graph->nr_tasks, relaxed);
	if (w && worker_push(w, CLASS_NORMAL, link_item(&f->start)))
		return;
	runtime_push(rt, NULL, &f->start);
}
