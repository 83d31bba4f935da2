/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Questions of the rooms below io to all sources of completions of a runtime:
 * the rows are rt->completions, each one of completion_ops (core/ops.h).
 */
#ifndef CORE_COMPLETION_H
#define CORE_COMPLETION_H

#include "core/ops.h"
#include "sched/worker.h"

/*
 * The worker, between two of its tasks: has one of its own sources something
 * to take or to give? With none this is one load.
 */
static inline bool completion_has_news(const struct worker *w)
{
	const struct completions *c = w->io.completions;

	while (unlikely(c != NULL) && !c->ops->has_news(c))
		c = c->next;
	return unlikely(c != NULL);
}

/* The worker's own sources, before it runs the item next. */
void completion_look(struct worker *w, uint64_t next);

/* Before the worker runs something: a sleeper is to see what comes. */
void completion_guard(struct worker *w);

/* On a worker that looks for work. True: something may be runnable now. */
bool completion_poll(struct worker *w);

/*
 * On a worker that has said that it sleeps: for how many ns at most; -1: for
 * ever; 0: not at all, as completion_poll() finds something.
 */
int64_t completion_nap(struct worker *w);

/* On a worker: has one of its own sources something under way? */
bool completion_stays(struct worker *w);

/* On a worker that has found work and said that it looks for none any more. */
void completion_leave(struct worker *w);

/*
 * Serial mode, on the thread that drains: waits a moment for what is under
 * way, nap_ns at most; -1: no limit. False: nothing is under way, or, with
 * nap_ns 0, nothing is ready.
 */
bool completion_wait(struct worker *w, int64_t nap_ns);

/*
 * Serial mode, on a thread that waits in the library: for at most so long, or
 * until something has come. False: nothing is to be waited for.
 */
bool completion_sleep(struct lkdf *rt, int64_t timeout_ns);

/* Scopes were cancelled: what is under way in them is told. Any thread. */
void completion_kick(struct lkdf *rt);

#endif
