/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many kernels a queue is given ahead: by the time that they take, within
 * two limits and below what the device takes.
 */
#include "device/window.h"

#include "tests/tap.h"

static uint32_t window_of(uint64_t kernel_ns, uint64_t wake_ns, unsigned nr,
			  uint32_t most)
{
	const struct device_window w = { .kernel_ns = kernel_ns,
					 .wake_ns = wake_ns };

	return window_size(&w, nr, most);
}

int main(void)
{
	struct device_window w = { 0 };
	int i;

	tap_start(10);
	is(window_of(0, 0, 4, 0), 32, "what is not measured yet: the least");
	is(window_of(5000, 0, 4, 0), 100, "500 us of kernels of 5 us");
	is(window_of(5000, 100000, 4, 0), 160, "8 wake-ups of 100 us");
	is(window_of(5000, 100000, 1, 0), 40,
	   "200 us where there is one queue");
	is(window_of(100, 0, 4, 0), 256, "at most 256");
	is(window_of(1000000, 0, 4, 0), 32, "at least 32, however long");
	is(window_of(100, 0, 4, 100), 75, "three quarters of what it takes");
	is(window_of(0, 0, 4, 16), 12, "also where that is less than 32");
	is(window_of(0, 0, 4, 1), 1, "and never nothing");
	for (i = 0; i < 200; i++)
		window_add(&w.kernel_ns, i < 100 ? 8000 : 80000);
	ok(w.kernel_ns > 75000 && w.kernel_ns <= 80000,
	   "a mean follows what is measured, it is %llu",
	   (unsigned long long)w.kernel_ns);
	return tap_end();
}
