/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From a task to a request of its device: what the launch is given, where its
 * bytes are on the host, and whether the device can do it at all. Uses that
 * stand for the same bytes are one operand.
 */
#include "offload/maker.h"

#include "base/err.h"
#include "graph/access.h"
#include "mem/heap.h"
#include "offload/early.h"
#include "offload/gather.h"
#include "run/follow.h"
#include "run/frame.h"
#include "task/body.h"
#include "task/then.h"
#include "task/uses.h"

#include <errno.h>
#include <stdio.h>

/* ---- uses --------------------------------------------------------------- */

static uint32_t mode_of(uint32_t mode)
{
	return mode & LKDF_COMMUTE ? LKDF_RW : mode & LKDF_RW;
}

static uint32_t count_uses(struct lkdf_ctx *c)
{
	const struct access_table *w =
		c->frame ? c->frame->graph->accesses : NULL;
	const struct access_use *first, *end;

	if (!c->frame)
		return c->task->link.flags & TASK_HAS_DATA ? c->task->claim->nr
							   : 0;
	if (!w)
		return 0;
	first = access_uses(w, c->index, &end);
	return (uint32_t)(end - first);
}

static void view_access(struct lkdf_ctx *c, uint32_t i, struct kernel_use *v)
{
	const struct access_table *w = c->frame->graph->accesses;
	const struct access_use *first, *end;
	const struct access_var *var;

	first = access_uses(w, c->index, &end);
	var = access_var(w, first[i].var);
	v->at = values_ptr(c, i);
	v->bytes = data_size(var->data, var->part);
	v->mode = mode_of(first[i].mode);
	v->main = (uint32_t)(access_main(w, &first[i]) - first);
}

static void view_claimed(struct lkdf_ctx *c, uint32_t i, struct kernel_use *v)
{
	const struct use *u = &c->task->claim->use[i];

	v->at = uses_ptr(c->ex, c->task, i);
	v->bytes = data_size(u->domain->data, u->part);
	v->mode = mode_of(u->mode);
	v->main = u->stands_for;
}

static int view_uses(struct maker *m)
{
	struct kernel_use *v;
	uint32_t i;

	for (i = 0; i < m->r->nr_use; i++) {
		v = &m->r->use[i];
		if (m->c->frame)
			view_access(m->c, i, v);
		else
			view_claimed(m->c, i, v);
		if (!v->at)
			return err(-ENODATA, "kernel %s: use %u has no bytes",
				   m->k->name, i);
	}
	return 0;
}

/* ---- operands and arguments --------------------------------------------- */

static uint32_t add_operand(struct maker *m, uint32_t use)
{
	const struct kernel_use *v = &m->r->use[use];
	struct device_req *r = &m->r->req;
	struct device_operand *o;
	uint32_t main = v->main;

	if (!m->r->use[main].operand) {
		o = &r->operand[r->nr_operand];
		o->host = m->r->use[main].at;
		o->bytes = m->r->use[main].bytes;
		maker_find_copies(m, main, o);
		m->r->use[main].operand = ++r->nr_operand;
	}
	main = m->r->use[main].operand - 1;
	r->operand[main].mode |= v->mode;
	return main;
}

void maker_add_use(struct maker *m, uint32_t use)
{
	const struct kernel_use *v = &m->r->use[use];
	struct device_req *r = &m->r->req;
	uint32_t i = r->launch.nr_arg++;

	r->operand_of[i] = add_operand(m, use);
	r->arg[i] = (struct lkdf_arg){
		.sort = LKDF_ARG_MEMORY,
		.mode = v->mode,
		.offset = (uint64_t)(v->at - m->r->use[v->main].at),
		.bytes = v->bytes,
	};
}

void maker_add_bytes(struct maker *m, const void *value, uint64_t bytes)
{
	struct device_req *r = &m->r->req;

	r->arg[r->launch.nr_arg++] = (struct lkdf_arg){
		.sort = LKDF_ARG_BYTES,
		.value = value,
		.bytes = bytes,
	};
	m->value_bytes += bytes;
}

static void add_local(struct maker *m, uint64_t bytes)
{
	struct device_req *r = &m->r->req;

	r->arg[r->launch.nr_arg++] = (struct lkdf_arg){
		.sort = LKDF_ARG_LOCAL,
		.bytes = bytes,
	};
	m->local_bytes += bytes;
}

static int add_uses(struct maker *m, const struct lkdf_param *p, uint32_t i)
{
	uint32_t nr = p->nr ? p->nr : 1, u;

	if ((uint32_t)p->first + nr > m->r->nr_use)
		return err(-EINVAL,
			   "kernel %s: parameter %u is use %u, the task has %u",
			   m->k->name, i, p->first + nr - 1, m->r->nr_use);
	for (u = p->first; u < p->first + nr; u++)
		maker_add_use(m, u);
	return 0;
}

