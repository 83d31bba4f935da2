/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/offhost_run.h"

#include "base/err.h"
#include "core/ops.h"
#include "data/offhost.h"
#include "run/frame.h"
#include "run/offhost_once.h"
#include "task/ctx.h"
#include "task/kind.h"
#include "task/task.h"

/* ---- at seal ------------------------------------------------------------ */

/*
 * Kernels use it, and its bytes keep their place on the host. If bytes live for
 * a run, a function that drops them wants them at home.
 */
static bool is_for_devices(const struct lkdf_graph *g,
			   const struct access_use *u)
{
	const struct access_var *v = access_var(g->accesses, u->var);

	return g->recs[u->task].kind->kernel &&
	       (v->is_transient ? !v->data->drop : !v->is_once) &&
	       !(v->data->flags & DATA_MOVES);
}

/* Copies of executors are combined on the host; children look there. */
static bool is_for_host(const struct access_table *w,
			const struct access_use *u)
{
	return u->mode & LKDF_REDUCE ||
	       (u->mode & LKDF_WEAK && access_var(w, u->var)->is_transient);
}

static void set_whole(struct access_table *w, const struct access_use *u,
		      bool may_be_offhost)
{
	access_var(w, access_whole(w, u->var))->may_be_offhost = may_be_offhost;
}

/* Does the task write it in any case, if it is run? */
static bool writes_surely(const struct access_use *u)
{
	return u->flags & ACCESS_WRITES && !(u->flags & ACCESS_MERGED) &&
	       !(u->mode &
		 (LKDF_WEAK | LKDF_MAYBE | LKDF_REDUCE | LKDF_COMMUTE));
}

/* Not where a task may be left out, or run again. */
static void find_rewritten(struct lkdf_graph *g)
{
	struct access_table *w = g->accesses;
	struct access_use *u = w->uses.items;
	struct access_var *v;
	size_t i = w->uses.nr;

	if (g->control || g->ports)
		return;
	while (i--) {
		if (!writes_surely(&u[i]))
			continue;
		v = access_var(w, u[i].var);
		if (v->is_rewritten)
			u[i].flags |= ACCESS_REWRITTEN;
		v->is_rewritten = true;
	}
}

void offhost_find(struct lkdf_graph *g)
{
	struct access_table *w = g->accesses;
	const struct access_use *u = w->uses.items;
	struct access_var *v;
	uint32_t i;

	check(!g->is_sealed);
	find_rewritten(g);
	for (i = 0; i < w->uses.nr; i++)
		if (is_for_devices(g, &u[i]))
			set_whole(w, &u[i], true);
	for (i = 0; i < w->uses.nr; i++)
		if (is_for_host(w, &u[i]))
			set_whole(w, &u[i], false);
	for (i = 0; i < w->vars.nr; i++) {
		v = access_var(w, i);
		v->may_be_offhost =
			access_var(w, access_whole(w, i))->may_be_offhost;
		w->has_away |= v->may_be_offhost;
	}
}

bool offhost_is_looked_at(const struct lkdf_kind *k,
			  const struct access_table *w,
			  const struct access_use *u)
{
	/* Nobody has a value before it is made. */
	if (u->flags & ACCESS_TRANSIENT && u->flags & ACCESS_WRITES)
		return false;
	return access_var(w, u->var)->may_be_offhost &&
	       !(u->mode & LKDF_WEAK) &&
	       (!k->ops->host_use || k->ops->host_use(k) >= 0);
}

/* ---- uses of a task ------------------------------------------------------ */

static struct copies *copies_of_var(const struct frame *f, uint32_t var)
{
	const struct access_var *v = access_var(f->graph->accesses, var);

	return v->is_transient ? offhost_once_copies(f, var)
			       : data_copies(v->data);
}

/*
 * Copies of a use that the host looks at, or NULL; here: whatever its kind.
 * Children touch weak uses, and see to those themselves.
 */
static struct copies *copies_of(const struct frame *f, uint32_t index,
				const struct access_use *u, bool here)
{
	const struct access_table *w = f->graph->accesses;
	const struct lkdf_kind *k = f->recs[index].kind;
	const struct access_use *first, *end;
	const struct access_var *v = access_var(w, u->var);
	int at;

	if (!v->may_be_offhost || u->flags & ACCESS_MERGED ||
	    u->mode & LKDF_WEAK)
		return NULL;
	if (k->ops->host_use && !here) {
		first = access_uses(w, index, &end);
		at = k->ops->host_use(k);
		if (at < 0 || at >= end - first ||
		    access_main(w, &first[at]) != u)
			return NULL;
	}
	return copies_of_var(f, u->var);
}

