/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/data_program.h"

#include "tests/oracle/data_device.h"
#include "tests/oracle/data_model.h"

#include <lkdf/data.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REPAIRS 20

/* ---- variables ---------------------------------------------------------- */

static void make_var(struct d_program *p, struct rng *r, uint32_t i)
{
	struct d_var *v = &p->var[i];

	v->nr_words = (uint8_t)rng_range(r, 1, D_WORDS);
	v->start = (uint8_t)rng_range(r, D_EMPTY, D_WRAP);
	v->multiplies = rng_one_in(r, 3);
	v->is_once = i && p->nr_graphs && rng_one_in(r, 3);
	v->has_drop = v->start != D_EMPTY && rng_one_in(r, 2);
	if (v->is_once) {
		v->graph = (uint8_t)rng_range(r, 0, p->nr_graphs - 1);
		v->is_kept = rng_one_in(r, 3);
		v->start = rng_one_in(r, 5) ? D_INIT : D_EMPTY;
		v->has_drop = !v->is_kept && rng_one_in(r, 2);
		return;
	}
	if (v->nr_words > 1 && rng_one_in(r, 2)) {
		v->stride = (uint8_t)rng_range(r, 1, v->nr_words - 1u);
		if (v->nr_words > D_PARTS * v->stride)
			v->stride = (v->nr_words + D_PARTS - 1) / D_PARTS;
		v->nr_parts = (uint8_t)((v->nr_words - 1) / v->stride + 1);
	}
}

/* ---- operations --------------------------------------------------------- */

static struct d_op *new_op(struct d_program *p, uint8_t what)
{
	struct d_op *o = &p->op[p->nr_ops++];

	o->what = what;
	o->first = p->nr_nodes;
	return o;
}

static bool is_for_all(const struct d_program *p, uint32_t var)
{
	return !p->var[var].is_once;
}

/* So that graphs find something to read. */
static void write_all(struct d_program *p, struct rng *r)
{
	struct d_use u = { .mode = LKDF_WRITE };
	struct d_task *t;
	uint32_t var;
	struct d_op *o;

	for (var = 0; var < p->nr_vars; var++) {
		if (p->var[var].start != D_EMPTY || !is_for_all(p, var))
			continue;
		o = new_op(p, D_SUBMIT);
		d_make_tree(p, r);
		p->nr_nodes = o->first + 1;
		t = &p->node[o->first];
		u.var = (uint8_t)var;
		t->use[0] = u;
		t->nr_uses = 1;
		t->nr_below = 0;
		t->wait = D_PLAIN;
		o->nr = 1;
	}
}

static void make_submit(struct d_program *p, struct rng *r, bool may_wait)
{
	bool is_many = rng_one_in(r, 5);
	struct d_op *o = new_op(p, is_many ? D_MANY : D_SUBMIT);
	uint32_t nr = is_many ? rng_range(r, 1, 6) : 1;

	while (nr--)
		d_make_tree(p, r);
	o->nr = p->nr_nodes - o->first;
	o->has_done = rng_one_in(r, 4);
	o->waits_at_once = may_wait && rng_one_in(r, 4);
}

static void make_run(struct d_program *p, struct rng *r)
{
	struct d_op *o = new_op(p, D_RUN);

	o->graph = (uint8_t)rng_range(r, 0, p->nr_graphs - 1);
	o->times = rng_one_in(r, 4) ? (uint8_t)rng_range(r, 2, D_TIMES) : 1;
	o->has_done = rng_one_in(r, 2) || o->times > 1;
	/* Between two repetitions others may get their turn. */
	o->waits_at_once = o->times > 1 || rng_one_in(r, 3);
}

static uint8_t some_shared_var(const struct d_program *p, struct rng *r)
{
	uint32_t var = rng_range(r, 0, p->nr_vars - 1);

	return (uint8_t)(is_for_all(p, var) ? var : 0);
}

static void make_acquire(struct d_program *p, struct rng *r)
{
	struct d_op *o = new_op(p, D_ACQUIRE);
	uint32_t i;

	o->var = some_shared_var(p, r);
	o->mode = (uint8_t)rng_range(r, LKDF_READ, LKDF_RW);
	o->looks_first = rng_one_in(r, 3);
	o->nr_held = rng_one_in(r, 2) ? (uint8_t)rng_range(r, 1, 4) : 0;
	for (i = 0; i < o->nr_held; i++)
		make_submit(p, r, false);
}

static void make_cancel(struct d_program *p, struct rng *r)
{
	uint32_t nr = rng_range(r, 1, 6);
	struct d_op *o;

	new_op(p, D_WAIT);
	o = new_op(p, D_CANCEL);
	o->var = some_shared_var(p, r);
	o->mode = LKDF_WRITE;
	while (nr--)
		d_make_strong(p, r, o->var);
	o->nr = p->nr_nodes - o->first;
	new_op(p, D_WAIT);
}

static void make_ops(struct d_program *p, struct rng *r, uint32_t nr)
{
	uint32_t what;

	p->nr_ops = 0;
	/* Otherwise reading is refused now and then. */
	if (p->nr_graphs || p->has_children || !rng_one_in(r, 4))
		write_all(p, r);
	while (p->nr_ops < nr) {
		what = rng_range(r, 0, 19);
		if (p->nr_ops + 8 > D_OPS || p->nr_nodes + 200 > D_NODES)
			break;
		if (what < 4 && p->nr_graphs)
			make_run(p, r);
		else if (what < 7)
			make_acquire(p, r);
		else if (what < 8)
			new_op(p, D_WAIT);
		else if (what < 9 && p->has_errors)
			make_cancel(p, r);
		else
			make_submit(p, r, true);
	}
	new_op(p, D_WAIT);
}

