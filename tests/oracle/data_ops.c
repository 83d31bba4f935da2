/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The operations of the thread, one after another: what is submitted has run
 * before the next.
 */
#include "tests/oracle/data_interpret.h"

#include <lkdf/lkdf.h>
#include <stdlib.h>
#include <string.h>

uint32_t d_op_nodes(const struct d_program *p, uint32_t op, uint32_t *first)
{
	const struct d_op *o = &p->op[op];

	if (o->what != D_RUN) {
		*first = o->first;
		return o->nr;
	}
	*first = p->graph[o->graph].first;
	return p->graph[o->graph].nr;
}

/* Takes its place; false: -ENODATA. */
static bool enter(struct d_interpreter *x, uint32_t node)
{
	struct d_eff eff[D_USES];
	uint32_t nr = d_effective(x->p, &x->p->node[node], eff), i;

	for (i = 0; i < nr; i++) {
		if (eff[i].reads && !eff[i].is_weak &&
		    eff[i].turn != D_TURN_REDUCE &&
		    !d_view_is_written(&x->root, &eff[i]))
			return false;
	}
	for (i = 0; i < nr; i++) {
		if (eff[i].writes)
			d_view_set_written(&x->root, &eff[i]);
	}
	return true;
}

/* All or none of them, or each by itself. */
static void run_roots(struct d_interpreter *x, const struct d_op *o)
{
	struct d_of_op *out = &x->e->op[x->op];
	uint32_t i, step, end = o->first + o->nr;
	struct d_view before = x->root;
	uint16_t errors = 0;

	for (i = o->first; i < end; i += 1 + x->p->node[i].nr_below) {
		if (enter(x, i))
			continue;
		d_result_of(x, i)->is_refused = true;
		out->is_refused = true;
	}
	if (out->is_refused && o->what == D_MANY) {
		x->root = before;
		return;
	}
	for (i = o->first; i < end; i += step) {
		step = 1 + x->p->node[i].nr_below;
		if (d_result_of(x, i)->is_refused)
			continue;
		d_run_task(x, &x->root, i);
		errors |= d_result_of(x, i)->errors;
	}
	x->scope_errors |= errors;
	if (o->what != D_CANCEL)
		out->errors = errors;
}

static void run_acquire(struct d_interpreter *x, const struct d_op *o)
{
	struct d_of_op *out = &x->e->op[x->op];
	struct d_eff u = { .p = x->p, .var = o->var };

	u.reads = o->mode & LKDF_READ;
	u.writes = o->mode & LKDF_WRITE;
	u.turn = u.writes ? D_TURN_WRITE : D_TURN_READ;
	out->is_refused = u.reads && !d_view_is_written(&x->root, &u);
	if (out->is_refused)
		return;
	d_view_end_groups(&x->root, &u);
	/* Whoever asks for it takes his place, even if he holds nothing. */
	if (u.writes)
		d_view_set_written(&x->root, &u);
	if (u.reads)
		out->errors = d_view_errors(&x->root, &u);
	if (out->errors)
		return;
	out->seen = d_touch_acquired(x->p, x->op, x->word[o->var]);
	if (!u.writes)
		return;
	d_view_publish(&x->root, &u, 0, NULL);
	x->version[o->var]++;
}

/* What is not there when the run starts, and read, is the run's error. */
static void begin_run(struct d_interpreter *x, const struct d_graph *g)
{
	bool is_written[D_VARS][D_PARTS] = { { false } };
	struct d_eff eff[D_USES];
	uint32_t i, j, s, end, nr;

	for (i = g->first; i < g->first + g->nr; i++) {
		nr = d_effective(x->p, &x->p->node[i], eff);
		for (j = 0; j < nr; j++) {
			if (!eff[j].reads)
				continue;
			for (s = d_eff_slots(&eff[j], &end); s < end; s++) {
				if (!is_written[eff[j].var][s])
					x->run_errors |=
						x->root.slot[eff[j].var][s]
							.errors;
			}
		}
		for (j = 0; j < nr; j++) {
			for (s = d_eff_slots(&eff[j], &end); s < end; s++)
				is_written[eff[j].var][s] |=
					eff[j].writes &&
					eff[j].turn != D_TURN_REDUCE;
		}
	}
}

static void end_run(struct d_interpreter *x, struct d_view *v,
		    const struct d_graph *g)
{
	struct d_eff eff[D_USES];
	uint32_t i, j, nr, var;

	for (i = g->first; i < g->first + g->nr; i++) {
		nr = d_effective(x->p, &x->p->node[i], eff);
		for (j = 0; j < nr; j++) {
			d_view_end_groups(&x->root, &eff[j]);
			if (!eff[j].writes)
				continue;
			d_view_set_written(&x->root, &eff[j]);
			d_view_take(&x->root, v, &eff[j], x->run_errors);
			if (x->run_errors)
				x->knows_version[eff[j].var] = false;
		}
	}
	for (var = 0; var < x->p->nr_vars; var++)
		x->version[var] += x->run_version[var];
}

