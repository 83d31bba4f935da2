/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "flow/always.h"

#include "flow/edges.h"
#include "flow/frame.h"
#include "flow/task.h"

#include <stdlib.h>
#include <string.h>

/* ---- at seal ------------------------------------------------------------ */

void always_note(struct wirer *r, const struct wire_use *u, uint32_t writer)
{
	struct wire_pair *p;

	if (writer == NO_TASK || writer == u->task || r->rc ||
	    !always_is(r->g, u->task))
		return;
	p = array_add(&r->w->inputs);
	if (p)
		*p = (struct wire_pair){ writer, u->task, u->var };
	else
		edge_no_memory(r);
}

static int compare_inputs(const void *a, const void *b)
{
	const struct wire_pair *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->var < y->var ? -1 : x->var > y->var;
}

void always_index(struct lkdf_graph *g)
{
	soft_index(g, &g->wiring->inputs, compare_inputs);
}

/* ---- in a run ------------------------------------------------------------ */

bool always_create(struct values *v, const struct wiring *w)
{
	if (!w->inputs.nr)
		return true;
	v->dead = calloc(w->nr_indices, sizeof(*v->dead));
	return v->dead != NULL;
}

void always_begin(struct values *v, const struct wiring *w)
{
	if (likely(!a_load(&v->has_dead, relaxed)))
		return;
	memset(v->dead, 0, w->nr_indices * sizeof(*v->dead));
	a_store(&v->has_dead, 0, relaxed);
}

/* Is one of those dead who write what the use reads? */
static bool is_unwritten(const struct frame *f, const struct wire_use *u)
{
	const struct wire_pair key = { 0, u->task, u->var };
	const struct array *a = &f->graph->wiring->inputs;
	const struct wire_pair *p = a->items;
	size_t low = 0, high = a->nr, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (compare_inputs(&p[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < a->nr && !compare_inputs(&p[low], &key); low++)
		if (f->values.dead[p[low].from])
			return true;
	return false;
}

static int use_error(const struct frame *f, const struct wire_use *u)
{
	const struct wire_var *v = wire_var(f->graph->wiring, u->var);
	int error = 0;

	if (!(u->flags & WIRE_READS))
		return 0;
	if (u->flags & WIRE_FIRST && v->claim != NO_CLAIM)
		error = f->values.error[v->claim];
	if (!error && u->flags & WIRE_TOKEN)
		error = a_load(&v->token->whole.error, relaxed);
	if (!error && is_unwritten(f, u))
		error = frame_error(f);
	return error;
}

int always_input_error(const struct task *t, unsigned input)
{
	const struct frame *f = t->frame;
	const struct wiring *w = f->graph->wiring;
	const struct wire_use *u = NULL, *end = NULL;

	if (w)
		u = wire_uses(w, t->index, &end);
	if (input < (size_t)(end - u))
		return use_error(f, wire_main(w, &u[input]));
	return input == (size_t)(end - u) && t->is_dead ? frame_error(f) : 0;
}
