/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/early.h"

#include "base/err.h"
#include "core/home.h"
#include "core/ops.h"
#include "core/runtime.h"
#include "graph/access.h"
#include "graph/port.h"
#include "mem/region.h"
#include "offload/gather.h"
#include "offload/maker.h"
#include "offload/pieces.h"
#include "run/follow.h"
#include "run/frame_count.h"
#include "run/resolve.h"
#include "task/ctx.h"
#include "trace/counters.h"

#include <errno.h>

/* ---- which of a graph's tasks ------------------------------------------- */

static bool has_plain_uses(const struct lkdf_graph *g, uint32_t index)
{
	const struct access_use *u, *end;

	if (!g->accesses)
		return true;
	for (u = access_uses(g->accesses, index, &end); u < end; u++)
		if (u->mode & (uint8_t)~LKDF_RW ||
		    u->flags &
			    (ACCESS_TRANSIENT | ACCESS_TOKEN | ACCESS_COMBINES))
			return false;
	return true;
}

static const struct device *device_of(const struct lkdf_kind *k)
{
	return k->rt->devices->device[home_device(k->home)];
}

/* It may lead and follow, as far as it alone tells. */
static bool is_plain(const struct lkdf_graph *g, uint32_t index)
{
	const struct rec *r = &g->recs[index];
	const struct lkdf_kind *k = r->kind;

	/* Not what lies between records, see renumber.c. */
	return k && k->ops == &kernel_kinds && k->fn == k->ops->begin &&
	       home_is_device(k->home) &&
	       device_has(device_of(k), LKDF_DEVICE_ORDERED) &&
	       k->kernel->attr.nr_code && !k->kernel->fold.block &&
	       !maker_count_memory(k->kernel) && !k->nr_limits &&
	       k->kernel->attr.range_from != LKDF_RANGE_USE &&
	       !(k->flags & LKDF_ALWAYS) && !(r->flags & REC_TOKEN) &&
	       has_plain_uses(g, index);
}

/* For two that are plain. */
static bool may_follow(const struct rec *r, const struct rec *m)
{
	return m->kind->home == r->kind->home &&
	       !((m->flags ^ r->flags) & REC_CLASS);
}

static void mark_early(struct lkdf_graph *g, uint32_t index)
{
	struct rec *r = &g->recs[index], *m;
	uint32_t nr, i;
	const uint32_t *succ = graph_succ(g, r, &nr);

	for (i = 0; i < nr; i++) {
		m = &g->recs[succ[i]];
		if (!is_plain(g, succ[i]) || !may_follow(r, m))
			continue;
		r->flags |= REC_LEADS;
		m->flags |= REC_FOLLOWS;
		g->has_early = true;
	}
}

static void mark_all(struct lkdf_graph *g)
{
	uint32_t i;

	if (g->control || g->ports || g->planned || !g->rt->devices ||
	    !devices_nr(g->rt))
		return;
	for (i = 0; i < g->nr_recs; i++)
		if (is_plain(g, i))
			mark_early(g, i);
	if (g->has_early)
		pieces_make(g);
}

static size_t size_of(const struct lkdf_graph *g)
{
	return g->nr_recs * sizeof(struct kernel_early);
}

static int create_kernels(struct frame *f)
{
	if (!f->graph->has_early)
		return 0;
	f->kernels = region_alloc(size_of(f->graph));
	return f->kernels ? gather_create(f)
			  : err(-ENOMEM, "graph %s: no memory for its kernels",
				f->graph->name);
}

static void destroy_kernels(struct frame *f)
{
	uint32_t i;

	/* A frame that was never made has no graph. */
	if (!f->kernels)
		return;
	for (i = 0; i < f->graph->nr_recs; i++)
		if (f->kernels[i].kept)
			kernel_drop_request(f->graph->rt, f->kernels[i].kept);
	region_free(f->kernels, size_of(f->graph));
	gather_destroy(f);
}

