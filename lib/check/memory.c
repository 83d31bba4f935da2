/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Accesses that the library makes for bodies, and blocks that nobody knows. */
#include "check/fiber.h"

#include "base/util.h"
#include "check/tsan.h"

#include <stdlib.h>

void check_reads(struct check *ch, const void *p, size_t size)
{
	(void)ch;
	if (size)
		__tsan_read_range((void *)(uintptr_t)p, size);
}

void check_writes(struct check *ch, void *p, size_t size)
{
	(void)ch;
	if (size)
		__tsan_write_range(p, size);
}

void *check_alloc(size_t align, size_t size)
{
	align = align < 16 ? 16 : align;
	return aligned_alloc(align, round_up(size ? size : 1, align));
}

void check_free(void *p)
{
	free(p);
}
