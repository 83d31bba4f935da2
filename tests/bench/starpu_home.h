/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What programs with StarPU set before they start it. */
#ifndef TESTS_BENCH_STARPU_HOME_H
#define TESTS_BENCH_STARPU_HOME_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Its files of measured buses go beside this program, not into the user's
 * home directory. */
static inline void starpu_home(void)
{
	static const char *const names[] = { "STARPU_HOME",
					     "STARPU_PERF_MODEL_DIR",
					     "STARPU_PERF_MODEL_PATH" };
	char dir[4096];
	ssize_t len = readlink("/proc/self/exe", dir, sizeof(dir) - 8);
	unsigned i;

	if (len < 0)
		return;
	memcpy(dir + len, ".home", sizeof(".home"));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		setenv(names[i], dir, 1);
	setenv("STARPU_SILENT", "1", 1);
	setenv("STARPU_CATCH_SIGNALS", "0", 1);
}

#endif