const struct seal_pass early_pass = {
	.seal = mark_all,
	.create_frame = create_kernels,
	.destroy_frame = destroy_kernels,
};

bool early_leads(const struct lkdf_ctx *c)
{
	const struct frame *f = c->frame;

	return f && f->recs[c->index].flags & REC_LEADS && !f->stream &&
	       !f->values.is_poisoned;
}

/* ---- giving them -------------------------------------------------------- */

/* Counts an edge more or less from a request of the region. */
static void count_edge(struct kernel_early *a, struct device_region *g, int by)
{
	if (!a->nr_before && !a->nr_others)
		a->region = g;
	if (a->region == g)
		a->nr_before += (uint32_t)by;
	else
		a->nr_others += (uint32_t)by;
}

static void count_edges(struct kernel_req *r, struct device_region *g, int by)
{
	struct frame *f = r->frame;
	const struct rec *rec = &f->recs[r->index], *m;
	uint32_t nr, i;
	const uint32_t *succ = graph_succ(f->graph, rec, &nr);

	for (i = 0; i < nr; i++) {
		m = &f->recs[succ[i]];
		if (m->flags & REC_FOLLOWS && may_follow(rec, m))
			count_edge(&f->kernels[succ[i]], g, by);
	}
}

void early_counted(struct kernel_req *r, struct device_region *g)
{
	if (!r->counted) {
		count_edges(r, g, 1);
		gather_count(r, g, 1);
	}
	r->counted = g;
}

/* All that it waits for are requests of the region that are not over. */
static bool is_next(const struct frame *f, uint32_t index,
		    const struct device_region *g)
{
	const struct kernel_early *a = &f->kernels[index];
	const struct rec *m = &f->recs[index];

	if (a->req || !a->nr_before || a->nr_others || a->region != g)
		return false;
	if (m->nr_in == 1)
		return true;
	/* [dep.last] what all others did; pairs with [dep.arrive]. */
	return a_load(&m->pending, acquire) == a->nr_before;
}

/* NULL: its task tells why, or it is nothing to do. */
static struct kernel_req *make_early(struct executor *ex, struct frame *f,
				     struct device *d, uint32_t index)
{
	const struct rec *m = &f->recs[index];
	struct lkdf_ctx c = { .ex = ex, .frame = f, .index = index };
	struct kernel_req *r = NULL;

	if (kernel_request(&c, m->arg, d, &r))
		return NULL;
	return r;
}

static bool give_request(struct device_region *g, struct kernel_req *r)
{
	struct frame *f = r->frame;

	check(!((uintptr_t)&r->call.link % LINK_ALIGN));
	a_store(&r->nr_arrived, 0, relaxed);
	f->kernels[r->index].req = r;
	request_enter(g->device, &r->req);
	if (region_add(g, &r->req)) {
		early_counted(r, g);
		return true;
	}
	f->kernels[r->index].req = NULL;
	request_leave(g->device, &r->req);
	return false;
}

static void give_early(struct executor *ex, struct device_region *g,
		       struct frame *f, uint32_t index)
{
	struct kernel_req *r = make_early(ex, f, g->device, index);

	if (r && (!kernel_may_go(r) || !give_request(g, r)))
		kernel_free_request(f->graph->rt, r);
}

struct kernel_req *early_give(struct executor *ex, struct device_region *g,
			      struct frame *f, const struct member *m)
{
	struct kernel_req *r = make_early(ex, f, g->device, m->index);

	if (!r)
		return NULL;
	r->req.piece = gather_piece(f, m->index);
	r->req.tells = m->flags & MEMBER_TELLS;
	if (kernel_may_go(r) && give_request(g, r))
		return r;
	r->req.piece = NULL;
	kernel_free_request(f->graph->rt, r);
	return NULL;
}

