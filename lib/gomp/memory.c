/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of allocators, which are libgomp's. A call that names none means that
 * of the task, which libgomp does not know.
 */
#include "gomp/gomp.h"
#include "gomp/theirs.h"

#include <stdlib.h>

void omp_set_default_allocator(uintptr_t allocator);
void omp_set_default_allocator_(const uintptr_t *allocator);
uintptr_t omp_get_default_allocator(void);
uintptr_t omp_get_default_allocator_(void);
void *omp_alloc(size_t size, uintptr_t allocator);
void *omp_aligned_alloc(size_t align, size_t size, uintptr_t allocator);
void *omp_calloc(size_t nr, size_t size, uintptr_t allocator);
void *omp_aligned_calloc(size_t align, size_t nr, size_t size,
			 uintptr_t allocator);
void *omp_realloc(void *p, size_t size, uintptr_t allocator, uintptr_t before);
void *GOMP_alloc(size_t align, size_t size, uintptr_t allocator);

/* 0: that of the environment. */
void omp_set_default_allocator(uintptr_t allocator)
{
	team_self();
	gomp_self.env.allocator = allocator ? allocator : theirs_allocator();
}

void omp_set_default_allocator_(const uintptr_t *allocator)
{
	omp_set_default_allocator(*allocator);
}

uintptr_t omp_get_default_allocator(void)
{
	team_self();
	return gomp_self.env.allocator;
}

uintptr_t omp_get_default_allocator_(void)
{
	return omp_get_default_allocator();
}

static uintptr_t named_or_own(uintptr_t allocator)
{
	return allocator ? allocator : omp_get_default_allocator();
}

void *omp_alloc(size_t size, uintptr_t allocator)
{
	const struct theirs *t = theirs_get();

	return t->alloc ? t->alloc(size, named_or_own(allocator)) : NULL;
}

void *omp_aligned_alloc(size_t align, size_t size, uintptr_t allocator)
{
	const struct theirs *t = theirs_get();

	return t->aligned_alloc
		       ? t->aligned_alloc(align, size, named_or_own(allocator))
		       : NULL;
}

void *omp_calloc(size_t nr, size_t size, uintptr_t allocator)
{
	const struct theirs *t = theirs_get();

	return t->calloc ? t->calloc(nr, size, named_or_own(allocator)) : NULL;
}

void *omp_aligned_calloc(size_t align, size_t nr, size_t size,
			 uintptr_t allocator)
{
	const struct theirs *t = theirs_get();

	return t->aligned_calloc ? t->aligned_calloc(align, nr, size,
						     named_or_own(allocator))
				 : NULL;
}

/* Memory that is there stays with its allocator where none is named. */
void *omp_realloc(void *p, size_t size, uintptr_t allocator, uintptr_t before)
{
	const struct theirs *t = theirs_get();

	if (!t->realloc)
		return NULL;
	return t->realloc(p, size, p ? allocator : named_or_own(allocator),
			  before);
}

/* The clause allocate. */
void *GOMP_alloc(size_t align, size_t size, uintptr_t allocator)
{
	const struct theirs *t = theirs_get();

	return t->alloc_clause
		       ? t->alloc_clause(align, size, named_or_own(allocator))
		       : NULL;
}
