/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The names of libc, defined here, win over libc's for all libraries of the
 * process; they count and pass on. mmap goes by the system call, so that
 * libc's own mappings inside malloc are counted as the malloc they serve.
 */
#include "tests/bench/count_alloc.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

static _Atomic uint64_t nr_mallocs, nr_mmaps;

static void count(_Atomic uint64_t *what)
{
	atomic_fetch_add_explicit(what, 1, memory_order_relaxed);
}

void count_alloc_read(struct count_alloc *c)
{
	c->mallocs = atomic_load(&nr_mallocs);
	c->mmaps = atomic_load(&nr_mmaps);
}

void *malloc(size_t size)
{
	count(&nr_mallocs);
	return __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	count(&nr_mallocs);
	return __libc_calloc(nr, size);
}

void *realloc(void *p, size_t size)
{
	count(&nr_mallocs);
	return __libc_realloc(p, size);
}

void *memalign(size_t align, size_t size)
{
	count(&nr_mallocs);
	return __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	count(&nr_mallocs);
	return __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	void *p;

	count(&nr_mallocs);
	p = __libc_memalign(align, size);
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	count(&nr_mmaps);
	return (void *)syscall(SYS_mmap, at, size, prot, flags, fd, offset);
}
