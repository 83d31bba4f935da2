/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds of tasks whose uses ask for something around the body: bytes that come
 * and go, a token, data that moves.
 */
#include "seal/edges.h"

#include "data/data.h"
#include "run/commute.h"
#include "run/follow.h"
#include "run/values.h"

/* The kind with what this use asks for around it; NULL: no memory. */
static struct lkdf_kind *change_follow(struct wirer *r, struct lkdf_kind *k,
				       const struct wire_use *u)
{
	if (k->follows || !data_follows(wire_var(r->w, u->var)->data))
		return k;
	return kind_following(k, follow_body);
}

static struct lkdf_kind *change_brief(struct wirer *r, struct lkdf_kind *k,
				      const struct wire_use *u)
{
	(void)r;
	return k->body || !(u->flags & WIRE_BRIEF) ? k
						   : kind_wrap(k, brief_body);
}

static struct lkdf_kind *change_token(struct wirer *r, struct lkdf_kind *k,
				      const struct wire_use *u)
{
	(void)r;
	return k->commutes || !(u->flags & WIRE_TOKEN)
		       ? k
		       : kind_commuting(k, commute_body);
}

static void change_by(struct wirer *r,
		      struct lkdf_kind *(*change)(struct wirer *r,
						  struct lkdf_kind *k,
						  const struct wire_use *u))
{
	struct wire_use *u;
	struct rec *rec;
	uint32_t i;

	for (i = 0; i < r->w->uses.nr && !r->rc; i++) {
		u = use_at(r, i);
		rec = &r->g->recs[u->task];
		rec->kind = change(r, rec->kind, u);
		if (!rec->kind)
			edge_no_memory(r);
	}
}

/*
 * Tasks that produce or read brief bytes get a kind that sees to them, tasks
 * that take tokens one that does so, and tasks of data that moves one that
 * moves it, within those.
 */
static void change_kinds(struct wirer *r)
{
	if (r->w->has_moves)
		change_by(r, change_follow);
	change_by(r, change_brief);
	change_by(r, change_token);
}

int wrap_kinds(struct lkdf_graph *g)
{
	struct wirer r = { .g = g, .w = g->wiring };

	change_kinds(&r);
	return r.rc;
}
