/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/transient.h"
#include "run/transient_call.h"

#include "base/err.h"
#include "core/runtime.h"
#include "data/data.h"
#include "graph/access.h"
#include "mem/heap.h"
#include "run/control.h"
#include "run/follow.h"
#include "run/frame.h"
#include "run/offhost_once.h"
#include "run/planned.h"
#include "task/ctx.h"

#include <errno.h>
#include <stdlib.h>

/* ---- at seal ------------------------------------------------------------ */

static uint8_t class_of_data(const struct lkdf_data *d)
{
	if (d->bytes > CLASS_MAX_SIZE || d->align != HEAP_ALIGN)
		return TRANSIENT_LARGE;
	return (uint8_t)class_of(round_up(d->bytes, HEAP_ALIGN));
}

static struct transient_use transient_of(const struct access_table *w,
					 const struct access_use *u)
{
	const struct access_var *v = access_var(w, u->var);
	struct transient_use b = { .var = u->var, .class = TRANSIENT_LARGE };

	if (!(u->flags & ACCESS_TRANSIENT) || u->flags & ACCESS_MERGED)
		return b;
	b.class = class_of_data(v->data);
	b.nr_readers = TRANSIENT_MANY;
	if (v->nr_readers < TRANSIENT_MANY)
		b.nr_readers = (uint16_t)v->nr_readers;
	if (u->flags & ACCESS_WRITES)
		b.flags |= TRANSIENT_MAKES;
	if (!(u->flags & ACCESS_WRITES) || !v->nr_readers)
		b.flags |= TRANSIENT_ENDS;
	if (v->data->drop)
		b.flags |= TRANSIENT_DROPS;
	if (v->may_be_offhost)
		b.flags |= TRANSIENT_OFFHOST;
	if (v->data->drop || v->data->bytes > TRANSIENT_STAYS ||
	    v->may_be_offhost)
		b.flags |= TRANSIENT_EXACT;
	return b;
}

static bool is_plain(const struct access_table *w, const struct access_use *u,
		     const struct access_use *end)
{
	bool is = end - u <= CTX_NR_BYTES;

	for (; is && u < end; u++)
		is = !(u->mode & (LKDF_REDUCE | LKDF_WEAK)) &&
		     !(w->has_moves &&
		       data_follows(access_var(w, u->var)->data));
	return is;
}

/* For a task whose uses are plain: see struct transient_task. */
static bool is_transient(const struct transient_use *u, uint32_t nr)
{
	uint32_t i, nr_makes = 0;
	bool is = true;

	for (i = 0; i < nr; i++) {
		is &= !(u[i].flags & TRANSIENT_EXACT) &&
		      (u[i].class != TRANSIENT_LARGE ||
		       !(u[i].flags & (TRANSIENT_MAKES | TRANSIENT_ENDS))) &&
		      u[i].nr_readers != TRANSIENT_MANY;
		nr_makes += (u[i].flags & TRANSIENT_MAKES) != 0;
	}
	return is && nr_makes <= 1;
}

static struct transient_task quick_of(const struct transient_use *u,
				      uint32_t first, uint32_t nr)
{
	struct transient_task t = { first, (uint16_t)nr, 0 };

	while (t.makes < nr && !(u[t.makes].flags & TRANSIENT_MAKES))
		t.makes++;
	return t;
}

static void index_task(struct lkdf_graph *g, uint32_t index)
{
	struct access_table *w = g->accesses;
	const struct access_use *end, *u = access_uses(w, index, &end);
	uint32_t first = w->first[index], nr = (uint32_t)(end - u);
	struct transient_use *b = w->transient + first;

	if (!nr || !is_plain(w, u, end))
		return;
	b->flags |= TRANSIENT_PLAIN;
	if (!g->planned && g->recs[index].kind->fn == transient_body &&
	    is_transient(b, nr))
		w->transient_task[index] = quick_of(b, first, nr);
	w->has_quick |= w->transient_task[index].nr != 0;
}

int transient_index(struct lkdf_graph *g)
{
	struct access_table *w = g->accesses;
	const struct access_use *first = w->uses.items;
	uint32_t i;

	check(!g->is_sealed);
	/* Looked at before it is known that a task has no uses. */
	w->transient = region_alloc((w->uses.nr + 1) * sizeof(*w->transient));
	w->transient_task = region_alloc((w->nr_indices + 1ul) *
					 sizeof(*w->transient_task));
	if (!w->transient || !w->transient_task)
		return -ENOMEM;
	for (i = 0; i < w->uses.nr; i++)
		w->transient[i] = transient_of(w, &first[i]);
	for (i = 0; i < w->nr_indices; i++)
		index_task(g, i);
	return 0;
}

