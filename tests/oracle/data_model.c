/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/data_model.h"

#include "tests/oracle/data_interpret.h"

#include <lkdf/lkdf.h>

/* What has become of a task when its uses are published. */
struct end {
	uint16_t errors;
	bool has_failed; /* itself: not only a child of it */
	bool has_run;
	struct d_view *below;
};

/* ---- bodies, here and in the library ------------------------------------ */

static uint64_t look(const struct d_program *p, const struct d_use *u,
		     const uint64_t *word, uint64_t h)
{
	uint32_t j;

	if (!(u->mode & LKDF_READ) || u->mode & (LKDF_COMMUTE | LKDF_REDUCE))
		return h;
	for (j = 0; j < d_nr_words(&p->var[u->var], u->part); j++)
		h = mix(h + word[j]);
	return h;
}

static void change(const struct d_program *p, const struct d_use *u,
		   uint64_t *word, uint64_t h)
{
	const struct d_var *v = &p->var[u->var];
	uint32_t j;

	for (j = 0; j < d_nr_words(v, u->part); j++) {
		if (u->mode & (LKDF_COMMUTE | LKDF_REDUCE))
			word[j] = d_combine(v, word[j], mix(h + j) | 1);
		else if (u->mode & LKDF_WRITE && !u->is_untouched)
			word[j] = mix(h + j);
	}
}

uint64_t d_touch(const struct d_program *p, const struct d_task *t,
		 const struct d_bytes *b, uint64_t h, bool is_blind)
{
	uint32_t i;

	for (i = 0; i < t->nr_uses && !is_blind; i++) {
		if (b->word[i])
			h = look(p, &t->use[i], b->word[i], h);
	}
	for (i = 0; i < t->nr_uses; i++) {
		if (b->word[i])
			change(p, &t->use[i], b->word[i], mix(h + i));
	}
	return h;
}

uint64_t d_touch_acquired(const struct d_program *p, uint32_t op,
			  uint64_t *word)
{
	const struct d_task t = {
		.nr_uses = 1,
		.use[0] = { .var = p->op[op].var, .mode = p->op[op].mode },
	};
	const struct d_bytes b = { .word[0] = word };

	return d_touch(p, &t, &b, d_begin(p, op, 0, D_NODES), false);
}

/* ---- one task ------------------------------------------------------------ */

struct d_result *d_result_of(struct d_interpreter *x, uint32_t node)
{
	uint32_t first, nr = d_op_nodes(x->p, x->op, &first);

	return &x->e->result[x->e->op[x->op].at + x->rep * nr + node - first];
}

static uint16_t bit_of(const struct d_task *t)
{
	return (uint16_t)(1u << t->error);
}

static void find_bytes(struct d_interpreter *x, const struct d_task *t,
		       const struct d_result *r, bool again, struct d_bytes *b)
{
	const struct d_use *u;
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++) {
		u = &t->use[i];
		b->word[i] = &x->word[u->var][d_first_word(&x->p->var[u->var],
							   u->part)];
		if (u->mode & LKDF_WEAK || r->input_errors[i] ||
		    (again && u->ends))
			b->word[i] = NULL;
	}
}

static void run_children(struct d_interpreter *x, uint32_t node,
			 struct d_view *below)
{
	const struct d_task *t = &x->p->node[node];
	uint32_t i, end = t->below + t->nr_below;

	for (i = t->below; i < end; i += 1 + x->p->node[i].nr_below) {
		d_run_task(x, below, i);
		d_result_of(x, node)->child_errors |= d_result_of(x, i)->errors;
	}
}

