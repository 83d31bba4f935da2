/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A barrier on every CPU that runs a thread of this process, paid by who asks
 * for it alone: the others order a store before a load without a fence
 * (membarrier(2), MEMBARRIER_CMD_PRIVATE_EXPEDITED). Under the model checker
 * both sides have accesses that are seq_cst instead.
 */
#ifndef BASE_MEMBARRIER_H
#define BASE_MEMBARRIER_H

#include <stdbool.h>

/* Once per process, before others count on it. False: the kernel has none. */
bool membarrier_register(void);

/* After it: whatever others do from now on sees what we did before. */
void membarrier_all(void);

/* The others, between the store and the load: the compiler keeps them so. */
static inline void membarrier_light(void)
{
	__asm__ volatile("" ::: "memory");
}

/* The compiler keeps these two accesses in order. */
#define membarrier_between(stored, loaded) \
	__asm__ volatile("" : "+m"(*(stored)), "+m"(*(loaded)))

#endif
