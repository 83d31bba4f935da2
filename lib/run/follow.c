/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/follow.h"

#include "data/data.h"
#include "data/replica.h"
#include "graph/access.h"
#include "run/frame.h"
#include "run/planned.h"
#include "task/ctx.h"
#include "task/move.h"
#include "task/uses.h"

#include <stdlib.h>

/* ---- at seal ------------------------------------------------------------ */

/* It reads the whole, and writes nothing of it. */
static bool may_be_copied(const struct access_table *w,
			  const struct access_use *u)
{
	const struct access_use *m = access_main(w, u);
	const struct access_var *v = access_var(w, m->var);

	return v->data->replicas && !v->part && !(m->flags & ACCESS_WRITES) &&
	       !(m->mode & LKDF_WEAK);
}

void follow_index(struct access_table *w)
{
	struct access_use *u = w->uses.items;
	uint32_t i;

	for (i = 0; w->has_moves && i < w->uses.nr; i++)
		if (may_be_copied(w, &u[i]))
			u[i].mode |= FOLLOW_COPIED;
}

bool follow_create(struct values *v, const struct access_table *w)
{
	if (!w->has_moves)
		return true;
	v->copy = calloc(w->uses.nr, sizeof(*v->copy));
	return v->copy != NULL;
}

/* ---- before a body ------------------------------------------------------ */

static uint16_t *copy_of(const struct frame *f, const struct access_use *u)
{
	const struct access_use *all = f->graph->accesses->uses.items;

	return &f->values.copy[u - all];
}

/* Alone are those only that nobody else may come between. */
static uint8_t turn_of(const struct access_use *u)
{
	if (!(u->flags & ACCESS_WRITES))
		return TURN_READ;
	if (u->mode & LKDF_REDUCE)
		return TURN_REDUCE;
	return u->mode & LKDF_RW && !(u->flags & ACCESS_COMBINES)
		       ? TURN_WRITE
		       : TURN_COMMUTE;
}

/* As the use of a task that was submitted. */
static void init_use(struct use *u, const struct access_var *v,
		     const struct access_use *from)
{
	u->domain = &v->data->domain;
	u->var = domain_var(u->domain, v->part);
	u->part = v->part;
	u->mode = from->mode;
	u->turn = turn_of(from);
	u->flags = (from->flags & ACCESS_READS ? USE_READS : 0) |
		   (from->flags & ACCESS_WRITES ? USE_WRITES : 0);
}

/* Where it is now; what the plan says of it is no more true. */
static void note_moved(struct frame *f, uint32_t var, int before)
{
	const struct access_var *v = access_var(f->graph->accesses, var);
	struct lkdf_data *d = v->data;
	int node = a_load(&domain_var(&d->domain, v->part)->node, relaxed);

	/* Parts keep their address. */
	if (!v->part && !v->nr_parts)
		f->values.var[var].bytes = a_load(&d->domain.at, relaxed);
	if (f->graph->planned && node >= 0 && node != before)
		planned_move(f, var, node);
}

static void follow_use(struct executor *ex, struct frame *f,
		       const struct access_use *u)
{
	const struct access_var *v = access_var(f->graph->accesses, u->var);
	struct use use = { .copy = 0 };
	int before;

	/* Children touch what is WEAK, and see to it themselves. */
	if (!data_follows(v->data) || u->flags & ACCESS_MERGED ||
	    u->mode & LKDF_WEAK)
		return;
	init_use(&use, v, u);
	before = a_load(&use.var->node, relaxed);
	move_use(ex, &use);
	*copy_of(f, u) = use.copy;
	if (use.turn == TURN_WRITE)
		note_moved(f, u->var, before);
}

int follow_body(struct lkdf_ctx *c, void *arg)
{
	const struct access_use *u, *end;
	struct frame *f = c->frame;

	for (u = access_uses(f->graph->accesses, c->index, &end); u < end; u++)
		follow_use(c->ex, f, u);
	return f->recs[c->index].kind->inner[AROUND_MOVE](c, arg);
}

/* For a use that another one stands for: its own part. */
void *follow_ptr(const struct frame *f, const struct access_use *u)
{
	const struct access_table *w = f->graph->accesses;
	const struct access_var *v = access_var(w, u->var);
	uint16_t copy = *copy_of(f, access_main(w, u));
	char *at;

	if (!copy)
		return f->values.var[u->var].bytes;
	at = replica_at(v->data, copy - 1);
	return at + v->offset;
}
