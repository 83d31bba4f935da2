/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The board of workers in a runtime: opened before there are threads, entered
 * by each of them; tools find in "lkdf:stats" where the probe has them.
 */
#ifndef CORE_SIGNALS_H
#define CORE_SIGNALS_H

#include "base/clock.h"
#include "core/runtime.h"

/* After the trace. 0 or -ENOMEM. */
int signals_open(struct lkdf *rt);
void signals_close(struct lkdf *rt);

/* Are kinds to be noted, for the probe or to be counted? */
bool signals_want_kinds(const struct lkdf *rt);

/* On the thread of an executor, when it starts. */
void signals_enter(struct executor *ex);
void signals_enter_worker(struct worker *w);

/* For all workers: adds the facts of the last window. */
void signals_tell(struct lkdf *rt, struct lkdf_facts *out);

/* For so long its thread has had no CPU, or slept; see sched_ops. */
uint64_t signals_away_ns(const struct worker *w);

/* It has looked at itself. */
void signals_looked(struct worker *w);

/* A worker comes by, every so many items. */
static inline void signals_look(struct worker *w)
{
	struct lkdf *rt = w->executor->rt;

	if (rt->signals.has_self &&
	    workers_look(&rt->signals, w->executor->id, clock_ticks()))
		signals_looked(w);
}

#endif
