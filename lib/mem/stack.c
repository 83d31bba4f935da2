/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/stack.h"

#include "base/util.h"
#include "mem/region.h"

#include <errno.h>
#include <sys/mman.h>

#define GUARD REGION_PAGE

int stack_map(struct stack *s, size_t size, int os_node)
{
	void *p;

	size = round_up(size, REGION_PAGE) + GUARD;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1,
		 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	if (mprotect(p, GUARD, PROT_NONE)) {
		munmap(p, size);
		return -ENOMEM;
	}
	s->map = p;
	s->size = size;
	region_prefer((char *)p + GUARD, size - GUARD, os_node);
	return 0;
}

void stack_unmap(struct stack *s)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (s->map && here - (uintptr_t)s->map >= s->size)
		munmap(s->map, s->size);
	s->map = NULL;
}

void *stack_base(const struct stack *s)
{
	return (char *)s->map + GUARD;
}

size_t stack_size(const struct stack *s)
{
	return s->size - GUARD;
}