static uint32_t part_of(const struct frame *f, const struct access_use *u)
{
	return access_var(f->graph->accesses, u->var)->part;
}

bool offhost_run_waits(struct task *t, bool here)
{
	const struct frame *f = t->frame;
	const struct access_use *u, *end;
	struct copies *c;

	if (!f->graph->accesses)
		return false;
	for (u = access_uses(f->graph->accesses, t->index, &end); u < end;
	     u++) {
		c = copies_of(f, t->index, u, here);
		/* order: task.waits */
		if (c && offhost_wait(c, part_of(f, u), NULL, NULL,
				      &t->blocking_item))
			return true;
	}
	return false;
}

/* As offhost_run_waits(), of a body that does not wait. */
static bool is_away(const struct lkdf_ctx *c)
{
	const struct frame *f = c->frame;
	const struct access_use *u, *end;
	struct copies *copies;

	for (u = access_uses(f->graph->accesses, c->index, &end); u < end;
	     u++) {
		copies = copies_of(f, c->index, u, false);
		if (copies &&
		    offhost_is_elsewhere(copies, part_of(f, u), NULL, NULL))
			return true;
	}
	return false;
}

int offhost_run_error(const struct frame *f, const struct access_use *u)
{
	const struct access_var *v = access_var(f->graph->accesses, u->var);
	struct copies *c = v->may_be_offhost ? copies_of_var(f, u->var) : NULL;

	return c && u->flags & ACCESS_READS ? offhost_error(c, v->part) : 0;
}

static int fail_lost(struct lkdf_ctx *c, const struct access_use *u, int error)
{
	const struct access_var *v =
		access_var(c->frame->graph->accesses, u->var);
	char text[DATA_TEXT];

	c->has_why = true;
	c->after = AFTER_LOOK;
	return err(error,
		   "the device that alone had the bytes of %s could not give "
		   "them back",
		   data_text(v->data, v->part, text));
}

/* The first use that reads lost bytes, or NULL; *error: theirs. */
static const struct access_use *lost_use(const struct lkdf_ctx *c, bool here,
					 int *error)
{
	const struct frame *f = c->frame;
	const struct access_use *u, *end;

	for (u = access_uses(f->graph->accesses, c->index, &end); u < end;
	     u++) {
		*error = copies_of(f, c->index, u, here)
				 ? offhost_run_error(f, u)
				 : 0;
		if (unlikely(*error))
			return u;
	}
	return NULL;
}

static bool is_always(const struct lkdf_ctx *c)
{
	return c->frame->recs[c->index].kind->flags & LKDF_ALWAYS;
}

static int look_for_lost(struct lkdf_ctx *c, bool here)
{
	int error;
	const struct access_use *u =
		is_always(c) ? NULL : lost_use(c, here, &error);

	return u ? fail_lost(c, u, error) : 0;
}

/* For a body without a task of its own: who could tell it of lost bytes? */
static bool needs_task(const struct lkdf_ctx *c)
{
	int error;

	return is_away(c) || (is_always(c) && lost_use(c, false, &error));
}

int offhost_run_begin(struct lkdf_ctx *c, bool here)
{
	const struct frame *f = c->frame;
	const struct access_use *u, *end;
	struct copies *copies;
	int rc;

	if (!f->graph->accesses)
		return 0;
	rc = look_for_lost(c, here);
	for (u = access_uses(f->graph->accesses, c->index, &end);
	     u < end && !rc; u++) {
		copies = copies_of(f, c->index, u, here);
		/* order: task.written */
		if (copies && u->flags & ACCESS_WRITES)
			offhost_written(copies, part_of(f, u));
	}
	return rc;
}

/* ---- before a body ------------------------------------------------------- */

static void resume_task(void *executor, struct blocking_item *item)
{
	struct task *t = container_of(item, struct task, blocking_item);

	if (!offhost_run_waits(t, false))
		task_start(t->kind->rt, executor, t);
}

bool offhost_run_holds(struct task *t)
{
	t->blocking_item.run = resume_task;
	return offhost_run_waits(t, false);
}

const struct task *offhost_run_of_bytes(const struct blocking_item *item)
{
	return item->run == resume_task
		       ? container_of(item, const struct task, blocking_item)
		       : NULL;
}

int offhost_body(struct lkdf_ctx *c, void *arg)
{
	int rc;

	/* A task of its own has waited, and is told of errors. */
	if (!c->task && unlikely(needs_task(c))) {
		c->put_off = true;
		c->after = AFTER_LOOK;
		return 0;
	}
	rc = offhost_run_begin(c, false);
	return rc ? rc
		  : c->frame->recs[c->index].kind->inner[AROUND_HOME](c, arg);
}
