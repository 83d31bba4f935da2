/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For tests on POCL, the OpenCL driver whose device is the CPU: its cache lies
 * beside the test, and what it leaves allocated at the end is its own.
 */
#ifndef TESTS_OPENCL_H
#define TESTS_OPENCL_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * LeakSanitizer asks for it. A call that the driver forgets leaves a wait of
 * ours, which only that call may free (opencl/wait.h).
 */
const char *__lsan_default_suppressions(void);

__attribute__((unused)) const char *__lsan_default_suppressions(void)
{
	return "leak:libpocl\nleak:libOpenCL\nleak:libLLVM\nleak:libclang\n"
	       "leak:libhwloc\nleak:opencl_wait_create\n";
}

/*
 * ThreadSanitizer asks for it. A thread's variables of an object that was
 * loaded late are the C library's to free, in the thread that takes its stack.
 */
const char *__tsan_default_suppressions(void);

__attribute__((unused)) const char *__tsan_default_suppressions(void)
{
	return "race:_dl_deallocate_tls\n";
}

/*
 * AddressSanitizer asks for it. What drivers load has variables of its threads,
 * of which the check for leaks takes addresses that are none: it crashes then.
 */
const char *__asan_default_options(void);

__attribute__((unused)) const char *__asan_default_options(void)
{
	return "intercept_tls_get_addr=0";
}

/* First, before any call of OpenCL; devices: as many as words; NULL: one. */
__attribute__((unused)) static void opencl_env(const char *devices)
{
	char path[PATH_MAX - 8], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	if (n > 0) {
		path[n] = 0;
		slash = strrchr(path, '/');
		strcpy(slash ? slash : path, "/pocl.cache");
		setenv("POCL_CACHE_DIR", path, 0);
	}
	/* Threads for two CPUs are enough, whatever the machine has. */
	setenv("POCL_MAX_PTHREAD_COUNT", "2", 0);
	if (devices)
		setenv("POCL_DEVICES", devices, 1);
}

#endif
