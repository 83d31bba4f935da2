/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Bodies that begin at a gate, and turns of nodes there: see gate.h. */
#include "mechanism/gate/gate_ring.h"

#include "base/clock.h"
#include "sched/sched.h"
#include "trace/counters.h"

bool turn_is_others(const struct gate *g, const struct worker *w)
{
	int node = a_load(&g->kept_for, relaxed);

	lock_assert_held(&g->lock);
	return node >= 0 && node != ring_node(w) && ring_count(g, node) &&
	       clock_ticks() < g->kept_until;
}

/* The worker, which has the token, has had it for long, and others wait. */
static int next_node(const struct gate *g, const struct worker *w)
{
	const struct sched *s = g->sched;
	uint32_t most = 0, nr;
	int i, next = -1;

	if (s->nr_worker_nodes == 1 ||
	    (gate_bodies_of(g, w) < g->turn &&
	     clock_ticks() - gate_of(w)->since_ticks < g->turn_ticks))
		return -1;
	for (i = 0; i < s->nr_nodes; i++) {
		nr = ring_count(g, i);
		if (i == ring_node(w) || !nr || !sched_has_worker(s, i))
			continue;
		if (i == g->home)
			return i;
		if (nr > most) {
			most = nr;
			next = i;
		}
	}
	return next;
}

bool turn_ends(struct gate *g, struct worker *w)
{
	int next = next_node(g, w);

	if (next < 0)
		return false;
	a_store(&g->kept_for, next, relaxed);
	g->kept_until = clock_ticks() + g->turn_ticks;
	g->nr_turns++;
	return true;
}

void gate_set_home(struct gate *g, int node)
{
	check(node < g->sched->nr_nodes);
	lock_take(&g->lock);
	g->home = node;
	lock_give(&g->lock);
}

void gate_begin_body(struct worker *w)
{
	struct gate_holder *h = gate_of(w);

	a_store(&h->nr_gated, a_load(&h->nr_gated, relaxed) + 1, relaxed);
	counter_add(w->executor->counters, COUNTER_GATED, 1);
}
