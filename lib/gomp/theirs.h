/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calls of libgomp, which is loaded behind this library. A call that reads a
 * variable of the task, or the number of a thread, is answered here: libgomp
 * knows one task and one thread of each. A call that is the same for the whole
 * process is libgomp's; tests/gomp/theirs.txt lists these.
 */
#ifndef GOMP_THEIRS_H
#define GOMP_THEIRS_H

#include <stddef.h>
#include <stdint.h>

/* NULL: the libgomp that is loaded has no such call. */
struct theirs {
	uintptr_t (*get_default_allocator)(void);
	int (*get_default_device)(void);
	int (*get_initial_device)(void);
	void *(*alloc)(size_t size, uintptr_t allocator);
	void *(*aligned_alloc)(size_t align, size_t size, uintptr_t allocator);
	void *(*calloc)(size_t nr, size_t size, uintptr_t allocator);
	void *(*aligned_calloc)(size_t align, size_t nr, size_t size,
				uintptr_t allocator);
	void *(*realloc)(void *p, size_t size, uintptr_t allocator,
			 uintptr_t before);
	void *(*alloc_clause)(size_t align, size_t size, uintptr_t allocator);
	size_t (*get_affinity_format)(char *buffer, size_t size);
	int (*pause_resource)(int kind, int device);
};

const struct theirs *theirs_get(void);

/* Values of OMP_ALLOCATOR and OMP_DEFAULT_DEVICE, or the defaults. */
uintptr_t theirs_allocator(void);
int theirs_device(void);

#endif
