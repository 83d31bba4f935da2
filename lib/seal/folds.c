/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * LKDF_REDUCE in loops. The task of ours that combines the copies of a group
 * is a member where a member comes after it, and combines in each iteration.
 * Where it comes after the loop the copies go on through all iterations, and
 * are combined once. But when another use of the loop comes before the group,
 * the next iteration begins with that one: then whoever resolves the last latch
 * combines them before it starts the head.
 *
 * Such a use comes before all of the group, so reducers outside of the loop
 * come before the loop or after it, and nobody else has copies then.
 */
#include "seal/find_loops.h"

#include "base/err.h"
#include "graph/access.h"

#include <errno.h>
#include <lkdf/data.h>
#include <stdlib.h>

/* By task: the use that combines, plus 1; and the uses of each data. */
struct folder {
	struct looper *p;
	const struct access_use *use;
	uint32_t *combines;
	uint32_t *first, *next; /* by whole var; by use: plus 1 */
	struct array found; /* struct found_fold */
};

struct found_fold {
	uint32_t loop;
	struct loop_fold fold;
};

static int no_memory(const struct looper *p)
{
	return err(-ENOMEM, "graph %s: no memory for reductions in loops",
		   p->g->name);
}

static void list_uses(struct folder *d)
{
	const struct access_table *w = d->p->g->accesses;
	uint32_t i, whole;

	for (i = 0; i < w->uses.nr; i++) {
		whole = access_whole(w, d->use[i].var);
		d->next[i] = d->first[whole];
		d->first[whole] = i + 1;
		if (d->use[i].flags & ACCESS_COMBINES &&
		    d->p->g->recs[d->use[i].task].arg)
			d->combines[d->use[i].task] = i + 1;
	}
}

/* Is there a byte in both? */
static bool parts_overlap(const struct access_table *w, uint32_t a, uint32_t b)
{
	check(a < w->vars.nr && b < w->vars.nr);
	return a == b || access_whole(w, a) == b || access_whole(w, b) == a;
}

/* The task that combines what the use reduces; NO_TASK: it does not reduce. */
static uint32_t combiner_of(const struct folder *d, const struct access_use *u)
{
	const struct looper *p = d->p;
	uint32_t i, to;

	if (!(u->mode & LKDF_REDUCE) || u->flags & ACCESS_MERGED)
		return NO_TASK;
	for (i = p->first[u->task]; i < p->first[u->task + 1]; i++) {
		to = p->edge[i].to;
		if (d->combines[to] &&
		    d->use[d->combines[to] - 1].var == u->var)
			return to;
	}
	return NO_TASK;
}

/* Has the loop a use of these bytes that is not of the group? */
static bool has_other(const struct folder *d, uint32_t l,
		      const struct access_use *of)
{
	const struct looper *p = d->p;
	const struct access_table *w = p->g->accesses;
	const struct access_use *u;
	uint32_t i;

	for (i = d->first[access_whole(w, of->var)]; i; i = d->next[i - 1]) {
		u = &d->use[i - 1];
		if (!(u->flags & ACCESS_MERGED) &&
		    loops_has(p->c, l, p->c->loop_of[u->task]) &&
		    parts_overlap(w, u->var, of->var) &&
		    combiner_of(d, u) != of->task)
			return true;
	}
	return false;
}

static bool is_found(const struct folder *d, uint32_t l, uint32_t task)
{
	const struct found_fold *f = d->found.items;
	size_t i;

	check(l < d->p->c->nr_loops);
	for (i = 0; i < d->found.nr; i++)
		if (f[i].loop == l && f[i].fold.task == task)
			return true;
	return false;
}

static int add_fold(struct folder *d, uint32_t l, uint32_t task)
{
	struct found_fold *f;

	check(l < d->p->c->nr_loops);
	if (is_found(d, l, task))
		return 0;
	f = array_add(&d->found);
	if (!f)
		return no_memory(d->p);
	*f = (struct found_fold){
		.loop = l,
		.fold = { d->p->g->recs[task].arg, task },
	};
	d->p->c->loops[l].nr_folds++;
	return 0;
}

/* For one use that reduces: all loops that it is in and its group's end not. */
static int find_folds(struct folder *d, const struct access_use *u)
{
	const struct control *c = d->p->c;
	uint32_t l = c->loop_of[u->task], task;
	int rc = 0;

	if (l == NO_LOOP)
		return 0;
	task = combiner_of(d, u);
	if (task == NO_TASK)
		return 0;
	for (; l != NO_LOOP && !rc; l = c->loops[l].parent) {
		if (loops_has(c, l, c->loop_of[task]))
			break;
		if (has_other(d, l, &d->use[d->combines[task] - 1]))
			rc = add_fold(d, l, task);
	}
	return rc;
}

static int lay_out_folds(struct folder *d)
{
	const struct found_fold *f = d->found.items;
	struct control *c = d->p->c;
	struct graph_loop *l;
	uint32_t i, at = 0;

	c->folds = calloc(d->found.nr + 1, sizeof(*c->folds));
	if (!c->folds)
		return no_memory(d->p);
	for (i = 0; i < c->nr_loops; i++) {
		c->loops[i].first_fold = at;
		at += c->loops[i].nr_folds;
		c->loops[i].nr_folds = 0;
	}
	c->nr_folds = at;
	for (i = 0; i < d->found.nr; i++) {
		l = &c->loops[f[i].loop];
		c->folds[l->first_fold + l->nr_folds++] = f[i].fold;
	}
	return 0;
}

static int find_all(struct folder *d)
{
	uint32_t i;
	int rc = 0;

	list_uses(d);
	for (i = 0; i < d->p->g->accesses->uses.nr && !rc; i++)
		rc = find_folds(d, &d->use[i]);
	return rc ? rc : lay_out_folds(d);
}

int folds_find(struct looper *p)
{
	const struct access_table *w = p->g->accesses;
	struct folder d = {
		.p = p,
		.use = w->uses.items,
		.found.item_size = sizeof(struct found_fold),
	};
	int rc;

	d.combines = calloc(p->nr_tasks + 1ul, sizeof(*d.combines));
	d.first = calloc(w->vars.nr + 1, sizeof(*d.first));
	d.next = calloc(w->uses.nr + 1, sizeof(*d.next));
	rc = d.combines && d.first && d.next ? find_all(&d) : no_memory(p);
	free(d.combines);
	free(d.first);
	free(d.next);
	array_fini(&d.found);
	return rc;
}
