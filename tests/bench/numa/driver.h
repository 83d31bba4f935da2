/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * main() of each contestant: runs one program, named by its argument, once and
 * says to the access counter what it was. Once, because a second runtime in the
 * process would get the stacks of the first one's threads, wherever they lie.
 */
#ifndef TESTS_BENCH_NUMA_DRIVER_H
#define TESTS_BENCH_NUMA_DRIVER_H

#include "tests/bench/numa/program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct driver {
	const char *name; /* of the runtime */
	/* Each: 0, or -1 after a line on stderr. */
	int (*prepare)(struct program *p); /* not counted */
	int (*run)(struct program *p); /* until all tasks are complete */
	void (*finish)(void); /* what prepare has made */
};

int driver_main(const struct driver *d, int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
