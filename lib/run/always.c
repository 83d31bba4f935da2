/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/always.h"

#include "graph/pairs.h"
#include "run/offhost_run.h"
#include "task/task.h"

#include <stdlib.h>
#include <string.h>

/* ---- at seal ------------------------------------------------------------ */

static int compare_inputs(const void *a, const void *b)
{
	const struct access_pair *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->var < y->var ? -1 : x->var > y->var;
}

void always_index(struct lkdf_graph *g)
{
	check(!g->is_sealed);
	pairs_index(g, &g->accesses->inputs, compare_inputs);
}

/* The first pair that is not before the key. */
static const struct access_pair *find_input(const struct access_table *w,
					    const struct access_pair *key,
					    const struct access_pair **end)
{
	const struct access_pair *p = w->inputs.items;
	size_t low = 0, high = w->inputs.nr, mid;

	*end = p + high;
	while (low < high) {
		mid = (low + high) / 2;
		if (compare_inputs(&p[mid], key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return p + low;
}

/* ---- in a run ------------------------------------------------------------ */

bool always_create(struct values *v, const struct access_table *w)
{
	if (!w->inputs.nr)
		return true;
	v->bad = calloc(w->uses.nr, sizeof(*v->bad));
	return v->bad != NULL;
}

void always_begin(struct values *v, const struct access_table *w)
{
	if (likely(!a_load(&v->has_bad, relaxed)))
		return;
	memset(v->bad, 0, w->uses.nr * sizeof(*v->bad));
	a_store(&v->has_bad, 0, relaxed);
}

static uint8_t *mark_of(const struct frame *f, const struct access_use *u)
{
	const struct access_use *all = f->graph->accesses->uses.items;

	return &f->values.bad[u - all];
}

void always_note_bad(struct frame *f, const struct access_use *u)
{
	*mark_of(f, u) = 1;
	a_store(&f->values.has_bad, 1, relaxed);
}

/* Has the writer of the pair left bad what is read? */
static bool is_bad(const struct frame *f, const struct access_pair *p)
{
	const struct access_use *u, *end;

	for (u = access_uses(f->graph->accesses, p->from, &end); u < end; u++)
		if (u->var == p->of && *mark_of(f, u))
			return true;
	return false;
}

bool always_is_bad(const struct frame *f, uint32_t from, uint32_t to)
{
	const struct access_pair key = { .to = to }, *p, *end;

	check(frame_has(f, from) && frame_has(f, to));
	for (p = find_input(f->graph->accesses, &key, &end);
	     p < end && p->to == to; p++)
		if (p->from == from && is_bad(f, p))
			return true;
	return false;
}

/* Has one of those failed who write what the use reads? */
static bool is_unwritten(const struct frame *f, const struct access_use *u)
{
	const struct access_pair key = { .to = u->task, .var = u->var };
	const struct access_pair *p, *end;

	for (p = find_input(f->graph->accesses, &key, &end);
	     p < end && !compare_inputs(p, &key); p++)
		if (is_bad(f, p))
			return true;
	return false;
}

static int use_error(const struct frame *f, const struct access_use *u)
{
	const struct access_var *v = access_var(f->graph->accesses, u->var);
	int error = 0;

	if (!(u->flags & ACCESS_READS))
		return 0;
	if (u->flags & ACCESS_FIRST && v->claim != NO_CLAIM)
		error = f->values.error[v->claim];
	if (!error && u->flags & ACCESS_TOKEN)
		error = a_load(&v->token->whole.error, relaxed);
	if (!error && is_unwritten(f, u))
		error = frame_error(f);
	if (!error)
		error = offhost_run_error(f, u);
	return error;
}

int always_input_error(const struct task *t, unsigned input)
{
	const struct frame *f = t->frame;
	const struct access_table *w = f->graph->accesses;
	const struct access_use *u = NULL, *end = NULL;

	if (w)
		u = access_uses(w, t->index, &end);
	if (input < (size_t)(end - u))
		return use_error(f, access_main(w, &u[input]));
	return input == (size_t)(end - u) && t->is_dead ? frame_error(f) : 0;
}

/* ---- what was left as it was -------------------------------------------- */

/* Its children have written nothing, or some of its parts only. */
static bool is_left_below(const struct task *t, unsigned use)
{
	const struct use *u;

	if (!(t->link.flags & TASK_HAS_DATA))
		return true;
	u = &t->claim->use[use];
	return !u->below || !var_has_value(u->below, &u->below->whole);
}

static bool is_left(const struct task *t, const struct access_use *first,
		    const struct access_use *u)
{
	if (!(u->flags & ACCESS_WRITES) || u->flags & ACCESS_MERGED ||
	    u->mode & LKDF_REDUCE)
		return false;
	return values_is_untouched(t->frame, u) ||
	       (u->mode & LKDF_WEAK && is_left_below(t, (unsigned)(u - first)));
}

void always_end(struct task *t)
{
	const struct access_use *first, *u, *end;
	struct frame *f = t->frame;
	uint32_t claim;

	check(t->frame);
	if (likely(!f->values.bad) || !(t->kind->flags & LKDF_ALWAYS))
		return;
	first = access_uses(f->graph->accesses, t->index, &end);
	for (u = first; u < end; u++) {
		if (!is_left(t, first, u) || !use_error(f, u))
			continue;
		always_note_bad(f, u);
		claim = access_var(f->graph->accesses, u->var)->claim;
		if (u->flags & ACCESS_LAST && claim != NO_CLAIM)
			a_store(&f->values.is_dead[claim], 1, relaxed);
	}
}

void always_open(const struct task *t, unsigned use, struct domain *d)
{
	struct frame *f = t->frame;
	int error;

	error = t->kind->flags & LKDF_ALWAYS ? always_input_error(t, use) : 0;
	if (unlikely(error))
		/* [frame.fail] pairs with [frame.resolved]. */
		var_fail(&d->whole, error, a_load(&f->failure, acquire));
}