void transient_free(struct access_table *w)
{
	region_free(w->transient, (w->uses.nr + 1) * sizeof(*w->transient));
	region_free(w->transient_task,
		    (w->nr_indices + 1ul) * sizeof(*w->transient_task));
}

/* ---- of a frame --------------------------------------------------------- */

int transient_create(struct frame *f)
{
	const struct access_table *w = f->graph->accesses;
	bool has_many = false;
	uint32_t i;

	f->values.transient_task = w->has_quick ? w->transient_task : NULL;
	f->values.transient = w->transient;
	for (i = 0; i < w->vars.nr; i++) {
		has_many |= access_var(w, i)->nr_readers > READERS_MAX;
		/* Until there are bytes: who reads what was never made. */
		f->values.var[i].maker =
			NO_MAKER << MAKER_SHIFT | CACHE_NO_MEMORY;
	}
	if (has_many)
		f->values.many = calloc(w->vars.nr, sizeof(*f->values.many));
	return has_many && !f->values.many ? -ENOMEM : offhost_once_create(f);
}

void transient_destroy(struct frame *f)
{
	const struct value *var = f->values.var;
	const struct access_table *w;
	struct heap *h;
	uint32_t i;

	/* A graph without data, or a frame that was never complete. */
	if (!var)
		return;
	w = f->graph->accesses;
	h = f->graph->rt->heap;
	for (i = 0; i < w->vars.nr; i++)
		if (access_var(w, i)->is_transient && var[i].bytes &&
		    !offhost_once_forget(f, i, var[i].bytes))
			heap_free(h, heap_thread_cache(h), var[i].bytes);
	free((void *)f->values.many);
	offhost_once_destroy(f);
}

/* ---- bytes -------------------------------------------------------------- */

void transient_free_slowly(const struct lkdf_graph *g, struct cache *c,
			   const struct transient_use *u, void *p)
{
	if (u->flags & TRANSIENT_DROPS)
		access_var(g->accesses, u->var)->data->drop(p);
	heap_free(g->rt->heap, c, p);
}

static void free_value(struct frame *f, struct cache *c,
		       const struct transient_use *u, struct value *v)
{
	void *p = v->bytes;

	if (unlikely(u->flags & TRANSIENT_OFFHOST && p) &&
	    offhost_once_forget(f, u->var, p)) {
		v->bytes = NULL;
		return;
	}
	if (p &&
	    (!c || u->class == TRANSIENT_LARGE || u->flags & TRANSIENT_DROPS)) {
		v->bytes = NULL;
		transient_free_slowly(f->graph, c, u, p);
	} else {
		transient_take_offhost(f, c, u, v);
	}
}

void transient_take_left(struct frame *f, struct cache *c,
			 const struct transient_use *u, struct value *v)
{
	free_value(f, c, u, v);
	readers_reset(&v->readers);
}

void *transient_bring_slowly(const struct executor *ex, struct frame *f,
			     const struct transient_use *u, struct value *v)
{
	const struct lkdf_data *d =
		access_var(f->graph->accesses, u->var)->data;
	struct heap *h = f->values.heap;
	struct heap_want w = { heap_near_memory(h, ex->node), d->bytes,
			       d->align, d->flags & LKDF_DATA_HUGE };
	bool is_zero;
	int error;

	v->maker = (uint32_t)ex->id << MAKER_SHIFT | CACHE_NO_MEMORY;
	v->bytes =
		heap_alloc_slow(h, heap_thread_cache(h), &w, &is_zero, &error);
	return v->bytes;
}

static void *bring_memory(const struct executor *ex, struct frame *f,
			  struct cache *c, const struct transient_use *u,
			  struct value *v)
{
	void *p;

	if (v->bytes)
		transient_take_left(f, c, u, v);
	if (c && u->class != TRANSIENT_LARGE)
		p = transient_bring(ex, f, c, u, v);
	else
		p = transient_bring_slowly(ex, f, u, v);
	/* Nobody is on the maker's worker. */
	if (u->flags & TRANSIENT_EXACT)
		v->maker |= NO_MAKER << MAKER_SHIFT;
	return p;
}

/* A reader of so many that they do not fit in a value. */
static __attribute__((noinline)) bool is_last_of_many(struct frame *f,
						      uint32_t var)
{
	uint32_t nr = access_var(f->graph->accesses, var)->nr_readers;
	_Atomic(uint32_t) *count = &f->values.many[var];

	/* [values.used] what we read; pairs with itself. */
	if (a_add(count, 1, acq_rel) + 1 != nr)
		return false;
	a_store(count, 0, relaxed);
	return true;
}

