/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Big zeroed arrays straight from the kernel: 64-byte aligned, grown by moving
 * pages instead of copying bytes. Untouched pages of a new one cost nothing;
 * what it grows by is about to be written.
 */
#ifndef MEM_REGION_H
#define MEM_REGION_H

#include <stddef.h>

/* NULL: out of memory. size 0 gives NULL. */
void *region_alloc(size_t size);

/* Zeroed beyond the old size; NULL: out of memory, the old one stays. */
void *region_resize(void *region, size_t old_size, size_t size);

void region_free(void *region, size_t size);

/* A page of its own: what has it as alignment can lie on a node of its own. */
#define REGION_PAGE 4096

/* Whole pages, zeroed, whatever the size; NULL: out of memory. */
void *region_map(size_t size);
void region_unmap(void *region, size_t size);

/* Addresses and no memory: whoever touches them faults. As region_map(). */
void *region_reserve(size_t size);

/*
 * Pages not touched yet come from the system's node, if it has any left. Where
 * the kernel refuses they come from wherever they are touched first.
 */
void region_prefer(void *at, size_t size, int os_node);

#endif
