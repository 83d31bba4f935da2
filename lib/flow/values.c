/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "flow/values.h"

#include "base/err.h"
#include "flow/ctx.h"
#include "flow/data.h"
#include "flow/frame.h"
#include "flow/run.h"
#include "flow/runtime.h"
#include "flow/uses.h"
#include "flow/wire.h"
#include "mem/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void claim_ready(struct executor *ex, struct claim *c)
{
	struct frame *f = c->holder;

	values_begin(f);
	run_start_frame(f->graph->rt, ex ? ex->worker : NULL, f);
}

static void keep_claim(struct claim *c)
{
	(void)c;
}

/* Whether a var has a use of the claim of its own. */
static bool is_claimed(const struct wiring *w, const struct wire_var *v)
{
	const struct wire_var *whole = v - v->part;

	(void)w;
	return v->claim != NO_CLAIM && (v == whole || v->claim != whole->claim);
}

static void fill_claim(struct frame *f)
{
	const struct wiring *w = f->graph->wiring;
	struct claim *c = f->values.claim;
	struct wire_var *v;
	struct use *u;
	uint32_t i;

	c->nr = (uint16_t)w->nr_claims;
	c->ready = claim_ready;
	c->free = keep_claim;
	c->holder = f;
	for (i = 0; i < w->vars.nr; i++) {
		v = wire_var(w, i);
		if (!is_claimed(w, v))
			continue;
		u = &c->use[v->claim];
		u->domain = &v->data->domain;
		u->part = v->part;
		u->mode = v->writes ? LKDF_WRITE : LKDF_READ;
		u->flags = (v->reads_first ? USE_READS : 0) |
			   (v->writes ? USE_WRITES : 0);
		if (v->reads_first && v->writes)
			u->mode = LKDF_RW;
	}
}

int values_create(struct frame *f)
{
	const struct wiring *w = f->graph->wiring;
	size_t nr_vars = w->vars.nr, nr = w->nr_claims, i;
	struct values *v = &f->values;

	v->bytes = calloc(nr_vars + 1, sizeof(*v->bytes));
	v->readers = calloc(nr_vars + 1, sizeof(*v->readers));
	v->error = calloc(nr + 1, sizeof(*v->error));
	v->is_dead = calloc(nr + 1, sizeof(*v->is_dead));
	v->claim = calloc(1, sizeof(*v->claim) + 2 * nr * sizeof(struct use));
	if (!v->bytes || !v->readers || !v->error || !v->is_dead || !v->claim)
		return err(-ENOMEM, "graph %s: no memory for a frame's data",
			   f->graph->name);
	for (i = 0; i < nr_vars; i++)
		a_store(&v->readers[i], wire_var(w, (uint32_t)i)->nr_readers,
			relaxed);
	fill_claim(f);
	return 0;
}

void values_destroy(struct frame *f)
{
	struct values *v = &f->values;

	free(v->bytes);
	free(v->readers);
	free(v->error);
	free(v->is_dead);
	free(v->claim);
}

static bool is_lasting(const struct wire_var *v)
{
	return !v->is_brief && v->is_used;
}

int values_prepare(struct lkdf_graph *g)
{
	const struct wiring *w = g->wiring;
	struct wire_var *v;
	uint32_t i;

	for (i = 0; i < w->vars.nr; i++) {
		v = wire_var(w, i);
		/* [data.look] pairs with [data.at]. */
		if (is_lasting(v) && v->writes &&
		    !a_load(&v->data->at, acquire) &&
		    !data_bytes(v->data,
				v->home < 0 ? DATA_FIRST_TOUCH : v->home))
			return -ENOMEM;
	}
	return 0;
}

int values_enter(struct executor *ex, struct frame *f)
{
	struct claim *c = f->values.claim;
	char text[DATA_TEXT];
	struct use *why;
	int rc;

	if (!c->nr)
		return 1;
	claim_prepare(c);
	rc = claim_enter(ex, c, &why);
	if (rc < 0)
		err(rc, "graph %s: nobody has written %s, which it reads",
		    f->graph->name,
		    data_text(why->domain->data, why->part, text));
	return rc;
}

