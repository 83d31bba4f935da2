/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds of tasks whose uses ask for something around the body: bytes that come
 * and go, or come home, a token, data that moves.
 */
#include "seal/edges.h"

#include "data/data.h"
#include "run/commute.h"
#include "run/follow.h"
#include "run/offhost_run.h"
#include "run/values.h"

static const lkdf_fn around[] = {
	[AROUND_MOVE] = follow_body,
	[AROUND_BYTES] = transient_body,
	[AROUND_HOME] = offhost_body,
	[AROUND_TOKENS] = commute_body,
};

/* Does the use of a task of that kind ask for the step? */
static bool asks_for(const struct lkdf_kind *k, const struct access_table *w,
		     const struct access_use *u, enum kind_step step)
{
	switch (step) {
	case AROUND_MOVE:
		return data_follows(access_var(w, u->var)->data);
	case AROUND_BYTES:
		return u->flags & ACCESS_TRANSIENT;
	case AROUND_HOME:
		return offhost_is_looked_at(k, w, u);
	case AROUND_TOKENS:
		return u->flags & ACCESS_TOKEN;
	default:
		return false;
	}
}

/* May some use ask for it? */
static bool is_asked(const struct access_table *w, enum kind_step step)
{
	switch (step) {
	case AROUND_MOVE:
		return w->has_moves;
	case AROUND_HOME:
		return w->has_away;
	case AROUND_TOKENS:
		return w->has_ordered;
	default:
		return true;
	}
}

/* Each step around all kinds that ask for it, from the innermost outwards. */
static void wrap_step(struct edge_maker *r, enum kind_step step)
{
	struct access_use *u;
	struct rec *rec;
	uint32_t i;

	for (i = 0; i < r->w->uses.nr && !r->rc; i++) {
		u = use_at(r, i);
		rec = &r->g->recs[u->task];
		if (rec->kind->inner[step] ||
		    !asks_for(rec->kind, r->w, u, step))
			continue;
		rec->kind = kind_around(rec->kind, step, around[step]);
		if (!rec->kind)
			edge_no_memory(r);
	}
}

int wrap_kinds(struct lkdf_graph *g)
{
	struct edge_maker r = { .g = g, .w = g->accesses };
	int step;

	check(!g->is_sealed);
	offhost_find(g);
	for (step = 0; step < (int)ARRAY_SIZE(around); step++)
		if (is_asked(r.w, (enum kind_step)step))
			wrap_step(&r, (enum kind_step)step);
	return r.rc;
}
