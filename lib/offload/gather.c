/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/gather.h"

#include "base/clock.h"
#include "base/err.h"
#include "mem/region.h"
#include "offload/early.h"
#include "offload/pieces.h"

#include <errno.h>

/* A task that has not come by then may be behind a long body. */
#define PATIENCE_NS 1000000000

static size_t size_of(const struct lkdf_graph *g)
{
	return g->pieces->nr * sizeof(struct kernel_piece);
}

static bool look_at(void *executor, struct device_hold *h);

int gather_create(struct frame *f)
{
	struct kernel_piece *k;
	uint32_t i;

	if (!f->graph->pieces)
		return 0;
	f->pieces = region_alloc(size_of(f->graph));
	if (!f->pieces)
		return err(-ENOMEM, "graph %s: no memory for its kernels",
			   f->graph->name);
	memset((void *)f->pieces, 0, size_of(f->graph));
	for (i = 0; i < f->graph->pieces->nr; i++) {
		k = &f->pieces[i];
		k->frame = f;
		k->number = i;
		k->hold.look = look_at;
		list_init(&k->hold.list);
		list_init(&k->ready);
	}
	return 0;
}

void gather_destroy(struct frame *f)
{
	uint32_t i;

	if (!f->pieces)
		return;
	for (i = 0; i < f->graph->pieces->nr; i++)
		if (f->pieces[i].piece)
			piece_forget(f->pieces[i].piece);
	region_free(f->pieces, size_of(f->graph));
}

static const struct piece *piece_of(const struct kernel_piece *k)
{
	return &k->frame->graph->pieces->piece[k->number];
}

static const struct member *members_of(const struct kernel_piece *k)
{
	return k->frame->graph->pieces->member + piece_of(k)->first;
}

static struct device *device_of(const struct kernel_piece *k)
{
	const struct lkdf_graph *g = k->frame->graph;
	const struct lkdf_kind *kind = g->recs[members_of(k)->index].kind;

	return g->rt->devices->device[home_device(kind->home)];
}

/* ---- a run -------------------------------------------------------------- */

static uint64_t run_of(const struct frame *f)
{
	return f->seq + 1;
}

static bool may_gather(struct kernel_piece *k)
{
	struct device *d = device_of(k);

	if (!k->nr_runs || k->frame->stream || rows_are_told(d) ||
	    !piece_is_possible(d) || a_load(&d->is_lost, relaxed))
		return false;
	if (!k->piece)
		k->piece = piece_create(d, piece_of(k)->nr);
	return k->piece;
}

/* The first time that anything is asked of it in a run. */
static void begin_run(struct kernel_piece *k)
{
	if (k->run == run_of(k->frame))
		return;
	check(!k->nr_before && !k->nr_others && !k->nr_held);
	k->run = run_of(k->frame);
	k->nr_over = 0;
	k->state = may_gather(k) ? GATHER_WAITS : GATHER_LOOSE;
	k->nr_runs++;
}

/* NULL: it is of none. */
static struct kernel_piece *find_piece(struct frame *f, uint32_t index)
{
	uint32_t of = f->pieces ? f->graph->pieces->of[index] : 0;

	if (!of)
		return NULL;
	begin_run(&f->pieces[of - 1]);
	return &f->pieces[of - 1];
}

bool gather_has(struct frame *f, uint32_t index)
{
	struct kernel_piece *k = find_piece(f, index);

	return k && k->state != GATHER_LOOSE;
}

struct device_piece *gather_piece(struct frame *f, uint32_t index)
{
	return find_piece(f, index)->piece;
}

/* ---- tasks that are held ------------------------------------------------ */

static void hold_task(struct kernel_piece *k, struct kernel_req *r)
{
	r->next_held = k->held;
	k->held = r;
	if (!k->nr_held++) {
		k->since = clock_now_ns();
		list_append(&device_of(k)->holds, &k->hold.list);
	}
}

static struct kernel_req *take_task(struct kernel_piece *k, uint32_t index)
{
	struct kernel_req **at = &k->held, *r;

	while (*at && (*at)->index != index)
		at = &(*at)->next_held;
	r = *at;
	if (!r)
		return NULL;
	*at = r->next_held;
	if (!--k->nr_held)
		list_del(&k->hold.list);
	return r;
}