/* An input is not there when the run starts: its error is the run's. */
static void note_poison(struct frame *f, struct use *u)
{
	struct failure *failure, *none = NULL;
	int error = uses_error(u, &failure);
	int32_t zero = 0;

	f->values.error[u - f->values.claim->use] = error;
	if (!error)
		return;
	f->values.is_poisoned = true;
	if (!a_cas(&f->first_err, &zero, error, relaxed, relaxed))
		return;
	failure_get(failure);
	/* [frame.fail] pairs with [frame.decided]. */
	if (!a_cas(&f->failure, &none, failure, release, relaxed))
		failure_put(failure, &f->graph->rt->log);
}

void values_begin(struct frame *f)
{
	const struct wiring *w = f->graph->wiring;
	struct values *val = &f->values;
	struct wire_var *v;
	uint32_t i;
	char *at;

	val->is_poisoned = false;
	for (i = 0; i < val->claim->nr; i++) {
		a_store(&val->is_dead[i], 0, relaxed);
		val->error[i] = 0;
		if (val->claim->use[i].flags & USE_READS)
			note_poison(f, &val->claim->use[i]);
	}
	for (i = 0; i < w->vars.nr; i++) {
		v = wire_var(w, i);
		if (!is_lasting(v))
			continue;
		/* There are bytes: values_prepare(). */
		if (v->data->reduce && v->writes)
			reduction_begin(v->data, v->part);
		/* [data.look] pairs with [data.at]. */
		at = a_load(&v->data->at, acquire);
		val->bytes[i] = at ? at + v->offset : NULL;
	}
}

/* More writes than the one that leaving counts. */
static void count_writes(struct frame *f, bool leaves)
{
	const struct wiring *w = f->graph->wiring;
	struct wire_var *v;
	uint32_t i, nr;

	for (i = 0; i < w->vars.nr; i++) {
		v = wire_var(w, i);
		if (!is_claimed(w, v) || !v->writes)
			continue;
		nr = v->nr_writers - (leaves && v->nr_writers);
		a_add(&v->data->domain.version, nr, relaxed);
	}
}

void values_count(struct frame *f)
{
	count_writes(f, false);
}

void values_leave(struct executor *ex, struct frame *f, int error,
		  struct failure *failure)
{
	struct values *v = &f->values;
	struct claim *c = v->claim;
	struct use *u;
	uint32_t i;

	if (!error)
		count_writes(f, true);
	if (!c->nr)
		return;
	for (i = 0; i < c->nr; i++) {
		u = &c->use[i];
		if (!a_load(&v->is_dead[i], relaxed))
			continue;
		use_publish(u, error ? error : -ECANCELED, failure);
		u->is_untouched = true;
	}
	claim_leave(ex, c, 0, NULL);
	for (i = 0; i < c->nr; i++)
		c->use[i].is_untouched = false;
}

bool values_are_wanted(const struct frame *f)
{
	const struct use *u;

	for (u = f->values.claim->first; u; u = u->after)
		if (!(a_load(&u->var->active, relaxed) & VAR_OPEN))
			return true;
	return false;
}

bool values_are_missing(const struct frame *f, uint32_t index)
{
	const struct wiring *w = f->graph->wiring;
	const struct wire_use *u, *end;
	uint32_t claim;

	for (u = wire_uses(w, index, &end); u < end; u++) {
		claim = wire_var(w, u->var)->claim;
		if (u->flags & WIRE_FIRST && claim != NO_CLAIM &&
		    f->values.error[claim])
			return true;
	}
	return false;
}

/* ---- brief bytes -------------------------------------------------------- */

static __attribute__((noinline)) void *
bring_slowly(const struct executor *ex, const struct frame *f, uint32_t var)
{
	const struct lkdf_data *d = wire_var(f->graph->wiring, var)->data;
	struct heap *h = d->rt->heap;
	struct heap_want w = { heap_near_memory(h, ex->node), d->bytes,
			       d->align };
	bool is_zero;
	int error;

	return heap_alloc_slow(h, heap_thread_cache(h), &w, &is_zero, &error);
}

static inline bool bring(const struct executor *ex, struct frame *f,
			 uint32_t var)
{
	const struct lkdf *rt = f->graph->rt;
	unsigned class = f->graph->wiring->brief[var].class;
	struct cache *c = heap_known_cache(rt->heap);
	void *p = NULL;

	if (likely(c && class != BRIEF_LARGE))
		p = heap_alloc_from(c->local, class);
	if (unlikely(!p))
		p = bring_slowly(ex, f, var);
	f->values.bytes[var] = p;
	return p != NULL;
}

