/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/give_way.h"

#include "base/err.h"
#include "core/completion.h"
#include "sched/current.h"
#include "sched/tick.h"
#include "sched/worker.h"

#include <stdio.h>

/* If nothing is ready, timers and descriptors come next. */
static void body_gives_way(struct lkdf *rt, struct worker *w)
{
	struct sched *s = &rt->sched;

	if (!depth_may_join(&w->depth) || worker_run_any(w))
		return;
	if (!s->ops.wait(w, 0))
		sched_pass_time(s, -1);
	sched_tick(s, rt);
}

static void thread_gives_way(struct lkdf *rt, bool in_vain)
{
	struct sched *s = &rt->sched;

	completion_sleep(rt, 0);
	sched_drain(s);
	/* Another thread that drains advances the time itself. */
	if (in_vain && !a_load(&s->nr_drains, relaxed))
		sched_pass_time(s, -1);
	if (sched_tick(s, rt))
		sched_drain(s);
}

void give_way_slowly(struct lkdf *rt)
{
	struct worker *w = &rt->sched.workers[0];
	bool is_drainer = thread_self()->executor == w->executor;
	bool in_vain = a_add(&rt->sched.nr_vain, 1, relaxed) >= GIVE_WAY_AFTER;
	char text[ERRMSG_SIZE];

	/* A callback that is not a body may hold a lock of the library. */
	if (is_drainer && (!in_vain || !current_get()))
		return;
	snprintf(text, sizeof(text), "%s", err_text());
	if (is_drainer)
		body_gives_way(rt, w);
	else
		thread_gives_way(rt, in_vain);
	err(0, "%s", text);
}
