/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/data_world.h"

#include "tests/oracle/data_device.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SETTLE_S 10

static struct d_world *now;

struct d_world *d_world_now(void)
{
	return now;
}

void d_wrong(struct d_world *w, const char *fmt, ...)
{
	char line[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	wrong(NULL, "%s", line);
	atomic_fetch_add(&w->nr_wrong, 1);
}

static void must(struct d_world *w, const char *what, int rc)
{
	if (rc < 0)
		d_wrong(w, "%s: %d %s", what, rc, lkdf_errmsg());
}

/* ---- objects ------------------------------------------------------------- */

static int add_words(void *acc, const void *x, uint64_t bytes)
{
	uint64_t *a = acc;
	const uint64_t *b = x;

	for (; bytes; bytes -= sizeof(*a))
		*a++ += *b++;
	return 0;
}

static int multiply_words(void *acc, const void *x, uint64_t bytes)
{
	uint64_t *a = acc;
	const uint64_t *b = x;

	for (; bytes; bytes -= sizeof(*a))
		*a++ *= *b++;
	return 0;
}

static void make_ones(void *acc, uint64_t bytes)
{
	uint64_t *a = acc;

	for (; bytes; bytes -= sizeof(*a))
		*a++ = 1;
}

static void on_drop(void *bytes)
{
	(void)bytes;
	atomic_fetch_add(&now->nr_drops, 1);
}

static void make_data(struct d_world *w, uint32_t i)
{
	const struct d_var *v = &w->p->var[i];
	struct lkdf_data_attr a = {
		.size = sizeof(a),
		.flags = (v->is_once ? LKDF_DATA_ONCE : 0) |
			 (v->is_kept ? LKDF_DATA_KEEP : 0),
		.bytes = v->nr_words * sizeof(uint64_t),
		.wrap = v->start == D_WRAP ? w->wrapped[i] : NULL,
		.init = v->start == D_INIT ? w->wrapped[i] : NULL,
		.drop = v->has_drop ? on_drop : NULL,
		.reduce = v->multiplies ? multiply_words : add_words,
		.neutral = v->multiplies ? make_ones : NULL,
	};
	uint32_t j;

	for (j = 0; j < v->nr_words; j++)
		w->wrapped[i][j] = d_first_value(w->p, i, j);
	must(w, "data", lkdf_data_create(w->rt, &a, &w->data[i]));
	if (v->nr_parts)
		must(w, "split",
		     lkdf_data_split(w->data[i], v->nr_parts,
				     v->stride * sizeof(uint64_t)));
}

static struct lkdf_kind **kernel_of(struct d_world *w, const struct d_task *t)
{
	return &w->kernel[t->kind][t->is_code ? 1 + t->nr_uses : 0];
}

/* Those that are used. */
static void make_kind(struct d_world *w, const struct d_task *t)
{
	struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "node",
		.fn = d_body,
		.flags = (t->kind & D_SHARED ? LKDF_SHARED : 0) |
			 (t->kind & D_ALWAYS ? LKDF_ALWAYS : 0) |
			 (t->kind & D_BLOCKING ? LKDF_BLOCKING : 0),
	};
	struct lkdf_kind **kernel = kernel_of(w, t);

	if (t->device && !*kernel)
		must(w, "kernel", d_device_kind(w, t, a.flags, kernel));
	if (!t->device && !w->kind[t->kind])
		must(w, "kind", lkdf_kind_create(w->rt, &a, &w->kind[t->kind]));
}

static void make_kinds(struct d_world *w)
{
	uint32_t i;

	for (i = 0; i < w->p->nr_nodes; i++) {
		make_kind(w, &w->p->node[i]);
		w->node_arg[i] = &w->p->node[i];
	}
}

static void make_uses(struct d_world *w)
{
	const struct d_use *u;
	uint32_t i, j;

	for (i = 0; i < w->p->nr_nodes; i++) {
		for (j = 0; j < w->p->node[i].nr_uses; j++) {
			u = &w->p->node[i].use[j];
			w->use[i][j] = (struct lkdf_use){
				.data = w->data[u->var],
				.mode = u->mode,
				.part = u->part,
			};
		}
	}
}

struct lkdf_task d_task_of(struct d_world *w, uint32_t node,
			   struct d_cell *cell)
{
	const struct d_task *t = &w->p->node[node];
	struct lkdf_task task = {
		.size = sizeof(task),
		.kind = w->kind[t->kind],
		.arg = cell ? (const void *)cell : t,
		.use = w->use[node],
		.nr_use = t->nr_uses,
		.prio = t->prio,
	};

	if (!t->device)
		return task;
	task.kind = *kernel_of(w, t);
	task.arg = cell ? (const void *)&cell->self : &w->node_arg[node];
	if (w->p->devices == D_OPENCL && t->is_code)
		task.arg = d_text_of(w, node, cell);
	task.place = d_device_place(w->rt, t->device);
	return task;
}