/* An input that has failed in the run has the run's first error. */
static void note_inputs(struct d_interpreter *x, const struct d_graph *g)
{
	struct d_result *result;
	uint32_t i, j;

	for (i = g->first; i < g->first + g->nr; i++) {
		result = d_result_of(x, i);
		for (j = 0; j < D_USES; j++) {
			if (result->input_errors[j])
				result->input_errors[j] |= x->run_errors;
		}
	}
}

/* One after another; what a run leaves is there when it is over. */
static void run_graph(struct d_interpreter *x, const struct d_op *o)
{
	struct d_of_op *out = &x->e->op[x->op];
	const struct d_graph *g = &x->p->graph[o->graph];
	struct d_view v;
	uint32_t i;

	x->is_of_graph = true;
	for (x->rep = 0; x->rep < o->times && !out->errors; x->rep++) {
		x->run_errors = 0;
		memset(x->run_version, 0, sizeof(x->run_version));
		v = x->root;
		d_view_forget_groups(&v);
		begin_run(x, g);
		for (i = g->first; i < g->first + g->nr; i++) {
			d_run_task(x, &v, i);
			x->e->nr_drops += d_nr_produced(
				x->p, i, d_result_of(x, i)->has_run);
		}
		note_inputs(x, g);
		end_run(x, &v, g);
		out->nr_reps++;
		out->errors = x->run_errors;
	}
	x->rep = 0;
	x->is_of_graph = false;
	x->scope_errors |= out->errors;
}

static void run_op(struct d_interpreter *x)
{
	const struct d_op *o = &x->p->op[x->op];
	struct d_of_op *out = &x->e->op[x->op];

	if (o->what == D_ACQUIRE || o->what == D_CANCEL)
		run_acquire(x, o);
	x->is_cancelled = o->what == D_CANCEL;
	if (o->what == D_RUN)
		run_graph(x, o);
	else if (o->nr)
		run_roots(x, o);
	x->is_cancelled = false;
	if (o->what == D_CANCEL)
		x->scope_errors |= D_CANCELLED;
	if (o->what == D_WAIT) {
		out->errors = x->scope_errors;
		x->scope_errors = 0;
	}
	out->nr_failed = x->nr_failed;
	out->nr_skipped = x->nr_skipped;
	out->nr_cancelled = x->nr_cancelled;
}

static void begin(struct d_interpreter *x)
{
	const struct d_var *v;
	uint32_t i, j, s, nr = 0, first;

	for (i = 0; i < x->p->nr_ops; i++) {
		x->e->op[i].at = nr;
		nr += d_op_nodes(x->p, i, &first) *
		      (x->p->op[i].what == D_RUN ? x->p->op[i].times : 1);
	}
	x->e->result = calloc(nr + 1, sizeof(*x->e->result));
	if (!x->e->result)
		abort();
	for (i = 0; i < x->p->nr_vars; i++) {
		v = &x->p->var[i];
		x->knows_version[i] = true;
		x->version[i] = v->start != D_EMPTY;
		x->e->nr_drops += v->has_drop && v->start != D_EMPTY;
		for (j = 0; j < v->nr_words; j++)
			x->word[i][j] = v->start != D_EMPTY
						? d_first_value(x->p, i, j)
						: v->multiplies;
		for (s = 0; s < D_PARTS; s++)
			x->root.slot[i][s].is_written = v->start != D_EMPTY;
	}
}

static void end(struct d_interpreter *x)
{
	struct d_of_var *out;
	uint32_t i;

	for (i = 0; i < x->p->nr_vars; i++) {
		struct d_eff u = { .p = x->p, .var = (uint8_t)i };

		out = &x->e->var[i];
		memcpy(out->word, x->word[i], sizeof(out->word));
		out->errors = d_view_errors(&x->root, &u);
		out->is_written = d_view_is_written(&x->root, &u);
		out->version = x->version[i];
		out->knows_version = x->knows_version[i];
	}
}

void d_model_run(const struct d_program *p, struct d_expect *e)
{
	struct d_interpreter *x = calloc(1, sizeof(*x));

	if (!x)
		abort();
	memset(e, 0, sizeof(*e));
	x->p = p;
	x->e = e;
	begin(x);
	for (x->op = 0; x->op < p->nr_ops; x->op++)
		run_op(x);
	end(x);
	free(x);
}

void d_expect_free(struct d_expect *e)
{
	free(e->result);
	e->result = NULL;
}
