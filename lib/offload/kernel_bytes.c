/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes of a request that stay on its device, or are elsewhere: on another
 * device, or on its own where the kernel is to find them on the host.
 */
#include "offload/maker.h"

#include "core/ops.h"
#include "data/offhost.h"
#include "graph/access.h"
#include "run/frame.h"
#include "run/offhost_once.h"
#include "task/acquire.h"
#include "task/ctx.h"
#include "task/uses.h"

/* ---- which copies ------------------------------------------------------- */

/*
 * Its bytes come home at once: another copy may ask, or the program, when it
 * has waited for the task. is_rewritten: who waits for this task waits for
 * another one, which writes them as well.
 */
static bool is_through(const struct lkdf_data *d, bool is_rewritten)
{
	return (d->is_wrapped && !is_rewritten) || d->flags & DATA_MOVES;
}

static bool may_keep(const struct maker *m, uint32_t flags)
{
	return (m->k->is_prefetch || !(flags & LKDF_ALWAYS)) &&
	       !device_has(m->d, LKDF_DEVICE_HOST_MEMORY);
}

static void find_copies_of(struct maker *m, struct lkdf_data *d, uint32_t part,
			   bool keeps, struct device_operand *o)
{
	o->part = part;
	o->offset = data_offset(d, part);
	o->copies = keeps ? data_make_copies(d, m->k->rt->devices->device)
			  : data_copies(d);
	o->is_kept = keeps && o->copies;
}

/* The bytes are of this run, see offhost_once.h. */
static void find_copies_of_once(struct maker *m, uint32_t var, bool keeps,
				struct device_operand *o)
{
	struct frame *f = m->c->frame;

	o->copies = keeps ? offhost_once_make(f, var, m->k->rt->devices->device)
			  : offhost_once_copies(f, var);
	o->is_kept = keeps && o->copies;
}

/* In a run: all of its tasks see to where the bytes are, see offhost_run.h. */
static void find_copies_of_run(struct maker *m, uint32_t main,
			       struct device_operand *o)
{
	const struct frame *f = m->c->frame;
	const struct access_table *w = f->graph->accesses;
	const struct access_use *end;
	const struct access_use *u = &access_uses(w, m->c->index, &end)[main];
	const struct access_var *v = access_var(w, u->var);
	bool keeps = may_keep(m, f->recs[m->c->index].kind->flags);

	if (v->may_be_offhost && v->is_transient) {
		find_copies_of_once(m, u->var, keeps, o);
	} else if (v->may_be_offhost) {
		o->is_through =
			is_through(v->data, u->flags & ACCESS_REWRITTEN);
		find_copies_of(m, v->data, v->part, keeps, o);
	}
}

/* Under the domain's lock: does it want all its bytes on the host? */
static bool is_of_host(struct use *u)
{
	const struct claim *c = use_claim(u);

	lock_assert_held(&u->domain->lock);
	if (u->flags & (USE_WEAK | USE_HIDDEN | USE_UNSEEN))
		return false;
	return acquire_has(c) ||
	       (uses_has(c) &&
		!((const struct task *)c->holder)->kind->ops->host_use);
}

/*
 * Under the same lock: is the use one of a kernel that writes the bytes, of the
 * task's scope? The task has no event, so its waiters wait for the scope.
 */
static bool is_rewritten_by(struct use *u, const struct task *t)
{
	const struct claim *c = use_claim(u);
	const struct task *next = c->holder;

	lock_assert_held(&u->domain->lock);
	return t->link.flags & TASK_SCOPED &&
	       !(t->link.flags & TASK_HAS_DONE) && uses_has(c) &&
	       u->turn == TURN_WRITE && !(u->flags & (USE_WEAK | USE_HIDDEN)) &&
	       next->kind->kernel && next->scope == t->scope;
}

/* The function looks at the use that is next in the queue, if there is one. */
static void look_at_next(const struct use *u, const struct task *t,
			 bool *is_awaited, bool *is_rewritten)
{
	struct use *next;

	*is_awaited = *is_rewritten = false;
	if (!u->var || !var_first(u->var))
		return;
	lock_take(&u->domain->lock);
	next = var_first(u->var);
	if (next) {
		/* Then they go there behind the launch. */
		*is_awaited = is_of_host(next);
		*is_rewritten = is_rewritten_by(next, t);
	}
	lock_give(&u->domain->lock);
}

/*
 * The operand's copy stays on the device, if versions tell whether it is still
 * right: those of all who claim the data do. Below a task bytes change without
 * that.
 */
void maker_find_copies(struct maker *m, uint32_t main, struct device_operand *o)
{
	const struct task *t = m->c->task;
	bool is_awaited, is_rewritten;
	const struct use *u;

	if (m->c->frame) {
		find_copies_of_run(m, main, o);
		return;
	}
	u = &t->claim->use[main];
	if (u->domain->bytes)
		return;
	look_at_next(u, t, &is_awaited, &is_rewritten);
	o->is_through = is_through(u->domain->data, is_rewritten);
	find_copies_of(m, u->domain->data, u->part,
		       !u->domain->above && may_keep(m, t->kind->flags), o);
	o->is_through |= o->is_kept && is_awaited;
	m->r->is_awaited |= is_awaited;
}

/* ---- before it goes ----------------------------------------------------- */

static void note_lost(struct kernel_req *r, const struct device_operand *o)
{
	int error = 0;

	/* The reader that wants the bytes is told. */
	if (o->mode & LKDF_READ && !r->kernel->is_prefetch)
		error = offhost_error(o->copies, o->part);
	if (error)
		request_fail_bytes(&r->req, error);
}

/* Where the bytes may be as well: where the kernel finds them. */
static const struct device *found_on(const struct kernel_req *r,
				     const struct device_operand *o)
{
	/* order: kernel.waits */
	return o->is_kept ? r->req.device : NULL;
}

/*
 * The whole of a part may be there as well: a kernel that reads gets a copy
 * that is made of the whole's. A kernel that writes a part needs the others at
 * home.
 */
static const struct device *whole_on(const struct kernel_req *r,
				     const struct device_operand *o)
{
	/* order: kernel.whole */
	return o->mode & LKDF_WRITE || !r->req.device->ops.copy
		       ? NULL
		       : found_on(r, o);
}

/* They are there. */
static void begin_uses(struct kernel_req *r)
{
	struct device_operand *o;
	uint32_t i;

	for (i = 0; i < r->req.nr_operand; i++)
		if (r->req.operand[i].copies)
			note_lost(r, &r->req.operand[i]);
	for (i = 0; i < r->req.nr_operand && !r->req.error; i++) {
		o = &r->req.operand[i];
		/* order: kernel.written */
		if (o->copies && !o->is_kept && o->mode & LKDF_WRITE)
			offhost_written(o->copies, o->part);
	}
}

bool kernel_waits(struct kernel_req *r)
{
	const struct device_operand *o;
	uint32_t i;

	for (i = 0; i < r->req.nr_operand; i++) {
		o = &r->req.operand[i];
		if (o->copies &&
		    offhost_wait(o->copies, o->part, found_on(r, o),
				 whole_on(r, o), &r->bytes))
			return true;
	}
	begin_uses(r);
	return false;
}

bool kernel_may_go(struct kernel_req *r)
{
	const struct device_operand *o;
	uint32_t i;

	for (i = 0; i < r->req.nr_operand; i++) {
		o = &r->req.operand[i];
		if (o->copies &&
		    offhost_is_elsewhere(o->copies, o->part, found_on(r, o),
					 whole_on(r, o)))
			return false;
	}
	begin_uses(r);
	return !r->req.error;
}
