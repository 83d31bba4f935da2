/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks above 2 MiB: a mapping each, kept for a second after they were freed
 * in lists by size, with their pages, because faulting pages in again costs
 * far more than anything else here. See mem/memory.h for the calls.
 */
#ifndef MEM_LARGE_H
#define MEM_LARGE_H

#include "mem/memory.h"

/* Under the memory's lock: unmaps cached ones idle since before_ns. */
void large_trim(struct memory *m, int64_t before_ns);

/*
 * Grows or shrinks a block by moving its pages, not its bytes. False: it is
 * as it was.
 */
bool large_resize(struct memory *m, struct span *s, size_t size);

#endif
