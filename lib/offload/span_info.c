/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/maker.h"

#include "run/frame.h"
#include "run/own_task.h"

void maker_fill_told(struct maker *m)
{
	struct lkdf_stats_slice *s = &m->r->req.told;
	const struct task *t = m->r->task;

	s->name = m->c->frame && !t
			  ? m->c->frame->recs[m->c->index].kind->trace_name
			  : t->kind->trace_name;
	if (!trace_is_recording(&m->k->rt->trace))
		return;
	if (t) {
		s->ready = t->ready_ticks;
		s->by = t->ready_by;
	}
	if (m->c->frame)
		own_task_ops.describe(m->c->frame, m->c->index, s);
}
