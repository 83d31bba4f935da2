/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/clock.h"

uint32_t clock_ticks_per_1024ns(void)
{
	int64_t from_ns = clock_now_ns(), now_ns;
	uint64_t from = clock_ticks(), ticks;

	do {
		now_ns = clock_now_ns();
	} while (now_ns - from_ns < 500000);
	ticks = clock_ticks() - from;
	ticks = ticks * 1024 / (uint64_t)(now_ns - from_ns);
	return ticks ? (uint32_t)ticks : 1;
}
