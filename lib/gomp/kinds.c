/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks have a kind for each function that gcc has made of them, so that tools
 * tell them apart, and for each size of argument. When there are too many
 * functions, or no memory, kinds without a name of their own serve.
 */
#include "gomp/gomp.h"
#include "gomp/names.h"

#include <stdlib.h>

/* The tasks of one function. */
struct task_kind {
	void (*fn)(void *data);
	_Atomic(struct lkdf_kind *) kind[NR_SIZES]; /* NULL: not made yet */
};

static const uint32_t sizes[NR_SIZES] = { TASK_ROOM, 256, 512, 2048, 16384 };

static int make_kind(struct pool *p, const char *name, unsigned size,
		     struct lkdf_kind **out)
{
	return lkdf_kind_create(p->rt,
				LKDF_KIND(.name = name, .fn = task_run,
					  .arg_size = sizes[size]),
				out);
}

int kinds_make(struct pool *p)
{
	unsigned i;
	int rc = 0;

	for (i = 0; i < NR_SIZES && !rc; i++)
		rc = make_kind(p, "OpenMP task", i, &p->kind[i]);
	return rc;
}

static void put_named(struct task_kind *t)
{
	unsigned i;

	for (i = 0; t && i < NR_SIZES; i++)
		lkdf_kind_put(a_load(&t->kind[i], relaxed));
	free(t);
}

void kinds_put(struct pool *p)
{
	unsigned i;

	for (i = 0; i < NR_TASK_ROWS; i++)
		put_named(a_load(&p->named_kind[i], relaxed));
	for (i = 0; i < NR_SIZES; i++)
		lkdf_kind_put(p->kind[i]);
}

static unsigned row_of(void (*fn)(void *data))
{
	return (unsigned)((uintptr_t)fn * 0x9e3779b97f4a7c15u >> 56);
}

/* Its row, which may be new; NULL: there is no room or no memory. */
static __attribute__((noinline)) struct task_kind *
find_row(struct pool *p, void (*fn)(void *data))
{
	struct task_kind *t, *made = NULL;
	unsigned at = row_of(fn), i;

	for (i = 0; i < NR_TASK_ROWS; i++, at = (at + 1) % NR_TASK_ROWS) {
		/* [gomp.kind] what it is; pairs with itself. */
		t = a_load(&p->named_kind[at], acquire);
		if (!t && (made = calloc(1, sizeof(*made)))) {
			made->fn = fn;
			/* [gomp.kind] as above. */
			if (a_cas(&p->named_kind[at], &t, made, acq_rel,
				  acquire))
				return made;
			free(made);
		}
		if (!t || t->fn == fn)
			return t;
	}
	return NULL;
}

static struct lkdf_kind *make_named(struct pool *p, struct task_kind *t,
				    unsigned size)
{
	const char *name = name_task((const void *)(uintptr_t)t->fn);
	struct lkdf_kind *k = NULL, *other = NULL;

	if (make_kind(p, name, size, &k))
		return p->kind[size];
	/* [gomp.kind] as above. */
	if (a_cas(&t->kind[size], &other, k, acq_rel, acquire))
		return k;
	lkdf_kind_put(k);
	return other;
}

struct lkdf_kind *kinds_find(struct pool *p, void (*fn)(void *data),
			     size_t size, uint32_t *room)
{
	struct lkdf_kind *k;
	struct task_kind *t;
	unsigned i = 0;

	while (i < NR_SIZES && size > sizes[i])
		i++;
	if (i == NR_SIZES)
		return NULL;
	*room = sizes[i];
	/* [gomp.kind] as above. */
	t = a_load(&p->named_kind[row_of(fn)], acquire);
	if (unlikely(!t || t->fn != fn))
		t = find_row(p, fn);
	if (!t)
		return p->kind[i];
	/* [gomp.kind] as above. */
	k = a_load(&t->kind[i], acquire);
	return likely(k != NULL) ? k : make_named(p, t, i);
}
