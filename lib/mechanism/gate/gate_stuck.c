/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Holders that cannot use their tokens. */
#include "mechanism/gate/gate_ring.h"
#include "sched/sched.h"

static bool is_away(const struct worker *w)
{
	const struct sched_ops *ops = &w->sched->ops;

	return ops->away_ns && ops->away_ns(w) >= GATE_AWAY_NS;
}

/* Has any holder come by since somebody looked? */
static bool is_stuck(struct gate *g, uint64_t seen, uint64_t now)
{
	lock_assert_held(&g->lock);
	if (seen != g->seen) {
		g->seen = seen;
		g->seen_at = now;
	}
	return now - g->seen_at > g->patience_ticks;
}

struct worker *stuck_holder(struct gate *g, uint64_t now)
{
	struct worker *v, *holder = NULL, *away = NULL;
	struct sched *s = g->sched;
	uint64_t seen = 0;

	for (v = s->workers; v < s->workers + s->nr_workers; v++) {
		if (a_load(&gate_of(v)->gate, relaxed) != g)
			continue;
		seen += a_load(&gate_of(v)->nr_gated, relaxed);
		holder = v;
		if (!away && is_away(v))
			away = v;
	}
	return is_stuck(g, seen, now) && !away ? holder : away;
}
