/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/signals.h"

#include "sched/bind.h"
#include "signal/src_bpf.h"

int signals_open(struct lkdf *rt)
{
	const struct options *o = rt->options;
	struct workers_attr attr = {
		.wish = o->serial ? BOARD_OFF : (enum board_wish)o->signal,
		.nr = rt->nr_executors,
		.pins = o->probe,
	};
	struct probed_source source;
	struct board_news news;
	int rc = workers_open(&attr, &rt->signals);

	if (rc)
		return rc;
	trace_probe_key(&rt->trace, src_bpf_key(&rt->signals));
	if (src_bpf_news(&rt->signals, &news))
		board_told_by(rt->board, &news);
	if (src_bpf_source(&rt->signals, &source))
		trace_told_by(&rt->trace, &source);
	return 0;
}

/* Where workers sleep, and what hangs off the runtime. */
static void find_own(const struct lkdf *rt, struct workers_own *own)
{
	const struct sched *s = &rt->sched;

	own->range[0][0] = (uintptr_t)s->nodes;
	own->range[0][1] = (uintptr_t)(s->nodes + s->nr_nodes);
	own->range[1][0] = (uintptr_t)rt;
	own->range[1][1] = (uintptr_t)(rt + 1);
}

void signals_enter(struct executor *ex)
{
	struct lkdf *rt = ex->rt;
	struct workers_own own;

	find_own(rt, &own);
	workers_enter(&rt->signals, ex->id, &own);
	trace_probe_slot(ex->ring, workers_slot(&rt->signals, ex->id));
}

void signals_looked(struct worker *w)
{
	const struct lkdf *rt = w->executor->rt;
	const struct worker_facts *f = &rt->signals.of[w->executor->id];

	if (a_load(&f->has_delay, relaxed))
		bind_look(w, a_load(&f->run_delay_ns, relaxed),
			  a_load(&f->at_ns, relaxed));
}

void signals_enter_worker(struct worker *w)
{
	signals_enter(w->executor);
}