/* Recorded, or built task by task; the order is another one than ours. */
static void add_tasks(struct d_world *w, const struct d_graph *g,
		      struct lkdf_graph *to, struct lkdf_scope *recorded,
		      int32_t *number)
{
	struct lkdf_task t;
	uint32_t i, node;
	int rc;

	for (i = 0; i < g->nr; i++) {
		node = g->first + g->add[i];
		t = d_task_of(w, node, NULL);
		if (recorded)
			rc = lkdf_submit(w->rt, recorded, &t, NULL);
		else if (t.prio || t.place)
			rc = lkdf_graph_add_task(to, &t);
		else
			rc = lkdf_graph_add(to, t.kind, t.arg, t.use, t.nr_use);
		if (rc != (int)i)
			d_wrong(w, "task %u of a graph: %d %s", node, rc,
				lkdf_errmsg());
		number[g->add[i]] = rc;
	}
}

static void make_graph(struct d_world *w, uint32_t i)
{
	const struct d_graph *g = &w->p->graph[i];
	struct lkdf_scope *recorded = NULL;
	struct lkdf_graph *to = NULL;
	int32_t number[256];
	uint32_t task, j;

	must(w, "graph",
	     lkdf_graph_create(w->rt,
			       ATTR(lkdf_graph_attr, .inflight = g->inflight),
			       &to));
	if (g->is_recorded) {
		must(w, "scope", lkdf_scope_create(w->rt, NULL, &recorded));
		must(w, "record", lkdf_graph_record(to, recorded));
	}
	add_tasks(w, g, to, recorded, number);
	for (task = 0; task < g->nr; task++) {
		const struct d_task *t = &w->p->node[g->first + task];

		for (j = 0; j < t->nr_orders; j++)
			must(w, "order",
			     lkdf_graph_order(to, number[t->order[j]],
					      number[task]));
	}
	must(w, "seal", lkdf_graph_seal(to, NULL));
	lkdf_scope_put(recorded);
	w->graph[i] = to;
}

/* Of all nodes that tell it, by the runtime's own counters. */
static uint64_t used_bytes(struct lkdf *rt)
{
	uint64_t sum = 0, one;
	char name[64];
	int i;

	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "lkdf.node.%d.memory.used", i);
		if (!lkdf_stat(rt, name, &one))
			sum += one;
	}
	return sum;
}

static void init(struct d_world *w, struct lkdf *rt, const struct d_program *p)
{
	uint32_t op, i, j, first, nr, times;
	struct d_cell *cell;

	w->p = p;
	w->rt = rt;
	w->used = used_bytes(rt);
	d_model_run(p, &w->expect);
	for (op = 0; op < p->nr_ops; op++) {
		times = p->op[op].what == D_RUN ? p->op[op].times : 1;
		nr = d_op_nodes(p, op, &first);
		w->run[op].cell = calloc(nr * times + 1, sizeof(*cell));
		if (!w->run[op].cell)
			abort();
		for (i = 0; i < times; i++) {
			for (j = 0; j < nr; j++) {
				cell = &w->run[op].cell[i * nr + j];
				cell->op = (uint8_t)op;
				cell->node = first + j;
				cell->self = cell;
			}
		}
	}
	for (i = 0; i < p->nr_vars; i++)
		make_data(w, i);
	make_kinds(w);
	make_uses(w);
	for (i = 0; i < p->nr_graphs; i++)
		make_graph(w, i);
	must(w, "scope", lkdf_scope_create(rt, NULL, &w->scope));
}

/* ---- operations --------------------------------------------------------- */

static bool next_rep(void *u)
{
	struct d_run *run = u;

	run->rep++;
	return false;
}

static int start_run(struct d_world *w, uint32_t op, struct lkdf_event *done)
{
	const struct d_op *o = &w->p->op[op];
	struct lkdf_run r = { .size = sizeof(r), .arg = &w->run[op] };

	if (o->times > 1) {
		r.times = o->times;
		r.until = next_rep;
		r.u = &w->run[op];
	}
	return lkdf_graph_run(w->graph[o->graph], w->scope, &r, done);
}

static int start_many(struct d_world *w, uint32_t op, struct lkdf_event *done)
{
	const struct d_op *o = &w->p->op[op];
	struct lkdf_task task[8];
	const struct lkdf_task *at[8];
	uint32_t i, nr = 0;

	for (i = o->first; i < o->first + o->nr;
	     i += 1 + w->p->node[i].nr_below) {
		task[nr] = d_task_of(w, i, d_cell_of(w, op, 0, i));
		at[nr] = &task[nr];
		nr++;
	}
	return lkdf_submit_many(w->rt, w->scope, at, nr, done);
}

static int start_one(struct d_world *w, uint32_t op, uint32_t node,
		     struct lkdf_event *done)
{
	struct lkdf_task t = d_task_of(w, node, d_cell_of(w, op, 0, node));

	return lkdf_submit(w->rt, w->scope, &t, done);
}

