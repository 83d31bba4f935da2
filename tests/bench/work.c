/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/work.h"

/* Operations that no compiler drops or shortens. */
__attribute__((noinline, aligned(64))) void work_for(uint32_t units)
{
	uint32_t x = units;

	while (units--)
		__asm__ volatile("" : "+r"(x) : "r"(x * 5 + 1));
}
