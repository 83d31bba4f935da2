/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Stacks of our own for threads: their pages lie on the thread's node from the
 * first one on, the thread's own block included, which its creator writes; and
 * they are no stack of an earlier thread on another node, as libc's may be.
 */
#ifndef MEM_STACK_H
#define MEM_STACK_H

#include <stddef.h>

struct stack {
	void *map; /* NULL: none */
	size_t size; /* with the guard page below it */
};

/* os_node -1: wherever it is touched first. 0 or -ENOMEM. */
int stack_map(struct stack *s, size_t size, int os_node);
/* Not the one that the caller runs on, as a worker that has forked may. */
void stack_unmap(struct stack *s);

/* The lowest byte that may be used, and how many may. */
void *stack_base(const struct stack *s);
size_t stack_size(const struct stack *s);

#endif
