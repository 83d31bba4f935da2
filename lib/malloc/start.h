/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The one heap of liblkdf-malloc.so, and what stands in while it is being
 * made: glibc allocates in there, too.
 */
#ifndef MALLOC_START_H
#define MALLOC_START_H

#include "mem/heap.h"

/*
 * The heap, made by whoever comes first. NULL: somebody is in the middle of
 * it; use the boot memory.
 */
struct heap *start_heap(void);

/* Never freed. Ends the process when there is none left. */
void *start_boot_alloc(size_t size, size_t align);

bool start_is_boot(const void *p);

/* Bytes from p to the end of the boot memory. */
size_t start_boot_size(const void *p);

/* This cache ends with the thread. */
void start_watch_thread(struct cache *c);

/* A line on stderr, then abort(). */
_Noreturn void start_die(const char *what);

#endif
