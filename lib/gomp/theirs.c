/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "gomp/theirs.h"

#include "base/util.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define DEFAULT_ALLOCATOR 1 /* omp_default_mem_alloc */

static struct {
	pthread_once_t once;
	struct theirs calls;
} theirs = { .once = PTHREAD_ONCE_INIT };

static const struct {
	const char *name;
	size_t at;
} rows[] = {
	{ "omp_get_default_allocator",
	  offsetof(struct theirs, get_default_allocator) },
	{ "omp_get_default_device",
	  offsetof(struct theirs, get_default_device) },
	{ "omp_get_initial_device",
	  offsetof(struct theirs, get_initial_device) },
	{ "omp_alloc", offsetof(struct theirs, alloc) },
	{ "omp_aligned_alloc", offsetof(struct theirs, aligned_alloc) },
	{ "omp_calloc", offsetof(struct theirs, calloc) },
	{ "omp_aligned_calloc", offsetof(struct theirs, aligned_calloc) },
	{ "omp_realloc", offsetof(struct theirs, realloc) },
	{ "GOMP_alloc", offsetof(struct theirs, alloc_clause) },
	{ "omp_get_affinity_format",
	  offsetof(struct theirs, get_affinity_format) },
	{ "omp_pause_resource", offsetof(struct theirs, pause_resource) },
};

static void find_all(void)
{
	void *found;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		found = dlsym(RTLD_NEXT, rows[i].name);
		memcpy((char *)&theirs.calls + rows[i].at, &found,
		       sizeof(found));
	}
}

const struct theirs *theirs_get(void)
{
	pthread_once(&theirs.once, find_all);
	return &theirs.calls;
}

uintptr_t theirs_allocator(void)
{
	const struct theirs *t = theirs_get();

	return t->get_default_allocator ? t->get_default_allocator()
					: DEFAULT_ALLOCATOR;
}

int theirs_device(void)
{
	const struct theirs *t = theirs_get();

	return t->get_default_device ? t->get_default_device() : 0;
}
