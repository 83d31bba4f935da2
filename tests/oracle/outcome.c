/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fact *add(struct outcome *o, const char *what, uint64_t value)
{
	struct fact *f;

	if (o->nr == o->cap) {
		o->cap = o->cap ? o->cap * 2 : 256;
		o->fact = realloc(o->fact, o->cap * sizeof(*o->fact));
		if (!o->fact)
			abort();
	}
	f = &o->fact[o->nr++];
	*f = (struct fact){ .what = what, .value = value };
	return f;
}

static bool is_one_bit(uint32_t set)
{
	return set && !(set & (set - 1));
}

/* An error, or only that there is one. */
static uint64_t sure_error(int rc, uint32_t possible)
{
	return is_one_bit(possible) ? (uint64_t)-rc : rc != 0;
}

/* One fact for each cell: many, so they are mixed. */
static void take_cell(struct world *w, struct outcome *o, uint32_t call,
		      uint32_t rep, uint32_t node)
{
	struct cell *cell = cell_of(w, call, rep, node);
	const struct call *c = &w->p->call[call];
	uint32_t i = rep * call_nr_cells(w->p, c) + node - c->first;
	const struct result *r = &w->run[call].expect.result[i];
	struct fact *f = add(o, "node", atomic_load(&cell->state));

	f->call = call;
	f->rep = rep;
	f->node = node;
	f->value = mix(f->value + cell->value);
	f->value = mix(f->value + cell->extra);
	f->value = mix(f->value + cell->in);
	f->value = mix(f->value + atomic_load(&cell->nr_drops));
	f->value = mix(f->value + sure_error(cell->seen, r->child_errors));
}

/* Nodes that fail in the last repetition; with 1 the text is a fact. */
static uint32_t nr_failing(const struct world *w, uint32_t call)
{
	const struct call *c = &w->p->call[call];
	const struct expect *x = &w->run[call].expect;
	uint32_t i, nr = 0, nr_cells = call_nr_cells(w->p, c);

	for (i = 0; i < nr_cells; i++)
		nr += x->result[(x->nr_reps - 1) * nr_cells + i].errors != 0;
	return nr;
}

static void take_error(struct outcome *o, const struct lkdf_error *e,
		       uint32_t call, bool is_only_one)
{
	size_t first = o->nr;
	struct fact *f;

	add(o, "failed tasks", e->nr_failed);
	add(o, "skipped tasks", e->nr_skipped);
	add(o, "cancelled tasks", e->nr_cancelled);
	if (is_only_one) {
		f = add(o, "first error", (uint64_t)e->id);
		if (asprintf(&f->text, "%s, %s, %s", e->graph, e->task,
			     e->why) < 0)
			abort();
	}
	for (; first < o->nr; first++)
		o->fact[first].call = call;
}

/* Runs begin in the order of the calls if there is one caller and one frame. */
static bool has_order(const struct program *p)
{
	return p->nr_threads == 1 && p->inflight == 1 && !p->cancels;
}

static void take_call(struct world *w, struct outcome *o, uint32_t i)
{
	const struct call *c = &w->p->call[i];
	const struct run *run = &w->run[i];
	uint32_t rep, node;
	struct fact *f;

	for (rep = 0; rep < c->times; rep++) {
		for (node = c->first; node < c->first + call_nr_cells(w->p, c);
		     node++)
			take_cell(w, o, i, rep, node);
		if (c->is_submit || !has_order(w->p))
			continue;
		f = add(o, "number of the run", atomic_load(&run->seq[rep]));
		f->call = i;
		f->rep = rep;
	}
	add(o, "repetitions", run->rep)->call = i;
	if (!c->has_done)
		return;
	add(o, "error", sure_error(run->rc, run->expect.errors))->call = i;
	/* Of several that fail below a submitted task the first is told. */
	if (run->error.err && (!c->is_submit || nr_failing(w, i) == 1))
		take_error(o, &run->error, i, nr_failing(w, i) == 1);
}

static void take_scope(struct world *w, struct outcome *o)
{
	uint32_t errors = 0, nr = 0, i;

	for (i = 0; i < w->p->nr_calls; i++) {
		errors |= w->run[i].expect.errors;
		nr += nr_failing(w, i);
	}
	add(o, "error of the scope", sure_error(w->scope_error.err, errors));
	take_error(o, &w->scope_error, ID_OF_GRAPH, nr == 1);
}

void outcome_take(struct world *w, struct outcome *o)
{
	uint32_t i;

	for (i = 0; i < w->p->nr_calls; i++) {
		if (!w->p->cancels || w->p->call[i].phase)
			take_call(w, o, i);
	}
	for (i = 0; i < w->p->nr_tasks; i++)
		add(o, "drops of task", atomic_load(&w->nr_drops[i]))->node = i;
	if (w->p->cancels)
		return;
	take_scope(w, o);
	for (i = 0; i < NR_COUNTED; i++)
		add(o, world_counters[i], w->counted[i]);
}

static const char *text_of(const struct fact *f)
{
	return f->text ? f->text : "";
}

static bool same_fact(const struct fact *a, const struct fact *b)
{
	return a->what == b->what && a->call == b->call && a->rep == b->rep &&
	       a->node == b->node && a->value == b->value &&
	       !strcmp(text_of(a), text_of(b));
}

bool outcome_same(const struct outcome *parallel, const struct outcome *serial)
{
	const struct fact *a, *b;
	bool same = parallel->nr == serial->nr;
	size_t i;

	if (!same)
		wrong(NULL, "call: %zu facts in parallel, %zu in serial mode",
		      parallel->nr, serial->nr);
	for (i = 0; i < parallel->nr && i < serial->nr; i++) {
		a = &parallel->fact[i];
		b = &serial->fact[i];
		if (same_fact(a, b))
			continue;
		wrong(NULL,
		      "call %u rep %u node %u: %s: %#llx %s in parallel, %#llx "
		      "%s in serial mode",
		      a->call, a->rep, a->node, a->what,
		      (unsigned long long)a->value, text_of(a),
		      (unsigned long long)b->value, text_of(b));
		same = false;
	}
	return same;
}

void outcome_reset(struct outcome *o)
{
	while (o->nr)
		free(o->fact[--o->nr].text);
}

void outcome_free(struct outcome *o)
{
	outcome_reset(o);
	free(o->fact);
	memset(o, 0, sizeof(*o));
}
