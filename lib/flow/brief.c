/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "flow/brief.h"

#include "base/err.h"
#include "flow/ctx.h"
#include "flow/data.h"
#include "flow/follow.h"
#include "flow/frame.h"
#include "flow/planned.h"
#include "flow/runtime.h"
#include "flow/wire.h"
#include "mem/heap.h"

#include <errno.h>

/* ---- at seal ------------------------------------------------------------ */

static uint8_t class_of_data(const struct lkdf_data *d)
{
	if (d->bytes > CLASS_MAX_SIZE || d->align != HEAP_ALIGN)
		return BRIEF_LARGE;
	return (uint8_t)class_of(round_up(d->bytes, HEAP_ALIGN));
}

static struct brief_use brief_of(const struct wiring *w,
				 const struct wire_use *u)
{
	const struct wire_var *v = wire_var(w, u->var);
	struct brief_use b = { .var = u->var, .class = BRIEF_LARGE };

	if (!(u->flags & WIRE_BRIEF) || u->flags & WIRE_MERGED)
		return b;
	b.class = class_of_data(v->data);
	b.nr_readers = BRIEF_MANY;
	if (v->nr_readers < BRIEF_MANY)
		b.nr_readers = (uint16_t)v->nr_readers;
	if (u->flags & WIRE_WRITES)
		b.flags |= BRIEF_MAKES;
	if (!(u->flags & WIRE_WRITES) || !v->nr_readers)
		b.flags |= BRIEF_ENDS;
	if (v->data->drop)
		b.flags |= BRIEF_DROPS;
	return b;
}

static bool is_plain(const struct wiring *w, const struct wire_use *u,
		     const struct wire_use *end)
{
	bool is = end - u <= CTX_NR_BYTES;

	for (; is && u < end; u++)
		is = !(u->mode & (LKDF_REDUCE | LKDF_WEAK)) &&
		     !(w->has_moves && follow_wants(wire_var(w, u->var)->data));
	return is;
}

int brief_index(struct wiring *w)
{
	const struct wire_use *first = w->uses.items, *u, *end;
	uint32_t i;

	/* Looked at before it is known that a task has no uses. */
	w->brief = region_alloc((w->uses.nr + 1) * sizeof(*w->brief));
	if (!w->brief)
		return -ENOMEM;
	for (i = 0; i < w->uses.nr; i++)
		w->brief[i] = brief_of(w, &first[i]);
	for (i = 0; i < w->nr_indices; i++) {
		u = wire_uses(w, i, &end);
		if (u < end && is_plain(w, u, end))
			w->brief[u - first].flags |= BRIEF_PLAIN;
	}
	return 0;
}

void brief_free(struct wiring *w)
{
	region_free(w->brief, (w->uses.nr + 1) * sizeof(*w->brief));
}

/* ---- bytes -------------------------------------------------------------- */

static __attribute__((noinline)) void *
bring_slowly(const struct executor *ex, const struct frame *f, uint32_t var)
{
	const struct lkdf_data *d = wire_var(f->graph->wiring, var)->data;
	struct heap *h = f->values.heap;
	struct heap_want w = { heap_near_memory(h, ex->node), d->bytes,
			       d->align, d->flags & LKDF_DATA_HUGE };
	bool is_zero;
	int error;

	return heap_alloc_slow(h, heap_thread_cache(h), &w, &is_zero, &error);
}

/* NULL: no memory. */
static inline void *bring(const struct executor *ex, struct frame *f,
			  struct cache *c, const struct brief_use *u,
			  struct value *v)
{
	void *p = NULL;

	if (likely(c && u->class != BRIEF_LARGE)) {
		p = heap_alloc_from(c->local, u->class);
		v->memory = c->memory;
	}
	if (unlikely(!p)) {
		v->memory = NO_MEMORY;
		p = bring_slowly(ex, f, u->var);
	}
	v->bytes = p;
	return p;
}

static __attribute__((noinline)) void
take_away_slowly(const struct lkdf_graph *g, struct cache *c,
		 const struct brief_use *u, void *p)
{
	if (u->flags & BRIEF_DROPS)
		wire_var(g->wiring, u->var)->data->drop(p);
	heap_free(g->rt->heap, c, p);
}

