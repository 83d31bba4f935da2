/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/task_claim.h"

#include "base/err.h"
#include "core/runtime.h"
#include "graph/access.h"
#include "mem/heap.h"
#include "run/always.h"
#include "run/frame.h"
#include "run/offhost_run.h"
#include "task/complete.h"
#include "task/task.h"
#include "task/uses.h"

#include <errno.h>
#include <string.h>

/* It is started when they have come. */
static bool waits_for_bytes(struct task *t)
{
	return unlikely(t->kind->inner[AROUND_HOME] != NULL) &&
	       offhost_run_holds(t);
}

static struct domain *domains_of(struct claim *c)
{
	return (struct domain *)&c->use[c->nr];
}

static void free_task_claim(struct claim *c)
{
	struct domain *d = domains_of(c);
	struct lkdf *rt = c->rt;
	unsigned i;

	for (i = 0; i < c->nr; i++) {
		uses_free_below(rt, &c->use[i]);
		failure_put(a_load(&d[i].whole.failure, relaxed), &rt->log);
	}
	failure_put(c->failure, &rt->log);
	heap_free(rt->heap, heap_thread_cache(rt->heap), c);
}

/* It has its tokens. */
static void start_granted(struct executor *ex, struct claim *c)
{
	if (!waits_for_bytes(c->holder))
		task_start(c->rt, ex, c->holder);
}

static const struct claim_ops ops = { start_granted, free_task_claim };

bool task_claim_has(const struct claim *c)
{
	return c->ops == &ops;
}

static uint8_t turn_of(uint8_t mode)
{
	if (mode & LKDF_REDUCE)
		return TURN_REDUCE;
	return mode & (LKDF_WRITE | LKDF_COMMUTE) ? TURN_WRITE : TURN_READ;
}

/* It goes, alone; nobody will wait behind it. */
static void init_use(struct claim *c, unsigned i, const struct frame *f,
		     const struct access_use *from)
{
	const struct access_var *v = access_var(f->graph->accesses, from->var);
	struct domain *d = &domains_of(c)[i];
	struct use *u = &c->use[i];

	domain_init(d, c->rt, v->data, NULL);
	if (v->is_transient)
		d->bytes = f->values.var[from->var].bytes;
	a_store(&d->whole.active, VAR_OPEN + 1, relaxed);
	u->domain = d;
	u->var = &d->whole;
	u->part = v->part;
	u->mode = from->mode;
	u->turn = turn_of(from->mode);
	u->flags = uses_flags(from->mode);
	if (u->flags & USE_WEAK)
		u->flags ^= USE_WEAK | USE_UNSEEN;
	u->is_granted = true;
	if (!(from->flags & ACCESS_TOKEN))
		return;
	u->domain = v->token;
	u->var = &v->token->whole;
	u->turn = TURN_COMMUTE;
	c->has_commute = true;
	/* It leaves the var as if it had been in its queue. */
	a_add(&u->var->active, 1, relaxed);
}

static void init_claim(struct claim *c, struct task *t,
		       const struct access_use *first, unsigned nr)
{
	const struct access_table *w = t->frame->graph->accesses;
	struct use **end = &c->first;
	uint32_t nr_in = 1;
	unsigned i;

	c->nr = c->nr_all = (uint16_t)nr;
	c->ops = &ops;
	c->holder = t;
	c->rt = t->kind->rt;
	for (i = 0; i < nr; i++) {
		init_use(c, i, t->frame, &first[i]);
		if (first[i].mode & LKDF_WEAK)
			always_open(t, i, c->use[i].domain);
		c->use[i].stands_for =
			(uint16_t)(access_main(w, &first[i]) - first);
		if (c->use[i].stands_for != i)
			continue;
		*end = &c->use[i];
		end = &c->use[i].after;
		nr_in++;
	}
	a_store(&c->nr_in, nr_in, relaxed);
}

static unsigned count_uses(const struct frame *f, uint32_t index,
			   const struct access_use **first)
{
	const struct access_use *end;

	check(frame_has(f, index));
	if (!f->graph->accesses)
		return 0;
	*first = access_uses(f->graph->accesses, index, &end);
	return (unsigned)(end - *first);
}

/* Bytes of LKDF_DATA_ONCE come after its tokens. */
static void note_bytes(struct task *t)
{
	const struct access_table *w = t->frame->graph->accesses;
	const struct access_use *first, *end;
	struct claim *c = t->claim;
	unsigned i;

	first = access_uses(w, t->index, &end);
	for (i = 0; c->has_commute && i < c->nr; i++)
		if (access_var(w, first[i].var)->is_transient)
			c->use[i].domain->bytes =
				t->frame->values.var[first[i].var].bytes;
}

int task_claim_open(struct task *t)
{
	const struct access_use *first;
	unsigned nr = count_uses(t->frame, t->index, &first);
	struct heap *h = t->kind->rt->heap;
	struct claim *c;
	size_t size;

	if (t->link.flags & TASK_HAS_DATA)
		note_bytes(t);
	if (t->link.flags & TASK_HAS_DATA || !nr)
		return 0;
	size = sizeof(*c) + nr * (sizeof(c->use[0]) + sizeof(struct domain));
	c = heap_new(h, heap_thread_cache(h), size);
	if (!c)
		return err(-ENOMEM, "task: no memory for %u uses", nr);
	memset((void *)c, 0, size);
	init_claim(c, t, first, nr);
	t->claim = c;
	t->link.flags |= TASK_HAS_DATA;
	return 0;
}

int task_claim_open_ctx(struct lkdf_ctx *c)
{
	const struct access_use *first;
	struct task *t;

	if (!count_uses(c->frame, c->index, &first))
		return 0;
	t = task_of_ctx(c);
	return t ? task_claim_open(t) : -ENOMEM;
}

int task_claim_enter(struct executor *ex, struct task *t)
{
	int rc = t->kind->inner[AROUND_TOKENS] ? task_claim_open(t) : 1;

	if (!rc)
		rc = claim_take(ex, t->claim);
	return rc > 0 ? !waits_for_bytes(t) : rc;
}

int task_claim_begin(const struct task *t, struct failure **failure)
{
	const struct use *u;
	int error = 0;

	if (t->kind->flags & LKDF_ALWAYS)
		return 0;
	for (u = t->claim->first; u && !error; u = u->after)
		if (u->turn == TURN_COMMUTE)
			error = uses_error(u, failure);
	return -error;
}

bool task_claim_may_touch(struct lkdf_ctx *c, unsigned use)
{
	struct use *u = c->task ? uses_of(c->task, use) : NULL;
	const struct access_table *w = c->frame->graph->accesses;
	const struct access_use *first, *end;

	first = access_uses(w, c->index, &end);
	check(use < end - first);
	if (access_main(w, &first[use])->mode & LKDF_WEAK || (u && u->is_given))
		return false;
	if (u && u->below)
		domain_combine(u->below);
	return true;
}

/*
 * The error of bytes that the children of weak uses have not written, though
 * they should have.
 */
static int error_below(struct task *t, struct failure **failure)
{
	struct use *u;
	int error = 0;

	for (u = t->claim->first; u && !error; u = u->after) {
		if (!(u->mode & LKDF_WEAK) || !u->below)
			continue;
		domain_combine(u->below);
		error = var_error(u->below, &u->below->whole, failure);
	}
	return error;
}

int task_claim_end(struct task *t, int error)
{
	struct failure *failure = NULL;

	if (t->link.flags & TASK_HAS_DATA && !error) {
		error = error_below(t, &failure);
		if (error)
			complete_child_failed(t, error, failure);
	}
	always_end(t);
	return error;
}