/* Its kernels go one by one. */
static void let_go(struct kernel_piece *k)
{
	struct device *d = device_of(k);
	struct kernel_req *r;

	k->state = GATHER_LOOSE;
	list_del(&k->ready);
	if (k->nr_before)
		k->region->has_loose = true;
	while ((r = k->held)) {
		take_task(k, r->index);
		request_hand_over(d, &r->req);
	}
}

static bool is_off(struct kernel_piece *k)
{
	const struct frame *f = k->frame;

	/* [gather.gone] pairs with itself. */
	return a_load(&k->gone, acquire) == run_of(f) || frame_cancelled(f) ||
	       a_load(&device_of(k)->is_lost, relaxed);
}

/* The frame is there as long as a task of it is held. */
static bool look_at(void *executor, struct device_hold *h)
{
	struct kernel_piece *k = container_of(h, struct kernel_piece, hold);

	(void)executor;
	if (!is_off(k) && clock_now_ns() - k->since < PATIENCE_NS)
		return false;
	let_go(k);
	return true;
}

static void mark_gone(struct frame *f, uint32_t index)
{
	uint32_t of = f->graph->pieces->of[index];

	/* [gather.gone] as above. */
	if (of)
		a_store(&f->pieces[of - 1].gone, run_of(f), release);
}

/* Kernels behind it may go all the same, where a failure does not pass. */
void gather_gone(struct frame *f, uint32_t index)
{
	const struct rec *rec = &f->recs[index];
	uint32_t nr, i;
	const uint32_t *succ = graph_succ(f->graph, rec, &nr);

	if (!f->pieces)
		return;
	mark_gone(f, index);
	for (i = 0; i < nr; i++)
		if (pieces_join(rec, &f->recs[succ[i]]))
			mark_gone(f, succ[i]);
	device_ring(
		f->graph->rt->devices->device[home_device(rec->kind->home)]);
}

/* ---- what it waits for -------------------------------------------------- */

/* Is the member's task not ready, as long as the region is at work? */
static bool is_ahead(const struct kernel_piece *k, const struct member *m)
{
	const struct kernel_early *a = &k->frame->kernels[m->index];

	return !(m->flags & MEMBER_COMES) && a->nr_before && !a->nr_others &&
	       a->region == k->region;
}

static bool is_held(const struct kernel_piece *k, uint32_t index)
{
	const struct kernel_req *r;

	for (r = k->held; r && r->index != index; r = r->next_held)
		;
	return r;
}

static bool has_entered(const struct kernel_piece *k)
{
	const struct member *m = members_of(k), *end = m + piece_of(k)->nr;

	if (k->nr_held == piece_of(k)->nr_entering)
		return true;
	for (; m < end; m++)
		if (m->flags & MEMBER_ENTERS && !is_held(k, m->index) &&
		    !(k->nr_before && is_ahead(k, m)))
			return false;
	return true;
}

static bool has_all(const struct kernel_piece *k)
{
	return k->state == GATHER_WAITS && !k->nr_others &&
	       k->nr_before + k->nr_over == piece_of(k)->nr_edges &&
	       has_entered(k);
}

/* For a piece of a region: the region takes it when it can. */
static void note_ready(struct kernel_piece *k)
{
	if (k->nr_before && list_is_empty(&k->ready) && has_all(k))
		list_append(&k->region->ready, &k->ready);
}

/* All have come: the first one makes a region. NULL: not yet. */
static struct kernel_req *find_leader(struct kernel_piece *k)
{
	struct kernel_req *r;

	if (k->nr_before || !has_all(k))
		return NULL;
	r = take_task(k, members_of(k)->index);
	check(r);
	k->state = GATHER_LEADS;
	k->piece->is_whole = false;
	r->req.piece = k->piece;
	r->req.tells = members_of(k)->flags & MEMBER_TELLS;
	return r;
}

static void count_before(struct kernel_piece *k, struct device_region *g,
			 int by)
{
	if (!k->nr_before && !k->nr_others)
		k->region = g;
	if (k->region == g)
		k->nr_before += (uint32_t)by;
	else
		k->nr_others += (uint32_t)by;
	if (by > 0 && k->state == GATHER_LOOSE)
		g->has_loose = true;
}

void gather_count(struct kernel_req *r, struct device_region *g, int by)
{
	struct frame *f = r->frame;
	const struct rec *rec = &f->recs[r->index];
	struct kernel_piece *own = find_piece(f, r->index), *k;
	uint32_t nr, i;
	const uint32_t *succ = graph_succ(f->graph, rec, &nr);

	for (i = 0; i < nr; i++) {
		if (!pieces_join(rec, &f->recs[succ[i]]))
			continue;
		k = find_piece(f, succ[i]);
		if (by > 0 && (!k || (k == own && k->state == GATHER_LOOSE)))
			g->has_loose = true;
		if (!k || k == own)
			continue;
		count_before(k, g, by);
		if (by > 0)
			note_ready(k);
	}
}

