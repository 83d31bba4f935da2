/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Counts of a gate: of its tokens, and of bodies with one and without. */
#include "mechanism/gate/gate.h"

#include <string.h>

static void count_workers(const struct gate *g, struct gate_count *out)
{
	const struct sched *s = g->sched;
	const struct worker *w;

	for (w = s->workers; w < s->workers + s->nr_workers; w++) {
		out->over += a_load(&gate_of(w)->over, relaxed) == g;
		if (a_load(&gate_of(w)->gate, relaxed) == g)
			out->nr_bodies += gate_bodies_of(g, w);
	}
}

static void count_locked(const struct gate *g, struct gate_count *out)
{
	uint64_t state = a_load(&g->state, relaxed);
	int i;

	lock_assert_held(&g->lock);
	*out = (struct gate_count){
		.cap = gate_cap(state),
		.running = gate_running(state),
		.aside = gate_aside(state),
		.most_running = g->most_running,
		.nr_aside = g->nr_aside,
		.nr_bodies = g->nr_held,
		.nr_revoked = g->nr_revoked,
		.nr_turns = g->nr_turns,
	};
	count_workers(g, out);
	for (i = 0; i < NR_GATE_PASSES; i++) {
		out->nr_pass[i] = g->nr_over[i];
		out->nr_over += g->nr_over[i];
	}
	out->nr_bodies += out->nr_over;
}

void gate_read(struct gate *g, struct gate_count *out)
{
	lock_take(&g->lock);
	count_locked(g, out);
	g->most_running = gate_running(a_load(&g->state, relaxed));
	lock_give(&g->lock);
}

void gate_peek(struct gate *g, struct gate_count *out)
{
	lock_take(&g->lock);
	count_locked(g, out);
	lock_give(&g->lock);
}

void gate_reset(struct gate *g)
{
	lock_take(&g->lock);
	g->nr_aside = g->nr_revoked = g->nr_held = g->nr_turns = 0;
	memset(g->nr_over, 0, sizeof(g->nr_over));
	g->home = -1;
	lock_give(&g->lock);
}

const char *gate_pass_text(enum gate_pass pass)
{
	static const char *const text[] = {
		[GATE_PASS_FULL] = "no room",
		[GATE_PASS_PART] = "part",
		[GATE_PASS_URGENT] = "urgent",
		[GATE_PASS_DEADLINE] = "deadline",
		[GATE_PASS_CANCELLED] = "cancelled",
	};

	return text[pass];
}
