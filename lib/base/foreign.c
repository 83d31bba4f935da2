/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/foreign.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define PARALLEL_BY_THREADS 1 /* openblas_get_parallel() */

/* ISO C knows no way from an object's address to a function's. */
static void find_library(const char *name, void *fn, size_t size)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	memcpy(fn, &found, size);
}

static void limit_blas(void)
{
	void (*set)(int nr);
	int (*parallel)(void);

	find_library("openblas_set_num_threads", &set, sizeof(set));
	find_library("openblas_get_parallel", &parallel, sizeof(parallel));
	if (set && parallel && parallel() == PARALLEL_BY_THREADS)
		set(1);
}

void foreign_find(struct foreign *f)
{
	find_library("omp_set_num_threads", &f->omp, sizeof(f->omp));
	limit_blas();
}

void foreign_threads(const struct foreign *f, int nr)
{
	if (f->omp)
		f->omp(nr);
}
