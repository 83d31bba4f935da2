/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A body of a graph with branches has returned: the hot loop and choose.c tell
 * its edges so.
 */
#ifndef RUN_TELL_H
#define RUN_TELL_H

#include "graph/port.h"
#include "run/chain.h"
#include "run/control.h"

/* An edge to the task is resolved. Returns the task to run next. */
static inline __attribute__((always_inline)) uint32_t
tell_successor(struct burst *b, uint32_t to, uint8_t flags, int verdict,
	       uint32_t next)
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
	control_push(b->w, b->f, to, verdict);
	return next;
}

/*
 * The edge of a task with REC_CONTROL that has returned value. *nr_closed: how
 * many close the loop. Returns the task to run next.
 */
static inline __attribute__((always_inline)) uint32_t
tell_edge(struct burst *b, const struct control_edge *e, int value,
	  uint32_t next, uint32_t *nr_closed)
{
	bool is_taken = control_takes(value, e->branch);

	if (unlikely(e->flags & CONTROL_EXIT)) {
		if (is_taken)
			control_leave(b->f, e);
		return next;
	}
	if (e->flags & CONTROL_BACK) {
		control_tell_back(b->f, e, is_taken);
		++*nr_closed;
		return next;
	}
	is_taken |= !(e->flags & CONTROL_BRANCH);
	if (unlikely(e->flags & CONTROL_PORT))
		port_tell(&b->f->port, e->live, is_taken);
	return tell_successor(b, e->to, e->flags,
			      is_taken ? VERDICT_LIVE : VERDICT_UNCHOSEN, next);
}

#endif
