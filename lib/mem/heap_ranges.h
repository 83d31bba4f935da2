/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Ranges that a heap has bound to nodes: for a caller that asks where pages are
 * and gets no answer from the kernel.
 */
#ifndef MEM_HEAP_RANGES_H
#define MEM_HEAP_RANGES_H

#include "mem/heap.h"
#include "mem/pages.h"

/*
 * The ranges between start and end, ascending, malloc'ed; *nr of them, NULL
 * and 0 where there are none. Memory the kernel has refused to bind is not
 * among them. -ENOMEM.
 */
int heap_ranges(struct heap *h, uint64_t start, uint64_t end,
		struct pages_own **out, size_t *nr);

#endif
