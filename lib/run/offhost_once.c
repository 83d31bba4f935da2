/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/offhost_once.h"

#include "core/runtime.h"
#include "graph/access.h"
#include "mem/heap.h"

#include <errno.h>
#include <stdlib.h>

int offhost_once_create(struct frame *f)
{
	const struct access_table *w = f->graph->accesses;

	if (!w->has_away)
		return 0;
	f->values.once = calloc(w->vars.nr, sizeof(*f->values.once));
	return f->values.once ? 0 : -ENOMEM;
}

void offhost_once_destroy(struct frame *f)
{
	free((void *)f->values.once);
}

static void free_once(void *u)
{
	struct offhost_once *o = u;

	if (o->bytes)
		heap_free(o->heap, heap_thread_cache(o->heap), o->bytes);
	free(o);
}

static struct offhost_once *make_once(struct frame *f,
				      struct device *const *devices)
{
	struct lkdf *rt = f->graph->rt;
	struct offhost_once *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->heap = f->values.heap;
	o->copies = copies_create(devices, rt->is_alive, 0, 0);
	if (o->copies)
		return o;
	free(o);
	return NULL;
}

struct copies *offhost_once_make(struct frame *f, uint32_t var,
				 struct device *const *devices)
{
	_Atomic(struct offhost_once *) *at = &f->values.once[var];
	/* [once.made] as above. */
	struct offhost_once *other = a_load(at, acquire), *o;

	if (other)
		return other->copies;
	o = make_once(f, devices);
	if (!o)
		return NULL;
	a_store(&f->graph->rt->has_copies, true, relaxed);
	/* [once.made] as above. */
	if (a_cas(at, &other, o, acq_rel, acquire))
		return o->copies;
	copies_forget(o->copies, free_once, o);
	return other->copies;
}

bool offhost_once_forget(struct frame *f, uint32_t var, void *bytes)
{
	/* [once.made] as above. */
	struct offhost_once *o =
		f->values.once ? a_xchg(&f->values.once[var], NULL, acq_rel)
			       : NULL;

	if (!o)
		return false;
	o->bytes = bytes;
	copies_forget(o->copies, free_once, o);
	return true;
}
