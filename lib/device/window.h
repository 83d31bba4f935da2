/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many kernels of a region a queue is given ahead: as many as keep the
 * device at work until a launcher that has slept can give it more, and no more,
 * so that what is urgent need not wait long. By time, because a count that
 * suits kernels of 100 us lets a queue of kernels of 1 us run dry each time.
 */
#ifndef DEVICE_WINDOW_H
#define DEVICE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_MIN 32
#define WINDOW_MAX 256
#define WINDOW_NS \
	500000 /* of work in a queue, or 8 wake-ups if they are more */
#define WINDOW_ALONE_NS 200000 /* where URGENT kernels have the same queue */
#define WINDOW_WAKES 8

/* The launcher's. */
struct device_window {
	uint64_t kernel_ns, wake_ns; /* means of late; 0: not measured yet */
	bool has_slept; /* the launcher, since it saw an end last */
};

/* Takes another measured time into a mean. */
static inline void window_add(uint64_t *mean, uint64_t ns)
{
	*mean = *mean ? *mean - *mean / 8 + ns / 8 : ns;
}

/* Kernels of a region; nr_queues: for kernels; most: ops that a queue takes. */
static inline uint32_t window_size(const struct device_window *w,
				   unsigned nr_queues, uint32_t most)
{
	uint64_t ns = WINDOW_NS, nr = WINDOW_MIN;

	if (nr_queues < 2)
		ns = WINDOW_ALONE_NS;
	else if (WINDOW_WAKES * w->wake_ns > ns)
		ns = WINDOW_WAKES * w->wake_ns;
	if (w->kernel_ns && ns / w->kernel_ns > nr)
		nr = ns / w->kernel_ns;
	if (nr > WINDOW_MAX)
		nr = WINDOW_MAX;
	if (most && nr > (uint64_t)most * 3 / 4)
		nr = (uint64_t)most * 3 / 4;
	return nr ? (uint32_t)nr : 1;
}

#endif