static void run_body(struct d_interpreter *x, struct d_view *below,
		     uint32_t node, struct end *end)
{
	const struct d_task *t = &x->p->node[node];
	struct d_result *r = d_result_of(x, node);
	bool fails = d_task_fails(t, x->op, x->rep, x->is_of_graph), gives_up;
	struct d_bytes b;

	r->has_run = end->has_run = true;
	find_bytes(x, t, r, false, &b);
	r->seen =
		d_touch(x->p, t, &b,
			d_begin_task(x->p, x->op, x->rep, node, x->is_of_graph),
			false);
	run_children(x, node, below);
	gives_up = t->wait != D_PLAIN && r->child_errors && !t->swallows;
	if (t->wait != D_PLAIN && !gives_up) {
		find_bytes(x, t, r, true, &b);
		r->seen = d_touch(x->p, t, &b, mix(r->seen),
				  r->child_errors != 0);
	}
	end->has_failed = fails || gives_up;
	if (fails)
		end->errors = bit_of(t);
	else if (gives_up || t->wait == D_PLAIN)
		end->errors = r->child_errors;
	x->nr_failed += end->has_failed;
	if (end->has_failed && x->is_of_graph)
		x->run_errors |= end->errors;
}

/* ---- what it leaves ----------------------------------------------------- */

static uint16_t errors_of_use(const struct d_eff *u, const struct end *end)
{
	uint16_t errors;

	if (u->ends && end->has_run)
		return 0;
	if (!u->is_weak || !end->has_run)
		return end->errors;
	errors = d_view_errors_here(end->below, u);
	return end->has_failed ? errors | end->errors : errors;
}

static void publish(struct d_interpreter *x, struct d_view *v,
		    const struct d_eff *u, const struct end *end, bool starts)
{
	uint16_t errors = errors_of_use(u, end);

	if (!u->writes || (!errors && u->is_untouched))
		return;
	d_view_publish(v, u, errors, u->is_weak ? end->below : NULL);
	if (v != &x->root && !x->is_of_graph)
		return;
	/* A graph counts a group of REDUCE as the one who combines it. */
	if (x->is_of_graph)
		x->run_version[u->var] += u->turn != D_TURN_REDUCE || starts;
	else
		x->version[u->var] += !errors;
}

static void note_group(struct d_interpreter *x, struct d_view *v, uint32_t node,
		       const struct d_eff *u, const struct end *end,
		       bool *starts)
{
	bool is_bad = errors_of_use(u, end) != 0;

	if (d_view_join_group(v, u, is_bad, starts) || x->e->is_racy)
		return;
	x->e->is_racy = true;
	x->e->racy_node = node;
	x->e->racy_var = u->var;
}

/* Of its inputs and of those it comes after. */
static uint16_t input_errors(struct d_interpreter *x, struct d_view *v,
			     uint32_t node)
{
	const struct d_task *t = &x->p->node[node];
	struct d_result *r = d_result_of(x, node);
	uint16_t errors = 0, own;
	struct d_eff eff[D_USES];
	uint32_t nr = d_effective(x->p, t, eff), i, j;

	for (i = 0; i < nr; i++) {
		if (!eff[i].reads || eff[i].is_weak)
			continue;
		own = d_view_errors(v, &eff[i]);
		for (j = 0; j < t->nr_uses; j++) {
			if (t->use[j].var == eff[i].var &&
			    (!eff[i].part || t->use[j].part == eff[i].part))
				r->input_errors[j] = own;
		}
		errors |= own;
	}
	for (i = 0; i < t->nr_orders; i++)
		errors |= d_result_of(x,
				      x->p->graph[x->p->op[x->op].graph].first +
					      t->order[i])
				  ->errors;
	return errors;
}

void d_run_task(struct d_interpreter *x, struct d_view *v, uint32_t node)
{
	const struct d_task *t = &x->p->node[node];
	struct d_eff eff[D_USES];
	uint32_t nr = d_effective(x->p, t, eff), i;
	uint16_t errors = input_errors(x, v, node);
	struct d_view below = { .up = v };
	struct end end = { .below = &below };
	bool starts = false;

	d_view_cover(&below, eff, nr);
	if (x->is_cancelled && !(t->kind & D_ALWAYS)) {
		end.errors = D_CANCELLED;
		x->nr_cancelled++;
	} else if (errors && !(t->kind & D_ALWAYS)) {
		end.errors = errors;
		x->nr_skipped++;
	} else {
		run_body(x, &below, node, &end);
	}
	d_result_of(x, node)->errors = end.errors;
	for (i = 0; i < nr; i++) {
		note_group(x, v, node, &eff[i], &end, &starts);
		publish(x, v, &eff[i], &end, starts);
	}
}
