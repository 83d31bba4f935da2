/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels that may be given ahead have one request for each frame of their
 * graph. A frame keeps the request of a kernel that is over, and the next run
 * resets it: what the kind, the device and the graph say stays as it was made.
 * A request whose bytes have moved on the host, or whose range is another one,
 * is made anew.
 */
#include "offload/early.h"
#include "offload/maker.h"
#include "run/frame.h"

#include <string.h>

/* NULL: the kernel's requests are made for each task. */
static struct kernel_early *place_of(const struct frame *f, uint32_t index)
{
	if (!f || !f->kernels ||
	    !(f->recs[index].flags & (REC_LEADS | REC_FOLLOWS)))
		return NULL;
	return &f->kernels[index];
}

bool maker_keep(struct kernel_req *r)
{
	struct kernel_early *a = place_of(r->frame, r->index);

	if (!a || a->kept || r->nr_memory)
		return false;
	a->kept = r;
	return true;
}

static bool has_same_bytes(const struct maker *m)
{
	uint32_t i;

	for (i = 0; i < m->r->nr_use; i++)
		if (values_ptr(m->c, i) != m->r->use[i].at)
			return false;
	return true;
}

static bool has_same_range(const struct maker *m)
{
	uint64_t range[3];

	return !maker_find_range(m, range) &&
	       !memcmp(range, m->r->range, sizeof(range));
}

/* Bytes that were lost, or copies that others have made, are seen again. */
static void reset_operand(struct maker *m, uint32_t main)
{
	uint32_t at = m->r->use[main].operand - 1;
	struct device_operand *o = &m->r->req.operand[at];

	o->device_ptr = NULL;
	o->copy = o->source = NULL;
	o->shared = NULL;
	o->is_fetching = o->is_filled = false;
	maker_find_copies(m, main, o);
}

static void reset_launch(const struct kernel_req *r, struct lkdf_launch *l)
{
	const struct lkdf_kernel_attr *a = &r->kernel->attr;

	/* The launch of a serial loop is one item, whatever its range. */
	if (a->flags & LKDF_KERNEL_SERIAL)
		return;
	memcpy(l->block, a->block, sizeof(l->block));
	memcpy(l->range, r->range, sizeof(l->range));
}

static void reset_request(struct maker *m)
{
	struct device_req *q = &m->r->req;
	uint32_t i;

	m->r->counted = NULL;
	q->piece = NULL;
	q->error = 0;
	q->why[0] = 0;
	q->bytes_up = q->bytes_down = q->uid = 0;
	memset(&q->told, 0, sizeof(q->told));
	reset_launch(m->r, &q->launch);
	for (i = 0; i < m->r->nr_use; i++)
		if (m->r->use[i].operand)
			reset_operand(m, i);
	maker_begin_run(m);
}

bool maker_reuse(struct maker *m)
{
	struct kernel_early *a = place_of(m->c->frame, m->c->index);
	struct kernel_req *r = a ? a->kept : NULL;

	if (!r || r->req.device != m->d || a_load(&m->d->is_lost, relaxed))
		return false;
	a->kept = NULL;
	m->r = r;
	if (r->arg == m->arg && has_same_bytes(m) && has_same_range(m)) {
		reset_request(m);
		return true;
	}
	kernel_drop_request(m->k->rt, r);
	m->r = NULL;
	return false;
}