/* A kernel before it is over. */
static void note_over(struct kernel_piece *k, int error)
{
	struct kernel_req *r;

	k->nr_over++;
	if (k->state != GATHER_WAITS)
		return;
	/* Some of its tasks are skipped, perhaps. */
	if (error) {
		let_go(k);
		return;
	}
	r = find_leader(k);
	if (r)
		request_hand_over(r->req.device, &r->req);
	else
		note_ready(k);
}

void gather_over(struct frame *f, uint32_t index, int error)
{
	const struct rec *rec = &f->recs[index];
	struct kernel_piece *own, *k;
	uint32_t nr, i;
	const uint32_t *succ;

	if (!f->pieces)
		return;
	own = find_piece(f, index);
	succ = graph_succ(f->graph, rec, &nr);
	for (i = 0; i < nr; i++) {
		if (!pieces_join(rec, &f->recs[succ[i]]))
			continue;
		k = find_piece(f, succ[i]);
		if (k && k != own)
			note_over(k, error);
	}
}

void gather_end(struct kernel_req *r)
{
	struct kernel_piece *k;

	if (!r->frame || !r->frame->pieces)
		return;
	k = find_piece(r->frame, r->index);
	/* It went alone. */
	if (k && k->state == GATHER_LEADS && members_of(k)->index == r->index)
		let_go(k);
	gather_over(r->frame, r->index, r->req.error);
}

bool gather_holds(void *executor, struct device_req *q)
{
	struct kernel_req *r = container_of(q, struct kernel_req, req), *first;
	struct kernel_piece *k;

	k = r->frame ? find_piece(r->frame, r->index) : NULL;
	if (!k || k->state != GATHER_WAITS)
		return false;
	if (is_off(k) || !r->req.leads) {
		let_go(k);
		return false;
	}
	hold_task(k, r);
	first = find_leader(k);
	if (first == r)
		return false;
	if (first) {
		request_hand_over(r->req.device, &first->req);
		return true;
	}
	note_ready(k);
	if (!list_is_empty(&k->ready))
		region_poke(executor, k->region);
	return true;
}

/* ---- giving ------------------------------------------------------------- */

/* The task has come, or it is given ahead. NULL: it does not go with them. */
static struct kernel_req *add_member(struct executor *ex,
				     struct device_region *g,
				     struct kernel_piece *k,
				     const struct member *m)
{
	struct kernel_req *r = take_task(k, m->index);

	if (!r)
		return early_give(ex, g, k->frame, m);
	request_enter(g->device, &r->req);
	r->req.piece = k->piece;
	r->req.tells = m->flags & MEMBER_TELLS;
	if (region_add(g, &r->req)) {
		early_counted(r, g);
		return r;
	}
	r->req.piece = NULL;
	request_leave(g->device, &r->req);
	request_hand_over(g->device, &r->req);
	return NULL;
}

/* Members from that one on. */
static void add_members(struct executor *ex, struct device_region *g,
			struct kernel_piece *k, uint32_t from)
{
	const struct member *m = members_of(k);
	uint32_t i, nr = piece_of(k)->nr;

	k->state = GATHER_GIVEN;
	for (i = from; i < nr && region_is_open(g) && !is_off(k); i++)
		if (!add_member(ex, g, k, &m[i]))
			break;
	k->piece->is_whole = i == nr;
	if (i == nr)
		return;
	region_break_piece(g, k->piece);
	g->has_loose = true;
	let_go(k);
}

void gather_extend(struct executor *ex, struct device_region *g)
{
	struct kernel_piece *k;

	while (!list_is_empty(&g->ready) && region_takes_piece(g)) {
		k = container_of(g->ready.next, struct kernel_piece, ready);
		list_del(&k->ready);
		if (k->nr_before && k->region == g && has_all(k))
			add_members(ex, g, k, 0);
	}
}

void gather_complete(void *executor, struct device_region *g,
		     struct device_req *q)
{
	struct kernel_req *r = container_of(q, struct kernel_req, req);
	struct kernel_piece *k = find_piece(r->frame, r->index);

	early_counted(r, g);
	add_members(executor, g, k, 1);
}