static inline void take_away(struct frame *f, uint32_t var)
{
	const struct wiring *w = f->graph->wiring;
	struct heap *h = f->graph->rt->heap;
	void *p = f->values.bytes[var];

	f->values.bytes[var] = NULL;
	if (unlikely(!p))
		return;
	if (unlikely(w->brief[var].has_drop))
		wire_var(w, var)->data->drop(p);
	heap_free(h, heap_known_cache(h), p);
}

/* One reader less. */
static inline void use_up(struct frame *f, uint32_t var)
{
	uint32_t nr = f->graph->wiring->brief[var].nr_readers;

	if (nr > 1) {
		/* [values.used] what the readers did; pairs with itself. */
		if (a_sub(&f->values.readers[var], 1, acq_rel) != 1)
			return;
		a_store(&f->values.readers[var], nr, relaxed);
	}
	take_away(f, var);
}

static inline bool is_brief_use(const struct wire_use *u, uint8_t what)
{
	return (u->flags & (WIRE_BRIEF | WIRE_MERGED | what)) ==
	       (WIRE_BRIEF | what);
}

static inline void used(struct frame *f, const struct wire_use *u,
			const struct wire_use *end)
{
	const struct wiring *w = f->graph->wiring;

	for (; u < end; u++) {
		if (!is_brief_use(u, 0))
			continue;
		if (!(u->flags & WIRE_WRITES))
			use_up(f, u->var);
		else if (unlikely(!w->brief[u->var].nr_readers))
			take_away(f, u->var);
	}
}

void values_used(struct frame *f, uint32_t index)
{
	const struct wire_use *u, *end;

	u = wire_uses(f->graph->wiring, index, &end);
	used(f, u, end);
}

void values_dead(struct frame *f, uint32_t index)
{
	const struct wiring *w = f->graph->wiring;
	const struct wire_use *u, *end;
	const struct wire_var *v;
	uint32_t claim;

	for (u = wire_uses(w, index, &end); u < end; u++) {
		v = wire_var(w, u->var);
		/* All who reduced are decided; others may come later. */
		if (u->flags & WIRE_COMBINES)
			reduction_forget(domain_var(&v->data->domain, v->part)
						 ->reduction);
		claim = v->claim;
		if (u->flags & WIRE_LAST && claim != NO_CLAIM)
			a_store(&f->values.is_dead[claim], 1, relaxed);
	}
	values_used(f, index);
}

static int no_bytes(struct lkdf_ctx *c, uint32_t var)
{
	const struct lkdf_data *d =
		wire_var(c->frame->graph->wiring, var)->data;
	char text[DATA_TEXT];

	c->has_why = true;
	c->after = AFTER_LOOK;
	return err(-ENOMEM, "no memory for %s", data_text(d, 0, text));
}

int values_body(struct lkdf_ctx *c, void *arg)
{
	struct frame *f = c->frame;
	uint32_t index = c->index;
	lkdf_fn body = f->recs[index].kind->body;
	const struct wire_use *first, *u, *end;
	int rc;

	first = wire_uses(f->graph->wiring, index, &end);
	for (u = first; u < end; u++)
		if (is_brief_use(u, WIRE_WRITES) &&
		    unlikely(!bring(c->ex, f, u->var)))
			return no_bytes(c, u->var);
	rc = body(c, arg);
	/* With a task of its own, or dead: at its end. */
	if (likely(rc >= 0 && !c->task))
		used(f, first, end);
	return rc;
}

void *values_ptr(struct lkdf_ctx *c, unsigned use)
{
	struct frame *f = c->frame;
	const struct wiring *w = f->graph->wiring;
	const struct wire_use *u, *end;
	const struct wire_var *v;

	if (unlikely(!w))
		return NULL;
	u = wire_uses(w, c->index, &end) + use;
	if (unlikely(use >= LKDF_MAX_USES || u >= end))
		return NULL;
	if (unlikely(u->mode & LKDF_REDUCE)) {
		v = wire_var(w, u->var);
		return reduction_copy(c->ex, v->data, v->part);
	}
	return f->values.bytes[u->var];
}