/* ---- the whole ---------------------------------------------------------- */

static void repair_task(struct d_task *t, uint8_t var)
{
	struct d_use *u;
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++) {
		u = &t->use[i];
		if (u->var != var)
			continue;
		if (u->mode & LKDF_REDUCE)
			u->mode = LKDF_WRITE;
		if (u->mode & LKDF_COMMUTE)
			u->mode = LKDF_RW;
	}
}

static void forget_errors(struct d_program *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_nodes; i++)
		p->node[i].error = D_NO_ERROR;
	for (i = 0; i < p->nr_ops; i++) {
		if (p->op[i].what == D_CANCEL)
			p->op[i].what = D_MANY;
	}
}

static bool is_child(const struct d_program *p, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < p->nr_nodes; i++) {
		if (node - p->node[i].below < p->node[i].nr_below)
			return true;
	}
	return false;
}

/* Until it is determined who is skipped. */
static void repair(struct d_program *p)
{
	struct d_expect e = { .is_racy = true };
	uint32_t i;

	for (i = 0; e.is_racy && i < MAX_REPAIRS; i++) {
		d_model_run(p, &e);
		d_expect_free(&e);
		if (!e.is_racy)
			return;
		if (i + 2 >= MAX_REPAIRS || p->node[e.racy_node].nr_below ||
		    is_child(p, e.racy_node))
			forget_errors(p);
		else
			repair_task(&p->node[e.racy_node], e.racy_var);
	}
}

struct d_program *d_program_create(uint64_t seed, uint32_t max_ops,
				   enum d_devices devices)
{
	static const uint32_t top[] = { 4, 8, 16, 30 };
	struct d_program *p = calloc(1, sizeof(*p));
	struct rng r = { .state = seed };
	uint32_t i, nr;

	if (!p)
		abort();
	p->seed = seed;
	p->has_errors = rng_one_in(&r, 2);
	p->has_children = rng_one_in(&r, 2);
	p->nr_vars = rng_range(&r, 1, D_VARS);
	p->nr_graphs = rng_one_in(&r, 3) ? 0 : rng_range(&r, 1, D_GRAPHS);
	nr = rng_range(&r, 1, top[rng_range(&r, 0, 3)]);
	nr = nr < max_ops ? nr : max_ops;
	p->nr_ops = nr ? nr : 1;
	for (i = 0; i < p->nr_vars; i++)
		make_var(p, &r, i);
	d_make_graphs(p, &r);
	make_ops(p, &r, nr);
	if (devices)
		d_prefer_static(p);
	repair(p);
	p->devices = (uint8_t)devices;
	if (devices)
		d_place_tasks(p);
	return p;
}

void d_program_destroy(struct d_program *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_graphs; i++)
		free(p->graph[i].add);
	free(p);
}

/* ---- telling ------------------------------------------------------------ */

static void print_tasks(const struct d_program *p, uint32_t first, uint32_t nr)
{
	const struct d_task *t;
	uint32_t i, j;

	for (i = first; i < first + nr; i++) {
		t = &p->node[i];
		printf("#   task %u: kind %u below %u wait %u", i, t->kind,
		       t->nr_below, t->wait);
		if (t->device)
			printf(" device %u%s", t->device,
			       t->is_code ? " code" : "");
		if (t->error != D_NO_ERROR)
			printf(" fails %d in %u.%u", model_errno(t->error),
			       t->fail_op, t->fail_rep);
		printf("%s uses", t->swallows ? " swallows" : "");
		for (j = 0; j < t->nr_uses; j++)
			printf(" %u.%u:%#x%s%s", t->use[j].var, t->use[j].part,
			       t->use[j].mode, t->use[j].ends ? " ends" : "",
			       t->use[j].is_untouched ? " untouched" : "");
		for (j = 0; j < t->nr_orders; j++)
			printf(" after %u", t->order[j] + first);
		printf("\n");
	}
}

static void print_op(const struct d_program *p, uint32_t i)
{
	static const char *const what[] = { "submit",  "many", "run",
					    "acquire", "wait", "cancel" };
	const struct d_op *o = &p->op[i];

	printf("# op %u: %s", i, what[o->what]);
	if (o->what == D_RUN)
		printf(" graph %u times %u", o->graph, o->times);
	if (o->what == D_ACQUIRE || o->what == D_CANCEL)
		printf(" %u mode %u for %u%s", o->var, o->mode, o->nr_held,
		       o->looks_first ? ", looks" : "");
	printf("%s%s\n", o->has_done ? ", done" : "",
	       o->waits_at_once ? ", waits" : "");
	if (o->what != D_RUN)
		print_tasks(p, o->first, o->nr);
}

void d_program_print(const struct d_program *p)
{
	const struct d_var *v;
	const struct d_graph *g;
	uint32_t i;

	printf("# seed %llu: data\n", (unsigned long long)p->seed);
	for (i = 0; i < p->nr_vars; i++) {
		v = &p->var[i];
		printf("# var %u: %u words, %u parts of %u, start %u%s%s%s%s\n",
		       i, v->nr_words, v->nr_parts, v->stride, v->start,
		       v->is_once ? ", ONCE" : "", v->is_kept ? ", KEEP" : "",
		       v->multiplies ? ", multiplies" : "",
		       v->has_drop ? ", drop" : "");
	}
	for (i = 0; i < p->nr_graphs; i++) {
		g = &p->graph[i];
		printf("# graph %u: inflight %u%s\n", i, g->inflight,
		       g->is_recorded ? ", recorded" : "");
		print_tasks(p, g->first, g->nr);
	}
	for (i = 0; i < p->nr_ops; i++)
		print_op(p, i);
}
