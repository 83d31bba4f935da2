/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/alone.h"

#include "task/kind.h"

uint64_t alone_ticks(const struct lkdf_graph *g)
{
	const struct lkdf_kind *k;
	uint64_t ticks = 0;
	uint32_t i;

	for (i = 0; i < g->nr_recs; i++) {
		k = g->recs[i].kind;
		if (!kind_is_short_alone(k))
			return 0;
		ticks += a_load(&k->least_ticks, relaxed);
	}
	return ticks;
}

/* For the kinds of frame 0, as all have the same. */
static void call_for_kinds(const struct lkdf_graph *g,
			   void (*fn)(struct lkdf_kind *k))
{
	const struct lkdf_kind *last = NULL;
	uint32_t i;

	for (i = 0; i < g->nr_recs; i++)
		if (g->recs[i].kind != last) {
			last = g->recs[i].kind;
			fn(g->recs[i].kind);
		}
}

void alone_sample_again(const struct lkdf_graph *g)
{
	call_for_kinds(g, kind_sample_again);
}

void alone_doubt(const struct lkdf_graph *g)
{
	call_for_kinds(g, kind_doubt);
}
