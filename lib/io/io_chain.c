/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "io/io_chain.h"

#include "core/ops.h"
#include "core/runtime.h"
#include "graph/access.h"
#include "mem/heap.h"
#include "task/kind.h"

#include <errno.h>
#include <string.h>

/* ---- which of a graph's tasks ------------------------------------------- */

/* It starts when the one before it ends, wherever that is, and needs nothing.
 */
static bool is_plain(const struct lkdf_graph *g, uint32_t t)
{
	const struct access_use *u = NULL, *end = NULL;
	const struct rec *r = &g->recs[t];

	if (g->accesses)
		u = access_uses(g->accesses, t, &end);
	return r->kind->ops == &io_kinds && !r->kind->nr_limits &&
	       !(r->kind->flags & LKDF_ALWAYS) &&
	       !(r->flags & (REC_TOKEN | REC_PLACED)) && u == end;
}

static void mark_followers(struct lkdf_graph *g)
{
	struct rec *r, *m;
	uint32_t t;

	/* Each may have a node of its own there, or not be reached. */
	if (g->homes || g->planned || g->control)
		return;
	for (t = 0; t < g->nr_tasks; t++) {
		r = &g->recs[t];
		if (likely(r->kind->ops != &io_kinds) || r->kind->later ||
		    r->nr_succ != 1)
			continue;
		m = &g->recs[r->succ[0]];
		if (m->nr_in != 1 || (m->flags ^ r->flags) & REC_CLASS ||
		    !is_plain(g, t) || !is_plain(g, r->succ[0]))
			continue;
		r->flags |= REC_LEADS;
		m->flags |= REC_FOLLOWS;
	}
}

const struct seal_pass io_chain_pass = { .seal = mark_followers };

/* ---- to the kernel ------------------------------------------------------ */

static bool may_follow(const struct lkdf_io *io)
{
	switch (io->op) {
	case LKDF_IO_FSYNC:
	case LKDF_IO_FALLOCATE:
	case LKDF_IO_STATX:
	case LKDF_IO_RENAMEAT:
	case LKDF_IO_UNLINKAT:
		return true;
	default:
		return io_op_breaks_link(io);
	}
}

/* Not given yet, in the name of the task that leads. NULL: it goes alone. */
static struct io_req *make_one(struct task *leads, uint32_t index)
{
	struct lkdf *rt = leads->kind->rt;
	struct io_req *r;
	struct lkdf_io io;

	memcpy(&io, leads->frame->recs[index].arg, sizeof(io));
	if (io.size != sizeof(io) || !may_follow(&io) || io_op_check(&io))
		return NULL;
	r = heap_new(rt->heap, heap_thread_cache(rt->heap), sizeof(*r));
	if (!r)
		return NULL;
	io_op_init(&r->op, &io);
	r->task = leads;
	r->end_ns = -1;
	r->item.run = io_run_in_pool;
	r->multi = NULL;
	r->ring = NULL;
	a_store(&r->is_stopping, false, relaxed);
	list_init(&r->list);
	r->behind = NULL;
	r->index = index;
	return r;
}

uint32_t io_chain_make(struct io_req *head)
{
	const struct rec *rec = &head->task->frame->recs[head->task->index];
	struct frame *f = head->task->frame;
	struct io_req *last = head, *r;
	uint32_t nr = 1;

	head->behind = NULL;
	while (nr < IO_CHAIN && rec->flags & REC_LEADS &&
	       io_op_breaks_link(&last->op.io)) {
		r = make_one(head->task, rec->succ[0]);
		if (!r)
			break;
		r->head = head;
		last->behind = r;
		last = r;
		rec = &f->recs[r->index];
		nr++;
	}
	if (nr > 1) {
		head->head = head;
		a_store(&head->nr_to_come, nr, relaxed);
	}
	return nr;
}

/* ---- from the kernel ---------------------------------------------------- */

static void destroy_request(struct io_req *r)
{
	struct heap *h = r->task->kind->rt->heap;

	io_op_fini(&r->op);
	heap_free(h, heap_thread_cache(h), r);
}

/* Its task will find it. */
static void put_early(struct frame *f, struct io_req *r)
{
	lock_take(&f->early_lock);
	r->behind = f->early;
	f->early = r;
	lock_give(&f->early_lock);
}

/*
 * An operation that was to go on had begun, or was about to. Its function hears
 * of a cancel; without one its task is cancelled where it starts.
 */
static bool was_given_up(const struct io_req *head, const struct io_req *r)
{
	const struct rec *rec = &head->task->frame->recs[r->index];

	check(frame_has(head->task->frame, r->index));
	return r->came == -ECANCELED &&
	       !(io_cancelled(head) && rec->kind->later);
}

/*
 * All have come. Those behind one that has not done all were not begun, or in
 * vain: their entries were wrong.
 */
static void finish_chain(struct io_req *head)
{
	bool goes_on = io_op_is_all(&head->op, head->came);
	struct io_req *r = head->behind, *next;
	struct frame *f = head->task->frame;
	bool was_begun;

	for (; r; r = next) {
		next = r->behind;
		was_begun = goes_on && !was_given_up(head, r);
		goes_on = was_begun && io_op_is_all(&r->op, r->came);
		if (!was_begun) {
			destroy_request(r);
			continue;
		}
		r->how = io_op_came(&r->op, r->came);
		r->head = NULL;
		put_early(f, r);
	}
	head->head = head->behind = NULL;
}

struct io_req *io_chain_came(struct io_req *r, int res)
{
	struct io_req *head = r->head;
	uint32_t nr;

	r->came = res;
	/* [chain.come] what came of each; pairs with itself. */
	nr = a_sub(&head->nr_to_come, 1, acq_rel);
	check(nr && nr <= IO_CHAIN);
	if (nr != 1)
		return NULL;
	finish_chain(head);
	return head;
}

/* ---- to their tasks ----------------------------------------------------- */

/* Leaves the list. NULL: there is none. */
static struct io_req *take_early(struct frame *f, uint32_t index)
{
	struct io_req **at, *r;

	check(frame_has(f, index));
	lock_take(&f->early_lock);
	for (at = &f->early; (r = *at) && r->index != index; at = &r->behind)
		;
	if (r)
		*at = r->behind;
	lock_give(&f->early_lock);
	return r;
}

bool io_chain_is_early(struct frame *f, uint32_t index)
{
	struct io_req *r;

	check(frame_has(f, index));
	lock_take(&f->early_lock);
	for (r = f->early; r && r->index != index; r = r->behind)
		;
	lock_give(&f->early_lock);
	return r != NULL;
}

void io_chain_adopt(struct task *t)
{
	struct io_req *r = take_early(t->frame, t->index);

	check(frame_has(t->frame, t->index));
	if (!r)
		return;
	r->task = t;
	t->away.io = r;
	t->link.flags |= TASK_AWAY;
}

void io_chain_forget(struct frame *f, uint32_t index)
{
	struct heap *h = f->graph->rt->heap;
	struct io_req *r = take_early(f, index);

	check(frame_has(f, index));
	if (!r)
		return;
	io_op_fini(&r->op);
	heap_free(h, heap_thread_cache(h), r);
}
