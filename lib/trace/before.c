/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/before.h"

#include "trace/counters.h"
#include "trace/trace.h"

#include <stdlib.h>

static void begin_anew(struct trace_ring *r)
{
	a_store(&r->slice_tail, a_load(&r->slice_head, relaxed), relaxed);
	r->event_tail = a_load(&r->event_head, relaxed);
	r->lost_before = a_load(&r->slice_lost, relaxed);
	r->nr_events = r->nr_slices = r->events_lost = 0;
	r->told_lost = r->told_bytes = 0;
	r->seen_seq = 0;
}

bool before_init(struct before *b, struct trace *t)
{
	size_t nr = (size_t)t->nr_executors + 1, i, k;
	size_t nr_nodes = t->rings[0].nr_nodes + 1u;
	uint64_t *counted, *bytes;
	struct trace_ring *r;

	b->counted = counted = calloc(nr * NR_COUNTERS, sizeof(*counted));
	b->bytes = bytes = calloc(nr * nr_nodes, sizeof(*bytes));
	if (!counted || !bytes) {
		before_fini(b);
		return false;
	}
	for (i = 0; i < nr; i++) {
		r = &t->rings[i];
		begin_anew(r);
		for (k = 0; k < NR_COUNTERS; k++)
			*counted++ = a_load(&r->counters->v[k], relaxed);
		for (k = 0; k < nr_nodes; k++) {
			*bytes = a_load(&r->bytes[k], relaxed);
			r->told_bytes += *bytes++;
		}
	}
	return true;
}

void before_fini(struct before *b)
{
	free(b->counted);
	free(b->bytes);
}
