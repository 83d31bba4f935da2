/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a program with data left in the library against what the model expects.
 */
#include "tests/oracle/data_world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool d_is_possible(int rc, uint16_t errors)
{
	return rc ? model_bit(rc) & errors : !errors;
}

void d_check_event(struct d_world *w, uint32_t op, int rc)
{
	if (!d_is_possible(rc, w->expect.op[op].errors))
		d_wrong(w, "op %u ends with %d, not of %#x", op, rc,
			w->expect.op[op].errors);
}

void d_check_wait(struct d_world *w, uint32_t op, int rc)
{
	const struct d_of_op *x = &w->expect.op[op];
	struct lkdf_error e = { .size = sizeof(e) };

	if (!d_is_possible(rc, x->errors) && !(w->has_seen && !rc))
		d_wrong(w, "op %u: scope ends with %d, not of %#x", op, rc,
			x->errors);
	if (lkdf_scope_error(w->rt, w->scope, &e))
		d_wrong(w, "scope error: %s", lkdf_errmsg());
	if (e.nr_failed != x->nr_failed || e.nr_skipped != x->nr_skipped ||
	    e.nr_cancelled != x->nr_cancelled)
		d_wrong(w,
			"op %u: scope: %llu failed, %llu skipped, %llu "
			"cancelled; expected %u, %u, %u",
			op, (unsigned long long)e.nr_failed,
			(unsigned long long)e.nr_skipped,
			(unsigned long long)e.nr_cancelled, x->nr_failed,
			x->nr_skipped, x->nr_cancelled);
}

void d_check_acquired(struct d_world *w, uint32_t op, int rc,
		      const uint64_t *word)
{
	const struct d_of_op *x = &w->expect.op[op];
	const struct d_op *o = &w->p->op[op];
	uint64_t seen, copy[D_WORDS];

	if (x->is_refused ? rc != -ENODATA : !d_is_possible(rc, x->errors)) {
		d_wrong(w, "op %u: acquire: %d, not of %#x%s", op, rc,
			x->errors, x->is_refused ? ", no data" : "");
		return;
	}
	if (rc)
		return;
	memcpy(copy, word, w->p->var[o->var].nr_words * sizeof(*copy));
	seen = d_touch_acquired(w->p, op, copy);
	if (seen != x->seen)
		d_wrong(w, "op %u: acquire sees %#llx, expected %#llx", op,
			(unsigned long long)seen, (unsigned long long)x->seen);
}

static void check_cell(struct d_world *w, uint32_t op, uint32_t rep,
		       uint32_t node)
{
	const struct d_result *r = d_expected(w, op, rep, node);
	struct d_cell *cell = d_cell_of(w, op, rep, node);

	if (atomic_load(&cell->nr_started) != r->has_run ||
	    atomic_load(&cell->nr_ended) != r->has_run)
		d_wrong(w, "op %u rep %u: task %u has%s run", op, rep, node,
			r->has_run ? " not" : "");
	else if (cell->seen != r->seen)
		d_wrong(w,
			"op %u rep %u: task %u has seen %#llx, expected %#llx",
			op, rep, node, (unsigned long long)cell->seen,
			(unsigned long long)r->seen);
}

/* How often the model runs it, in all runs of its graph. */
static void check_kernel(struct d_world *w, uint32_t node)
{
	/* A kernel that was given ahead may run behind one that fails. */
	bool may_be_more =
		w->p->node[node].device == D_ORDERED && w->p->has_errors;
	uint32_t op, rep, first, nr, nr_runs = 0, has_run;

	for (op = 0; op < w->p->nr_ops; op++) {
		nr = d_op_nodes(w->p, op, &first);
		for (rep = 0; w->p->op[op].what == D_RUN && node >= first &&
			      node < first + nr && rep < w->p->op[op].times;
		     rep++)
			nr_runs += d_expected(w, op, rep, node)->has_run;
	}
	has_run = atomic_load(&w->nr_kernels[node]);
	if (has_run < nr_runs || (has_run > nr_runs && !may_be_more))
		d_wrong(w, "kernel %u has run %u times, expected %u", node,
			has_run, nr_runs);
}

/* A text, and a function that does not know its run, leave none. */
static bool has_cell(const struct d_world *w, uint32_t op, uint32_t node)
{
	const struct d_task *t = &w->p->node[node];

	if (!t->device || !t->is_code)
		return true;
	return w->p->devices == D_EMULATED && w->p->op[op].what != D_RUN;
}

void d_check_cells(struct d_world *w)
{
	uint32_t op, rep, nr_reps, node, first, nr;

	for (node = 0; node < w->p->nr_nodes; node++)
		if (w->p->node[node].device && w->p->node[node].is_code &&
		    w->p->devices == D_EMULATED)
			check_kernel(w, node);

	for (op = 0; op < w->p->nr_ops; op++) {
		nr = d_op_nodes(w->p, op, &first);
		nr_reps = w->p->op[op].what == D_RUN ? w->p->op[op].times : 1;
		for (rep = 0; rep < nr_reps; rep++) {
			for (node = first; node < first + nr; node++)
				if (has_cell(w, op, node))
					check_cell(w, op, rep, node);
		}
	}
}

void d_print_missing(void)
{
	struct d_world *w = d_world_now();
	uint32_t op, node, first, nr;

	for (op = 0; w && op < w->p->nr_ops; op++) {
		nr = d_op_nodes(w->p, op, &first);
		for (node = first; node < first + nr; node++) {
			if (has_cell(w, op, node) &&
			    d_expected(w, op, 0, node)->has_run &&
			    !atomic_load(&d_cell_of(w, op, 0, node)->nr_ended))
				printf("# op %u: task %u has not ended\n", op,
				       node);
		}
	}
}

static void check_words(struct d_world *w, uint32_t var, const uint64_t *word)
{
	uint32_t j;

	for (j = 0; j < w->p->var[var].nr_words; j++) {
		if (word[j] == w->expect.var[var].word[j])
			continue;
		d_wrong(w, "data %u: word %u is %#llx, expected %#llx", var, j,
			(unsigned long long)word[j],
			(unsigned long long)w->expect.var[var].word[j]);
		return;
	}
}

static void check_version(struct d_world *w, uint32_t var)
{
	uint64_t version = lkdf_data_version(w->data[var]);

	if (w->expect.var[var].knows_version &&
	    version != w->expect.var[var].version)
		d_wrong(w, "data %u: version %llu, expected %llu", var,
			(unsigned long long)version,
			(unsigned long long)w->expect.var[var].version);
}

static void check_value(struct d_world *w, uint32_t var)
{
	const struct d_of_var *x = &w->expect.var[var];
	void *word;
	int rc;

	rc = lkdf_data_acquire(w->data[var], LKDF_READ, -1, &word);
	if (x->is_written ? !d_is_possible(rc, x->errors) : rc != -ENODATA)
		d_wrong(w, "data %u: acquire: %d, not of %#x%s", var, rc,
			x->errors, x->is_written ? "" : ", no data");
	if (rc)
		return;
	if (!x->errors)
		check_words(w, var, word);
	rc = lkdf_data_release(w->data[var]);
	if (rc)
		d_wrong(w, "data %u: release: %d", var, rc);
}

void d_check_data(struct d_world *w)
{
	const struct d_var *v;
	uint32_t var;

	for (var = 0; var < w->p->nr_vars; var++) {
		v = &w->p->var[var];
		if (v->is_once && !v->is_kept)
			continue;
		/* A weak write counts when what is before it is combined. */
		check_value(w, var);
		check_version(w, var);
	}
}