static inline void take_away(struct frame *f, struct cache *c,
			     const struct brief_use *u, struct value *v)
{
	void *p = v->bytes;

	v->bytes = NULL;
	if (unlikely(!p))
		return;
	if (likely(c && v->memory != NO_MEMORY && !(u->flags & BRIEF_DROPS)) &&
	    heap_free_known(f->values.heap, c, v->memory, u->class, p))
		return;
	take_away_slowly(f->graph, c, u, p);
}

static __attribute__((noinline)) uint32_t nr_readers(const struct frame *f,
						     uint32_t var)
{
	return wire_var(f->graph->wiring, var)->nr_readers;
}

/* One reader less. True: it was the last. */
static inline bool is_over(const struct frame *f, const struct brief_use *u,
			   struct value *v)
{
	uint32_t nr = u->nr_readers;

	if (nr <= 1)
		return true;
	/* [values.last] what the readers did; pairs with [values.used]. */
	if (a_load(&v->readers, acquire) != 1) {
		/* [values.used] what we read; pairs with itself, too. */
		if (a_sub(&v->readers, 1, acq_rel) != 1)
			return false;
	}
	if (unlikely(nr == BRIEF_MANY))
		nr = nr_readers(f, u->var);
	a_store(&v->readers, nr, relaxed);
	return true;
}

static inline __attribute__((always_inline)) void
used(struct frame *f, struct cache *c, const struct brief_use *u,
     const struct brief_use *end)
{
	struct value *var = f->values.var, *v;

	for (; u < end; u++) {
		v = &var[u->var];
		if (u->flags & BRIEF_ENDS && is_over(f, u, v))
			take_away(f, c, u, v);
	}
}

static inline const struct brief_use *
brief_uses(const struct wiring *w, uint32_t index, const struct brief_use **end)
{
	*end = w->brief + w->first[index + 1];
	return w->brief + w->first[index];
}

void brief_used(struct frame *f, uint32_t index)
{
	const struct brief_use *u, *end;

	u = brief_uses(f->graph->wiring, index, &end);
	used(f, heap_known_cache(f->graph->rt->heap), u, end);
}

/* ---- around a body ------------------------------------------------------ */

static __attribute__((noinline)) int no_bytes(struct lkdf_ctx *c, uint32_t var)
{
	const struct lkdf_data *d =
		wire_var(c->frame->graph->wiring, var)->data;
	char text[DATA_TEXT];

	c->has_why = true;
	c->after = AFTER_LOOK;
	return err(-ENOMEM, "no memory for %s", data_text(d, 0, text));
}

static inline lkdf_fn body_of(const struct lkdf_ctx *c)
{
	return c->frame->recs[c->index].kind->body;
}

/*
 * is_quick: there is room for all bytes, and nobody counts what moves. Else it
 * is looked whether that is so.
 */
static inline __attribute__((always_inline)) int
around(struct lkdf_ctx *c, void *arg, bool is_quick)
{
	struct frame *f = c->frame;
	struct cache *cache = heap_cache_of(f->values.heap, &c->ex->record);
	bool is_planned = !is_quick && f->graph->planned;
	struct value *var = f->values.var, *v;
	const struct brief_use *first, *u, *end;
	void **at = c->bytes;
	int rc;

	first = brief_uses(f->graph->wiring, c->index, &end);
	if (!is_quick && !(first->flags & BRIEF_PLAIN))
		at = NULL;
	for (u = first; u < end; u++) {
		v = &var[u->var];
		if (u->flags & BRIEF_MAKES) {
			if (unlikely(!bring(c->ex, f, cache, u, v)))
				return no_bytes(c, u->var);
			if (is_planned)
				planned_made(f, u->var, c->ex->node);
		}
		if (at)
			*at++ = v->bytes;
	}
	if (at)
		c->nr_bytes = (uint32_t)(end - first);
	rc = is_planned ? planned_call(c, body_of(c), arg) : body_of(c)(c, arg);
	c->nr_bytes = 0;
	/* With a task of its own, or dead: at its end. */
	if (likely(rc >= 0 && !c->task))
		used(f, cache, first, end);
	return rc;
}

static __attribute__((noinline)) int around_others(struct lkdf_ctx *c,
						   void *arg)
{
	return around(c, arg, false);
}

int brief_body(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_graph *g = c->frame->graph;
	const struct brief_use *first, *end;

	first = brief_uses(g->wiring, c->index, &end);
	if (unlikely(!c->bytes || g->planned || !(first->flags & BRIEF_PLAIN)))
		return around_others(c, arg);
	return around(c, arg, true);
}