static int add_param(struct maker *m, uint32_t i)
{
	const struct lkdf_param *p = &m->k->param[i];

	switch (p->from) {
	case LKDF_PARAM_USE:
		return add_uses(m, p, i);
	case LKDF_PARAM_PORT:
		return maker_add_ports(m, p);
	case LKDF_PARAM_VALUE:
		maker_add_bytes(m, p->value, p->bytes);
		break;
	case LKDF_PARAM_TASK:
		maker_add_bytes(m, m->arg + p->first,
				p->bytes ? p->bytes
					 : m->k->arg_size - p->first);
		break;
	case LKDF_PARAM_LOCAL:
		add_local(m, p->bytes);
		break;
	default:
		return maker_add_memory(m, i);
	}
	return 0;
}

/* The last arguments of a loop: where each dimension begins, and its items. */
static void add_loop(struct maker *m)
{
	uint64_t *range = m->r->req.launch.range, one = 1;
	uint32_t i, nr = kernel_loop_dims(m->k);

	memcpy(m->r->items, range, sizeof(m->r->items));
	for (i = 0; i < nr; i++) {
		maker_add_bytes(m, &m->k->attr.begin[i], sizeof(one));
		maker_add_bytes(m, &m->r->items[i], sizeof(one));
	}
	for (i = 0; i < 3 && m->k->attr.flags & LKDF_KERNEL_SERIAL; i++)
		if (range[0] && range[1] && range[2])
			range[i] = 1;
}

/* For enqueue_work(), to which a use is an address or what the device gave. */
static int add_all(struct maker *m)
{
	const struct kernel_use *v;
	uint32_t i;

	for (i = 0; i < m->r->nr_use; i++) {
		v = &m->r->use[i];
		if (device_has(m->d, LKDF_DEVICE_HANDLES) &&
		    v->at != m->r->use[v->main].at)
			return err(-EOPNOTSUPP,
				   "kernel %s: use %u is a part of use %u: "
				   "memory of device %s has no addresses, so "
				   "enqueue() cannot be given both",
				   m->k->name, i, v->main, m->d->name);
		add_operand(m, i);
	}
	return 0;
}

int maker_add_params(struct maker *m)
{
	uint32_t i;
	int rc = 0;

	if (m->k->attr.enqueue)
		return add_all(m);
	for (i = 0; i < m->k->attr.nr_param && !rc; i++)
		rc = add_param(m, i);
	if (m->k->param || rc)
		return rc;
	for (i = 0; i < m->r->nr_use; i++)
		if (!m->k->fold.block || i != m->k->fold.result)
			maker_add_use(m, i);
	if (m->k->arg_size)
		maker_add_arg(m);
	return 0;
}

static int add_args(struct maker *m)
{
	int rc;

	if (m->k->fold.block)
		return maker_add_fold(m);
	rc = maker_add_params(m);
	if (!rc && m->k->attr.flags & LKDF_KERNEL_LOOP)
		add_loop(m);
	return rc;
}

/* ---- the whole ---------------------------------------------------------- */

/* The arguments of all launches. */
static uint32_t count_args(const struct maker *m, uint32_t nr_use)
{
	uint32_t nr = kernel_count_params(m->k, nr_use);

	if (m->k->attr.enqueue)
		return 0;
	if (m->k->fold.block)
		return maker_count_fold(nr);
	if (m->k->attr.flags & LKDF_KERNEL_LOOP)
		nr += 2 * kernel_loop_dims(m->k);
	return nr;
}

/* Allocates one block: the request, and its arrays behind it. */
static int allocate_request(struct maker *m, uint32_t nr_use)
{
	struct heap *h = m->k->rt->heap;
	size_t nr_arg = count_args(m, nr_use), size;
	size_t nr_operand = nr_use + maker_count_memory(m->k);
	struct kernel_req *r;

	size = sizeof(*r) + nr_operand * sizeof(*r->req.operand) +
	       nr_arg * sizeof(*r->req.arg) +
	       nr_use * (sizeof(*r->use) + sizeof(*r->device_ptr)) +
	       nr_arg * sizeof(*r->req.operand_of);
	r = heap_new(h, heap_thread_cache(h), size);
	if (!r)
		return err(-ENOMEM, "kernel %s: no memory", m->k->name);
	memset((void *)r, 0, size);
	r->req.operand = (struct device_operand *)(r + 1);
	r->req.arg = (struct lkdf_arg *)(r->req.operand + nr_operand);
	r->use = (struct kernel_use *)(r->req.arg + nr_arg);
	r->device_ptr = (void **)(r->use + nr_use);
	r->req.operand_of = (uint32_t *)(r->device_ptr + nr_use);
	r->kernel = m->k;
	r->arg = m->arg;
	r->frame = m->c->frame;
	r->index = m->c->index;
	r->nr_use = nr_use;
	m->r = r;
	return 0;
}

static bool is_cancelled(const struct device_req *req)
{
	const struct kernel_req *r =
		container_of(req, const struct kernel_req, req);
	const struct task *t = r->task;

	if (!t)
		return frame_cancelled(r->frame);
	return !(t->kind->flags & LKDF_ALWAYS) && scope_cancelled(t->scope);
}