/* A reader leaves. True: it was the last. */
static inline bool is_over(struct frame *f, const struct transient_use *u,
			   struct value *v, uint32_t executor)
{
	uint32_t nr = u->nr_readers;

	if (nr <= 1)
		return true;
	if (unlikely(nr == TRANSIENT_MANY))
		return is_last_of_many(f, u->var);
	return readers_leave(&v->readers, nr,
			     v->maker >> MAKER_SHIFT == executor);
}

static inline __attribute__((always_inline)) void
note_used(struct frame *f, struct cache *c, uint32_t executor,
	  const struct transient_use *u, const struct transient_use *end)
{
	struct value *var = f->values.var, *v;

	for (; u < end; u++) {
		v = &var[u->var];
		if (u->flags & TRANSIENT_ENDS && is_over(f, u, v, executor))
			free_value(f, c, u, v);
	}
}

static inline const struct transient_use *
transient_uses(const struct access_table *w, uint32_t index,
	       const struct transient_use **end)
{
	*end = w->transient + w->first[index + 1];
	return w->transient + w->first[index];
}

void transient_used(struct frame *f, uint32_t index)
{
	const struct transient_use *u, *end;

	check(frame_has(f, index));
	check(f->graph->accesses);
	u = transient_uses(f->graph->accesses, index, &end);
	/* On whichever thread: counts with the others. */
	note_used(f, heap_known_cache(f->graph->rt->heap), NO_MAKER - 1, u,
		  end);
}

/* ---- around a body ------------------------------------------------------ */

int transient_no_bytes(struct lkdf_ctx *c, uint32_t var)
{
	const struct lkdf_data *d =
		access_var(c->frame->graph->accesses, var)->data;
	char text[DATA_TEXT];

	c->has_why = true;
	c->after = AFTER_LOOK;
	return err(-ENOMEM, "no memory for %s", data_text(d, 0, text));
}

/* A body may have met other heaps, and the thread's cache be given back. */
static struct cache *cache_of(const struct lkdf_ctx *c)
{
	return heap_cache_of(c->frame->values.heap, &c->ex->record);
}

/*
 * The body has returned this, and its task succeeds with it. With a task of its
 * own, or dead, its inputs are used at its end: a value that is no branch of
 * the task fails it, and a wave that is dropped leaves all.
 */
static bool succeeds_with(const struct lkdf_ctx *c, int rc)
{
	const struct frame *f = c->frame;

	if (unlikely(rc < 0 || c->task))
		return false;
	if (likely(!f->graph->control && !f->stream))
		return true;
	return !(rc == LKDF_END && f->stream) &&
	       !(f->graph->control && control_check(f, c->index, rc));
}

static int call_around(struct lkdf_ctx *c, lkdf_fn body, void *arg)
{
	struct frame *f = c->frame;
	struct cache *cache = cache_of(c);
	bool is_planned = f->graph->planned;
	struct value *var = f->values.var, *v;
	const struct transient_use *first, *u, *end;
	void **at = c->bytes;
	int rc;

	first = transient_uses(f->graph->accesses, c->index, &end);
	if (!(first->flags & TRANSIENT_PLAIN))
		at = NULL;
	for (u = first; u < end; u++) {
		v = &var[u->var];
		if (u->flags & TRANSIENT_MAKES) {
			if (unlikely(!bring_memory(c->ex, f, cache, u, v)))
				return transient_no_bytes(c, u->var);
			if (is_planned)
				planned_made(f, u->var, c->ex->node);
		}
		if (at)
			*at++ = v->bytes;
	}
	if (at)
		c->nr_bytes = (uint32_t)(end - first);
	rc = is_planned ? planned_call(c, body, arg) : body(c, arg);
	c->nr_bytes = 0;
	if (likely(succeeds_with(c, rc)))
		note_used(f, cache_of(c), (uint32_t)c->ex->id, first, end);
	return rc;
}

int transient_body(struct lkdf_ctx *c, void *arg)
{
	const struct frame *f = c->frame;
	const struct transient_task *t = f->values.transient_task;
	lkdf_fn body = f->recs[c->index].kind->inner[AROUND_BYTES];
	int rc;

	if (!t || !t[c->index].nr || !c->bytes || !c->ex->cache)
		return call_around(c, body, arg);
	rc = transient_call(c, &t[c->index], body, arg);
	if (likely(succeeds_with(c, rc)))
		transient_called(c, &t[c->index]);
	return rc;
}