static void give_behind(struct executor *ex, struct device_region *g,
			const struct kernel_req *before)
{
	struct frame *f = before->frame;
	const struct rec *r = &f->recs[before->index], *m;
	uint32_t nr, i;
	const uint32_t *succ = graph_succ(f->graph, r, &nr);

	for (i = 0; i < nr && region_has_room(g); i++) {
		m = &f->recs[succ[i]];
		if (m->flags & REC_FOLLOWS && may_follow(r, m) &&
		    !gather_has(f, succ[i]) && is_next(f, succ[i], g))
			give_early(ex, g, f, succ[i]);
	}
}

void early_extend(void *executor, struct device_region *g)
{
	struct kernel_req *r = container_of(g->first, struct kernel_req, req);
	struct device_req *q;

	if (frame_cancelled(r->frame))
		return;
	/* The one that leads, when it begins. */
	early_counted(r, g);
	gather_extend(executor, g);
	if (!g->has_loose)
		return;
	for (q = g->first; q && region_has_room(g); q = q->behind)
		give_behind(executor, g,
			    container_of(q, struct kernel_req, req));
}

void early_failed(struct device_req *q)
{
	struct kernel_req *r = container_of(q, struct kernel_req, req), *m;
	struct frame *f = r->frame;
	uint32_t nr, i;
	const uint32_t *succ = graph_succ(f->graph, &f->recs[r->index], &nr);

	for (i = 0; i < nr; i++) {
		m = f->kernels[succ[i]].req;
		if (m && resolve_passes(f, r->index, succ[i], VERDICT_FAILED) ==
				 VERDICT_FAILED)
			request_fail(&m->req, -ECANCELED,
				     "kernel %s: a kernel before it failed",
				     m->req.launch.name);
	}
}

bool early_is_awaited(const struct device_req *q)
{
	const struct kernel_req *r =
		container_of(q, const struct kernel_req, req);
	const struct frame *f = r->frame;
	const struct rec *rec, *m;
	const uint32_t *succ;
	uint32_t nr, i;

	if (!f)
		return r->is_awaited;
	rec = &f->recs[r->index];
	succ = graph_succ(f->graph, rec, &nr);
	for (i = 0; i < nr; i++) {
		m = &f->recs[succ[i]];
		if (!(m->flags & REC_FOLLOWS) || !may_follow(rec, m) ||
		    !f->kernels[succ[i]].req)
			return true;
	}
	return false;
}

/* ---- their end ---------------------------------------------------------- */

/* Its turn has come, and its request is over, which is gone then. */
static void end_given(struct executor *ex, struct kernel_req *r)
{
	int error = r->req.error;
	uint32_t index = r->index;
	struct frame *f = r->frame;

	check(f->kernels[index].req == r);
	f->kernels[index].req = NULL;
	counter_add(ex->counters, COUNTER_TASKS, 1);
	counter_add(ex->counters, COUNTER_AHEAD, 1);
	kernel_count(ex, r);
	if (error == -ECANCELED && frame_cancelled(f))
		frame_count(f, ex->counters, ENDED_CANCELLED);
	else if (error)
		frame_fail(f, index, error, r->req.why, ex->id);
	else if (f->graph->accesses)
		values_count_untouched(f, index);
	/* The tasks behind it were made ready by it. */
	if (r->req.uid)
		ex->now = r->req.uid;
	kernel_free_request(f->graph->rt, r);
}

/* On a worker. */
static void resolve_given(struct executor *ex, struct link_call *call)
{
	struct kernel_req *r = container_of(call, struct kernel_req, call);
	int verdict = r->req.error ? VERDICT_FAILED : VERDICT_LIVE;
	uint32_t index = r->index;
	struct frame *f = r->frame;
	uint64_t now = ex->now;

	end_given(ex, r);
	resolve_and_tell(ex->worker, f, index, verdict);
	ex->now = now;
}

/* Is it over, with its task's turn? The one that is told so ends it. */
static bool has_arrived(struct kernel_req *r)
{
	/* [early.arrive] what came of it; pairs with itself. */
	return a_add(&r->nr_arrived, 1, acq_rel) == 1;
}

static void send_worker(struct executor *ex, struct kernel_req *r)
{
	runtime_push(r->frame->graph->rt, ex, &r->call.link);
}

