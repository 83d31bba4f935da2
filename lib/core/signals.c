/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/signals.h"

#include "base/options.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/unpin/unpin.h"
#include "signal/src_bpf.h"

#include <lkdf/signals.h>
#include <string.h>

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
	bool has_probe;

	if (rc)
		return rc;
	trace_probe_key(&rt->trace, src_bpf_key(&rt->signals));
	if (src_bpf_news(&rt->signals, &news))
		board_told_by(rt->board, &news);
	has_probe = src_bpf_source(&rt->signals, &source);
	if (has_probe)
		trace_told_by(&rt->trace, &source);
	windows_open(&rt->windows, &rt->signals, has_probe ? &source : NULL);
	return 0;
}

void signals_close(struct lkdf *rt)
{
	windows_close(&rt->windows);
	workers_close(&rt->signals);
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
	own.kind_at = &ex->noted;
	workers_enter(&rt->signals, ex->id, &own);
	trace_probe_slot(ex->ring, workers_slot(&rt->signals, ex->id));
}

/* A worker that comes by when a window is over closes it. */
static void turn_window(struct worker *w)
{
	struct lkdf *rt = w->executor->rt;
	int64_t now = clock_now_ns();
	struct workers_mark mark;

	if (!windows_begin(&rt->windows, now))
		return;
	workers_mark(&rt->signals, &mark);
	windows_turn(&rt->windows, &mark, now);
	if (rt->sched.ops.window)
		rt->sched.ops.window(w, &rt->windows.last);
	windows_end(&rt->windows);
}

void signals_looked(struct worker *w)
{
	struct lkdf *rt = w->executor->rt;
	const struct worker_facts *f = &rt->signals.of[w->executor->id];

	if (a_load(&f->has_delay, relaxed))
		unpin_look(w, a_load(&f->run_delay_ns, relaxed),
			   a_load(&f->at_ns, relaxed));
	if (rt->nr_workers > 1 && !holdoff_is_alone(w))
		turn_window(w);
}

static struct lkdf_fact fact_of(uint64_t value, uint64_t age, uint32_t source)
{
	return (struct lkdf_fact){ value, age, source, 0 };
}

void signals_tell(struct lkdf *rt, struct lkdf_facts *out)
{
	int64_t now = clock_now_ns();
	const struct window_kind *k;
	struct window w;
	uint64_t age;

	windows_read(&rt->windows, &w);
	if (!w.ns || w.share.source == LKDF_SIGNAL_NONE)
		return;
	age = now > w.end_ns ? (uint64_t)(now - w.end_ns) : 0;
	out->window_ns = fact_of(w.ns, age, LKDF_SIGNAL_SELF);
	out->window_ppm =
		fact_of((uint64_t)w.share.permille * 1000, age, w.share.source);
	for (k = w.kind; k < w.kind + w.nr_kinds && !k->name; k++)
		continue;
	if (k < w.kind + w.nr_kinds)
		out->window_word = fact_of(k->word, age, LKDF_SIGNAL_BPF);
}

void signals_enter_worker(struct worker *w)
{
	signals_enter(w->executor);
}

uint64_t signals_away_ns(const struct worker *w)
{
	const struct lkdf *rt = w->executor->rt;
	struct probed_source source;
	struct probed_thread now, *t = &now;
	uint32_t hz;

	if (!src_bpf_source(&rt->signals, &source) ||
	    !(source.sees(source.u, &hz) & LKDF_PROBED_SEES_SWITCHES))
		return 0;
	memset(t, 0, sizeof(*t));
	if (!source.thread(source.u, w->executor->id, t) ||
	    t->state < LKDF_STATE_PREEMPTED || t->state > LKDF_STATE_FUTEX)
		return 0;
	return t->state_ns;
}

bool signals_want_kinds(const struct lkdf *rt)
{
	return workers_want_kinds(&rt->signals) || rt->options->kinds;
}
