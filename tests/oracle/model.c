/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/model.h"

#include <errno.h>
#include <stdlib.h>

static const int errnos[NR_ERRORS] = {
	EIO, ENOENT, EPERM, EBUSY, ENOSPC, EPIPE, EDOM, ERANGE, ECANCELED,
};

struct interpreter {
	const struct program *p;
	const struct call *c;
	struct expect *e;
	uint32_t call, rep;
};

int model_errno(uint32_t error)
{
	return -errnos[error];
}

uint16_t model_bit(int rc)
{
	uint32_t i;

	for (i = 0; i < NR_ERRORS; i++) {
		if (errnos[i] == -rc)
			return (uint16_t)(1u << i);
	}
	return 0;
}

uint64_t model_value(const struct program *p, uint32_t node, uint32_t call,
		     uint32_t rep, uint64_t in, uint64_t waited)
{
	uint64_t x = mix(p->seed + node) ^ (uint64_t)call << 32 ^ rep;

	return mix(mix(mix(x) + in) + waited) | 1;
}

uint64_t model_signal(const struct program *p, uint32_t node, uint32_t call,
		      uint32_t rep, uint32_t nr)
{
	return mix(model_value(p, node, call, rep, 0, 0) + nr);
}

bool model_goes_on(const struct node *n, bool fails)
{
	return n->mode >= MODE_THEN && n->mode <= MODE_THEN_DONE &&
	       !(fails && n->fails_early);
}

uint32_t model_nr_signals(const struct node *n, bool fails)
{
	uint32_t nr = n->mode == MODE_THEN_EVENT || n->mode == MODE_HOLD;

	return nr + (model_goes_on(n, fails) && n->again);
}

uint32_t model_last_child(const struct program *p, uint32_t node)
{
	const struct node *n = &p->node[node];
	uint32_t child = n->below, next;

	for (;;) {
		next = child + 1 + p->node[child].nr_below;
		if (next == n->below + n->nr_below)
			return child;
		child = next;
	}
}

void model_waited(const struct program *p, uint32_t node, bool fails,
		  uint32_t *first, uint32_t *end)
{
	const struct node *n = &p->node[node];

	*first = *end = 0;
	if (n->mode != MODE_JOIN && !model_goes_on(n, fails))
		return;
	if (n->mode == MODE_JOIN || n->mode == MODE_THEN) {
		*first = n->below;
		*end = n->below + n->nr_below;
	} else if (n->mode == MODE_THEN_DONE) {
		*first = model_last_child(p, node);
		*end = *first + 1 + p->node[*first].nr_below;
	}
}

static struct result *result_of(struct interpreter *x, uint32_t node)
{
	uint32_t nr = call_nr_cells(x->p, x->c);

	return &x->e->result[x->rep * nr + node - x->c->first];
}

static uint64_t sum_of(struct interpreter *x, uint32_t first, uint32_t end)
{
	const struct result *r;
	uint64_t sum = 0;

	for (; first < end; first++) {
		r = result_of(x, first);
		sum += model_part(r->value, r->extra);
	}
	return sum;
}

static uint16_t bit_of(uint8_t error)
{
	return error == NO_ERROR ? 0 : (uint16_t)(1u << error);
}

/*
 * Possible errors of a node whose children's are known; *own: its body
 * returned one.
 */
static uint16_t errors_of(struct interpreter *x, uint32_t node,
			  uint16_t children, bool *own)
{
	const struct node *n = &x->p->node[node];
	bool fails = node_fails(n, x->call, x->rep);
	bool sees = n->mode == MODE_JOIN ||
		    (n->mode == MODE_THEN && model_goes_on(n, fails));
	uint16_t set = children, last = 0;

	/* Its body has seen the last child's error, and passes it on. */
	if (n->mode == MODE_THEN_DONE && model_goes_on(n, fails))
		last = result_of(x, model_last_child(x->p, node))->errors;
	*own = fails || last || (sees && children && !n->swallows);
	if (fails)
		return bit_of(n->error);
	if (last)
		return last;
	if (sees)
		return n->swallows ? 0 : children;
	if (n->mode == MODE_HOLD && node_fails_now(n, x->call, x->rep))
		set |= bit_of(n->signal_error);
	return set;
}

static void run_node(struct interpreter *x, uint32_t node, uint64_t in)
{
	const struct node *n = &x->p->node[node];
	bool fails = node_fails(n, x->call, x->rep), own;
	struct result *r = result_of(x, node);
	uint32_t i, first, end;
	uint64_t waited;

	for (i = n->below; i < n->below + n->nr_below;
	     i += 1 + x->p->node[i].nr_below)
		r->child_errors |= result_of(x, i)->errors;
	for (i = model_nr_signals(n, fails); i; i--)
		r->extra += model_signal(x->p, node, x->call, x->rep, i);
	model_waited(x->p, node, fails, &first, &end);
	waited = sum_of(x, first, end);
	if (model_goes_on(n, fails))
		waited += r->extra;
	r->value = model_value(x->p, node, x->call, x->rep, in, waited);
	r->has_run = true;
	r->errors = errors_of(x, node, r->child_errors, &own);
	if (own && (x->c->is_submit || node >= x->p->nr_tasks))
		x->e->nr_failed_below++;
}

/* Backwards: whatever is below a node has higher numbers. */
static void run_below(struct interpreter *x, uint32_t first, uint32_t end,
		      uint64_t in)
{
	while (end-- > first)
		run_node(x, end, in);
}

/* A task of the graph: skipped, or run with what is below it. */
static void run_task(struct interpreter *x, uint32_t task)
{
	const struct program *p = x->p;
	const struct node *n = &p->node[task];
	uint32_t i, from;
	uint64_t in = 0;
	bool skip = false;

	for (i = p->pred_at[task]; i < p->pred_at[task + 1]; i++) {
		from = p->pred[i];
		skip |= !result_of(x, from)->has_run ||
			result_of(x, from)->errors;
		in += sum_of(x, from, from + 1);
		in += sum_of(x, p->node[from].below,
			     p->node[from].below + p->node[from].nr_below);
	}
	if (skip) {
		x->e->nr_skipped++;
		return;
	}
	run_below(x, n->below, n->below + n->nr_below, 0);
	run_node(x, task, in);
	if (result_of(x, task)->errors) {
		x->e->nr_failed++;
		x->e->errors |= result_of(x, task)->errors;
	}
}

void model_run(const struct program *p, uint32_t call, struct expect *e)
{
	struct interpreter x = { .p = p, .c = &p->call[call], .e = e };
	uint32_t i;

	x.call = call;
	e->result = calloc(x.c->times * call_nr_cells(p, x.c) + 1u,
			   sizeof(*e->result));
	if (!e->result)
		abort();
	if (x.c->is_submit) {
		run_below(&x, x.c->first, x.c->first + x.c->nr, 0);
		e->errors = result_of(&x, x.c->first)->errors;
		e->nr_reps = 1;
		return;
	}
	for (; x.rep < x.c->times && !e->errors; x.rep++) {
		for (i = 0; i < p->nr_tasks; i++)
			run_task(&x, p->order[i]);
		e->nr_reps++;
	}
}