/* All tasks behind it are given, and none of them is to be skipped. */
static bool needs_no_worker(const struct kernel_req *r)
{
	struct frame *f = r->frame;
	uint32_t nr, i;
	const uint32_t *succ = graph_succ(f->graph, &f->recs[r->index], &nr);

	if (r->req.error || !nr || f->stream || early_is_awaited(&r->req))
		return false;
	for (i = 0; i < nr; i++)
		if (resolve_passes(f, r->index, succ[i], VERDICT_LIVE) !=
		    VERDICT_LIVE)
			return false;
	return true;
}

static void skip_given(struct executor *ex, struct link_call *call)
{
	struct kernel_req *r = container_of(call, struct kernel_req, call);

	resolve_push(ex->worker, r->frame, r->index, ITEM_SKIP);
}

/*
 * Another task before it has failed meanwhile. So it is over without a launch,
 * see region.h, and a worker skips its task.
 */
static void send_skipped(struct executor *ex, struct frame *f, uint32_t index)
{
	struct kernel_req *r = f->kernels[index].req;

	/* [early.arrive] as above. */
	check(a_load(&r->nr_arrived, acquire) == 1);
	r->call.run = skip_given;
	send_worker(ex, r);
}

/* An arrival at a task that is given: its turn may have come. */
static void arrive_given(struct executor *ex, struct frame *f, uint32_t index)
{
	struct rec *m = &f->recs[index];
	enum arrival a = ARRIVAL_LIVE;

	if (m->nr_in != 1) {
		a = rec_arrive(m);
		if (a == ARRIVAL_EARLY)
			return;
		rec_rearm(m, graph_nr_in(f->graph, m, index));
	}
	if (a == ARRIVAL_DEAD)
		send_skipped(ex, f, index);
	else
		early_joins(ex, f, index);
}

/* On the launcher: no worker is woken for what makes no task ready. */
static void resolve_here(struct executor *ex, struct kernel_req *r)
{
	struct frame *f = r->frame;
	uint32_t index = r->index, nr, i;
	CHECK_ONLY uint32_t was;
	uint64_t now = ex->now;
	const uint32_t *succ = graph_succ(f->graph, &f->recs[index], &nr);

	end_given(ex, r);
	/*
	 * [frame.resolved] what it did. Those behind it are still to come: a
	 * worker may resolve them, and end the run, as soon as they are told.
	 */
	was = a_sub(&f->remaining, 1, acq_rel);
	check(was > 1);
	for (i = 0; i < nr; i++)
		arrive_given(ex, f, succ[i]);
	ex->now = now;
}

bool early_over(void *executor, struct kernel_req *r)
{
	if (r->counted) {
		count_edges(r, r->counted, -1);
		gather_count(r, r->counted, -1);
	}
	r->counted = NULL;
	gather_end(r);
	if (r->task)
		return false;
	r->call.link.type = LINK_CALL;
	r->call.link.class = r->req.class;
	r->call.run = resolve_given;
	if (!has_arrived(r))
		return true;
	if (needs_no_worker(r))
		resolve_here(executor, r);
	else
		send_worker(executor, r);
	return true;
}

bool early_joins(struct executor *ex, struct frame *f, uint32_t index)
{
	struct kernel_req *r = f->kernels[index].req;

	if (!r)
		return false;
	if (has_arrived(r))
		send_worker(ex, r);
	return true;
}

bool early_is_given(struct frame *f, uint32_t index)
{
	return f->kernels[index].req != NULL;
}

/* A task before it failed: it is over already, see region.h. */
void early_forget(struct frame *f, uint32_t index)
{
	struct kernel_req *r = f->kernels[index].req;

	gather_gone(f, index);
	if (!r)
		return;
	/* [early.arrive] as above. */
	check(a_load(&r->nr_arrived, acquire) == 1);
	f->kernels[index].req = NULL;
	kernel_free_request(f->graph->rt, r);
}