static int enqueue_work(void *executor, struct device_req *req, void *queue)
{
	struct kernel_req *r = container_of(req, struct kernel_req, req);
	struct task *t = r->task;
	struct lkdf_ctx c = {
		.ex = executor,
		.task = t,
		.bytes = r->device_ptr,
		.nr_bytes = r->nr_use,
	};
	const struct kernel_use *u, *main;
	uint32_t i;
	int rc;

	if (t->link.flags & TASK_OWNED) {
		c.owner = t->owner;
		c.frame = t->frame;
		c.index = t->index;
	}
	for (i = 0; i < r->nr_use; i++) {
		u = &r->use[i];
		main = &r->use[u->main];
		r->device_ptr[i] =
			(char *)req->operand[main->operand - 1].device_ptr +
			(u->at - main->at);
	}
	rc = t->kind->kernel->attr.enqueue(&c, t->arg, queue);
	if (rc < 0 && c.has_why)
		snprintf(req->why, sizeof(req->why), "%s", err_text());
	return rc;
}

static void request_over(void *executor, struct device_req *req)
{
	struct kernel_req *r = container_of(req, struct kernel_req, req);

	if (!early_over(executor, r))
		then_leave(executor, r->task);
}

static const struct device_req_ops req_ops = {
	.is_cancelled = is_cancelled,
	.is_awaited = early_is_awaited,
	.enqueue = enqueue_work,
	.shape = kernel_shape,
	.code = fold_code,
	.next = fold_next,
	.over = request_over,
	.extend = early_extend,
	.complete = gather_complete,
	.gathers = gather_holds,
	.failed = early_failed,
};

/* Does no task of its graph come after it? */
static bool is_last(const struct lkdf_ctx *c)
{
	const struct lkdf_graph *g = c->frame ? c->frame->graph : NULL;
	uint32_t nr = 1;

	if (g)
		graph_succ(g, &g->recs[c->index], &nr);
	return !nr;
}

void maker_begin_run(struct maker *m)
{
	struct kernel_req *r = m->r;

	r->task = m->c->task;
	r->req.leads = early_leads(m->c);
	r->req.class =
		r->task ? r->task->link.class
			: m->c->frame->recs[m->c->index].flags & REC_CLASS;
	maker_fill_told(m);
}

static void fill_request(struct maker *m, struct kernel_req *r)
{
	const struct lkdf_kernel_attr *a = &m->k->attr;
	struct lkdf_launch *l = &r->req.launch;

	r->req.ops = &req_ops;
	r->req.device = m->d;
	r->req.code = kernel_code(m->k, m->d);
	r->req.is_empty = m->k->is_prefetch;
	r->req.is_last = is_last(m->c);
	maker_begin_run(m);
	l->size = sizeof(*l);
	if (!(a->flags & LKDF_KERNEL_SERIAL))
		memcpy(l->block, a->block, sizeof(l->block));
	l->shared_bytes = a->shared_bytes;
	l->carveout = a->carveout;
	l->arg = r->req.arg;
	l->name = m->k->name;
}

void kernel_free_request(struct lkdf *rt, struct kernel_req *r)
{
	if (!maker_keep(r))
		kernel_drop_request(rt, r);
}

void kernel_drop_request(struct lkdf *rt, struct kernel_req *r)
{
	struct cache *c = heap_thread_cache(rt->heap);

	while (r->nr_memory)
		heap_free(rt->heap, c, r->memory[--r->nr_memory]);
	heap_free(rt->heap, c, r);
}

static int make_request(struct maker *m)
{
	int rc = view_uses(m);

	if (!rc)
		rc = maker_find_range(m, m->r->range);
	memcpy(m->r->req.launch.range, m->r->range, sizeof(m->r->range));
	if (!rc)
		rc = add_args(m);
	if (!rc)
		rc = kernel_check_bytes(m->k, m->d, m->value_bytes,
					m->local_bytes);
	return rc ? rc : kernel_check_block(m->k, m->d, m->r->req.launch.range);
}

static bool is_empty(const struct maker *m)
{
	const uint64_t *range = m->r->req.launch.range;

	return m->k->attr.range_from != LKDF_RANGE_NONE &&
	       (!m->k->fold.block || !m->r->nr_steps) &&
	       !(range[0] && range[1] && range[2]);
}

int kernel_request(struct lkdf_ctx *c, void *arg, struct device *d,
		   struct kernel_req **out)
{
	struct maker m = {
		.c = c,
		.k = c->task ? c->task->kind->kernel
			     : c->frame->recs[c->index].kind->kernel,
		.d = d,
		.arg = arg,
	};
	int rc;

	if (maker_reuse(&m)) {
		*out = m.r;
		return 0;
	}
	rc = kernel_check_device(m.k, d);
	if (!rc)
		rc = allocate_request(&m, count_uses(c));
	if (rc)
		return rc;
	fill_request(&m, m.r);
	rc = make_request(&m);
	if (!rc)
		rc = maker_pass_ports(&m);
	if (rc || is_empty(&m))
		kernel_drop_request(m.k->rt, m.r);
	else
		*out = m.r;
	return rc;
}
