/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "seal/index.h"

#include "base/err.h"
#include "core/runtime.h"
#include "data/data.h"
#include "graph/access.h"
#include "graph/pairs.h"
#include "mem/region.h"
#include "run/always.h"
#include "run/follow.h"
#include "run/transient.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const struct lkdf_graph *g)
{
	return err(-ENOMEM, "graph %s: no memory for data uses", g->name);
}

/* For each var with uses that commute. False: no memory. */
static bool make_tokens(struct lkdf_graph *g)
{
	struct access_table *w = g->accesses;
	const struct access_use *u = w->uses.items;
	struct access_var *v;
	uint32_t i;

	for (i = 0; i < w->uses.nr; i++)
		w->nr_tokens += (u[i].flags & ACCESS_TOKEN) != 0;
	if (!w->nr_tokens)
		return true;
	/* Two uses at least have one. */
	w->tokens = calloc(w->nr_tokens / 2, sizeof(*w->tokens));
	w->nr_tokens = 0;
	for (i = 0; w->tokens && i < w->uses.nr; i++) {
		v = access_var(w, u[i].var);
		if (!(u[i].flags & ACCESS_TOKEN) || v->token)
			continue;
		v->token = &w->tokens[w->nr_tokens++];
		domain_init(v->token, g->rt, v->data, NULL);
	}
	return w->tokens != NULL;
}

/* A stable sort: by counting. */
static int sort_uses(struct lkdf_graph *g)
{
	struct access_table *w = g->accesses;
	size_t nr = w->uses.nr, size = nr * sizeof(struct access_use), i;
	struct access_use *u = w->uses.items, *copy;
	uint32_t *next;

	copy = region_alloc(size);
	next = region_alloc(w->nr_indices * sizeof(*next));
	if (copy && next) {
		memcpy(copy, u, size);
		memcpy(next, w->first, w->nr_indices * sizeof(*next));
		for (i = 0; i < nr; i++)
			u[next[copy[i].task]++] = copy[i];
	}
	region_free(next, w->nr_indices * sizeof(*next));
	region_free(copy, size);
	return copy && next ? 0 : no_memory(g);
}

/* Claims were numbered in the order of the vars that have them. */
static bool index_claims(struct access_table *w)
{
	uint32_t i, nr = 0;

	w->claimed = calloc(w->nr_claims + 1ul, sizeof(*w->claimed));
	for (i = 0; w->claimed && nr < w->nr_claims; i++)
		if (access_var(w, i)->claim == nr)
			w->claimed[nr++] = i;
	return w->claimed != NULL;
}

int index_uses(struct lkdf_graph *g)
{
	struct access_table *w = g->accesses;
	struct access_use *u = w->uses.items;
	uint32_t i, sum = 0, count;

	check(!g->is_sealed);
	w->nr_indices = g->nr_recs;
	w->first = region_alloc((g->nr_recs + 1ul) * sizeof(*w->first));
	if (!w->first || !make_tokens(g) || !index_claims(w))
		return no_memory(g);
	for (i = 0; i < w->uses.nr; i++) {
		u[i].task = graph_index(g, u[i].task);
		w->first[u[i].task]++;
	}
	for (i = 0; i <= w->nr_indices; i++) {
		count = i < w->nr_indices ? w->first[i] : 0;
		w->first[i] = sum;
		sum += count;
	}
	pairs_index(g, &w->order_only, pairs_compare);
	always_index(g);
	if (g->is_renumbered && sort_uses(g))
		return -ENOMEM;
	follow_index(w);
	return transient_index(g) ? no_memory(g) : 0;
}