static void start(struct d_world *w, uint32_t op)
{
	const struct d_op *o = &w->p->op[op];
	struct d_run *run = &w->run[op];
	struct lkdf_event *done = o->has_done ? &run->done : NULL;
	int rc, expected = w->expect.op[op].is_refused ? -ENODATA : 0;

	d_prefetch_some(w, op);
	if (o->what == D_RUN)
		rc = start_run(w, op, done);
	else if (o->what == D_MANY)
		rc = start_many(w, op, done);
	else
		rc = start_one(w, op, o->first, done);
	if (rc != expected)
		d_wrong(w, "op %u: %d %s, expected %d", op, rc, lkdf_errmsg(),
			expected);
	run->has_event = done && !rc;
	if (!run->has_event || !o->waits_at_once)
		return;
	run->has_event = false;
	rc = lkdf_event_wait(run->done, -1);
	w->has_seen |= rc != 0;
	d_check_event(w, op, rc);
}

/* 0: it is held. */
static int acquire(struct d_world *w, uint32_t op)
{
	const struct d_op *o = &w->p->op[op];
	struct lkdf_data *d = w->data[o->var];
	void *word = NULL;
	int rc = 1;

	if (o->looks_first)
		rc = lkdf_data_acquire(d, o->mode, 0, &word);
	if (rc == 1)
		rc = lkdf_data_acquire(d, o->mode, -1, &word);
	w->has_seen |= rc != 0;
	d_check_acquired(w, op, rc, word);
	if (!rc)
		d_touch_acquired(w->p, op, word);
	return rc;
}

static void release(struct d_world *w, uint32_t op)
{
	must(w, "release", lkdf_data_release(w->data[w->p->op[op].var]));
}

/* They wait for what we hold. */
static void cancel(struct d_world *w, uint32_t op)
{
	const struct d_op *o = &w->p->op[op];
	uint32_t i;
	int rc;

	rc = acquire(w, op);
	for (i = o->first; i < o->first + o->nr; i++)
		must(w, "submit", start_one(w, op, i, NULL));
	must(w, "cancel", lkdf_scope_cancel(w->rt, w->scope, -ECANCELED));
	if (!rc)
		release(w, op);
}

static void wait_all(struct d_world *w, uint32_t op)
{
	uint32_t i;

	d_check_wait(w, op, lkdf_scope_wait(w->rt, w->scope, -1));
	for (i = 0; i < op; i++) {
		if (!w->run[i].has_event)
			continue;
		w->run[i].has_event = false;
		d_check_event(w, i, lkdf_event_wait(w->run[i].done, -1));
	}
}

static void run_ops(struct d_world *w, uint32_t first, uint32_t end)
{
	uint32_t op, i;

	for (op = first; op < end; op++) {
		switch (w->p->op[op].what) {
		case D_ACQUIRE:
			i = w->p->op[op].nr_held;
			if (acquire(w, op)) {
				run_ops(w, op + 1, op + 1 + i);
			} else {
				run_ops(w, op + 1, op + 1 + i);
				release(w, op);
			}
			op += i;
			break;
		case D_WAIT:
			wait_all(w, op);
			break;
		case D_CANCEL:
			cancel(w, op);
			break;
		default:
			start(w, op);
		}
	}
}

/* ---- the end ------------------------------------------------------------ */

static void put_all(struct d_world *w)
{
	uint32_t i, j;

	for (i = 0; i < w->p->nr_graphs; i++)
		lkdf_graph_put(w->graph[i]);
	for (i = 0; i < w->p->nr_vars; i++)
		lkdf_data_put(w->data[i]);
	for (i = 0; i < D_KINDS; i++) {
		lkdf_kind_put(w->kind[i]);
		for (j = 0; j < D_USES + 2; j++)
			d_device_kind_put(w, w->kernel[i][j]);
	}
	lkdf_scope_put(w->scope);
	lkdf_scope_wait(w->rt, NULL, -1);
}

/* What was taken is given back; by workers that are about to rest. */
static void settle(struct d_world *w)
{
	time_t end = time(NULL) + SETTLE_S;
	uint64_t used;

	while ((used = used_bytes(w->rt)) != w->used && time(NULL) < end)
		sched_yield();
	if (used != w->used)
		d_wrong(w, "data: %lld bytes are not given back",
			(long long)(used - w->used));
	while (atomic_load(&w->nr_drops) != w->expect.nr_drops &&
	       time(NULL) < end) {
		/* In serial mode it has devices give up their copies. */
		used_bytes(w->rt);
		sched_yield();
	}
	if (atomic_load(&w->nr_drops) != w->expect.nr_drops)
		d_wrong(w, "data: %u drops, expected %u",
			atomic_load(&w->nr_drops), w->expect.nr_drops);
}

bool d_world_try(struct lkdf *rt, const struct d_program *p)
{
	struct d_world *w = calloc(1, sizeof(*w));
	uint32_t i;
	bool good;

	if (!w)
		abort();
	now = w;
	init(w, rt, p);
	run_ops(w, 0, p->nr_ops);
	d_check_cells(w);
	d_check_data(w);
	put_all(w);
	settle(w);
	good = !atomic_load(&w->nr_wrong);
	for (i = 0; i < p->nr_ops; i++)
		free(w->run[i].cell);
	d_expect_free(&w->expect);
	free(w);
	return good;
}
