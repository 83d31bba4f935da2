/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Work of a transient task around its body, as part of the hot loop: see struct
 * transient_task. transient_body() is for all tasks and all other callers.
 */
#ifndef RUN_TRANSIENT_CALL_H
#define RUN_TRANSIENT_CALL_H

#include "mem/heap.h"
#include "run/frame.h"
#include "task/body.h"
#include "task/ctx.h"

/* For bytes of any sort. */
void transient_free_slowly(const struct lkdf_graph *g, struct cache *c,
			   const struct transient_use *u, void *p);
void *transient_bring_slowly(const struct executor *ex, struct frame *f,
			     const struct transient_use *u, struct value *v);

/* Takes a value that the last run left: it had no last reader. */
void transient_take_left(struct frame *f, struct cache *c,
			 const struct transient_use *u, struct value *v);

/* Why the body was not called. */
int transient_no_bytes(struct lkdf_ctx *c, uint32_t var);

/* Bytes of a class come. NULL: no memory. */
static inline void *transient_bring(const struct executor *ex, struct frame *f,
				    struct cache *c,
				    const struct transient_use *u,
				    struct value *v)
{
	void *p;

	if (unlikely(v->bytes))
		transient_take_left(f, c, u, v);
	p = heap_alloc_from(c->local, u->class);
	if (unlikely(!p))
		return transient_bring_slowly(ex, f, u, v);
	v->maker = (uint32_t)ex->id << MAKER_SHIFT | c->memory;
	v->bytes = p;
	return p;
}

/* Bytes of a class go, and nobody is told. */
static inline void transient_take_offhost(struct frame *f, struct cache *c,
					  const struct transient_use *u,
					  struct value *v)
{
	void *p = v->bytes;

	v->bytes = NULL;
	if (likely(p != NULL) &&
	    unlikely(!heap_free_known(f->values.heap, c,
				      v->maker & MAKER_MEMORY, u->class, p)))
		transient_free_slowly(f->graph, c, u, p);
}

/* Calls a transient task; the executor has a cache, and room for its bytes. */
static inline __attribute__((always_inline)) int
transient_call(struct lkdf_ctx *c, const struct transient_task *t, lkdf_fn body,
	       void *arg)
{
	const struct values *val = &c->frame->values;
	const struct transient_use *u = val->transient + t->first, *made;
	struct value *var = val->var;
	uint32_t i = 0, nr = t->nr;
	void **at = c->bytes;
	int rc;

	if (likely(t->makes < nr)) {
		made = u + t->makes;
		if (unlikely(!transient_bring(c->ex, c->frame, c->ex->cache,
					      made, &var[made->var])))
			return transient_no_bytes(c, made->var);
	}
	do {
		at[i] = var[u[i].var].bytes;
	} while (++i < nr);
	c->nr_bytes = nr;
	rc = body_call(body, c, arg);
	c->nr_bytes = 0;
	return rc;
}

/* Its body has ended well. */
static inline __attribute__((always_inline)) void
transient_called(struct lkdf_ctx *c, const struct transient_task *t)
{
	const struct values *val = &c->frame->values;
	const struct transient_use *u = val->transient + t->first,
				   *end = u + t->nr;
	uint32_t executor = (uint32_t)c->ex->id;
	struct value *var = val->var, *v;

	do {
		if (!(u->flags & TRANSIENT_ENDS))
			continue;
		v = &var[u->var];
		if (u->nr_readers <= 1 ||
		    readers_leave(&v->readers, u->nr_readers,
				  v->maker >> MAKER_SHIFT == executor))
			transient_take_offhost(c->frame, c->ex->cache, u, v);
	} while (++u < end);
}

#endif
