/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Gates that keep workers from bodies, and what lies behind them. */
#include "rt/why.h"

#include "core/runtime.h"
#include "task/gate.h"
#include "task/kind.h"
#include "task/narrowing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Under the runtime's lock: kinds of the gate, by name. */
static void name_kinds(const struct lkdf *rt, const struct gate *g,
		       struct why_gate *out)
{
	const struct lkdf_kind *k;
	const struct list *l;
	size_t used;

	mutex_assert_held((pthread_mutex_t *)&rt->lock);
	for (l = rt->kinds.next; l != &rt->kinds; l = l->next) {
		k = container_of(l, const struct lkdf_kind, all);
		if (a_load(&k->gate, relaxed) != g || out->nr_kinds++ >= 4)
			continue;
		used = strlen(out->kinds);
		snprintf(out->kinds + used, sizeof(out->kinds) - used,
			 "%s\"%s\"", used ? ", " : "", k->name);
	}
}

static uint64_t word_of(struct lkdf *rt, const struct gate *g)
{
	struct narrowed n;
	uint32_t i;

	for (i = 0; narrowing_read(rt, i, &n); i++)
		if (n.gate == g)
			return n.word;
	return 0;
}

/* Why bodies began without a token, and how many. */
static void name_passes(const struct gate_count *c, struct why_gate *out)
{
	size_t used = 0;
	int i;

	for (i = 0; i < NR_GATE_PASSES; i++) {
		if (!c->nr_pass[i] || used >= sizeof(out->over))
			continue;
		used += (size_t)snprintf(out->over + used,
					 sizeof(out->over) - used,
					 "%s%s %" PRIu64, used ? ", " : "",
					 gate_pass_text((enum gate_pass)i),
					 c->nr_pass[i]);
	}
}

static void look_at_gate(struct why *y, struct gate *g)
{
	uint64_t state = a_load(&g->state, relaxed);
	struct gate_count c;
	struct why_gate *out;

	if (gate_cap(state) >= (uint32_t)y->rt->nr_workers &&
	    !gate_aside(state))
		return;
	if (y->nr_gates++ >= WHY_GATES)
		return;
	out = &y->gate[y->nr_gates - 1];
	gate_peek(g, &c);
	*out = (struct why_gate){ .cap = c.cap,
				  .running = c.running + c.over,
				  .aside = c.aside,
				  .nr_bodies = c.nr_bodies,
				  .nr_over = c.nr_over,
				  .word = word_of(y->rt, g) };
	name_passes(&c, out);
	name_kinds(y->rt, g, out);
	if (!out->nr_kinds && !out->aside)
		y->nr_gates--;
}

void why_look_at_gates(struct why *y)
{
	struct lkdf *rt = y->rt;
	struct gate *g;

	pthread_mutex_lock(&rt->lock);
	/* [gate.list] pairs with itself. */
	g = a_load(&gate_in(&rt->sched)->gates, acquire);
	for (; g; g = g->next)
		look_at_gate(y, g);
	pthread_mutex_unlock(&rt->lock);
}
