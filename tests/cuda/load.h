/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For tests that call a driver of CUDA themselves: that of the folder
 * build/tests/cuda beside them, or the one that LKDF_TEST_CUDA names.
 */
#ifndef TESTS_CUDA_LOAD_H
#define TESTS_CUDA_LOAD_H

#include "tests/cuda/calls.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file of the build's tests/cuda, until the next call. */
__attribute__((unused)) static const char *cuda_file(const char *name)
{
	static char path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *tests = NULL, *p;

	path[n < 0 ? 0 : n] = 0;
	for (p = path; (p = strstr(p, "/tests/")); p++)
		tests = p;
	if (!tests)
		return name;
	snprintf(tests, 64, "/tests/cuda/%s", name);
	return path;
}

/* The driver of the tests: the library for tests if nothing else is named. */
__attribute__((unused)) static const char *cuda_driver(void)
{
	const char *named = getenv("LKDF_TEST_CUDA");

	return named && named[0] ? named : cuda_file("libcuda.so.1");
}

/* 0; -1: why says what lacks. */
__attribute__((unused)) static int cu_load(const char *library, struct cu *cu,
					   char *why, size_t size)
{
	static const struct {
		const char *name, *version;
		size_t at;
		int must;
	} calls[] = {
#define CU_ROW(name, version, ...) \
	{ #name, #version, offsetof(struct cu, name), 1 },
		CU_CALLS(CU_ROW)
#undef CU_ROW
#define CU_ROW(name, version, ...) \
	{ #name, #version, offsetof(struct cu, name), 0 },
			CU_NEW_CALLS(CU_ROW) CU_GUEST_CALLS(CU_ROW)
#undef CU_ROW
	};
	unsigned status = 0;
	void *f;
	size_t i;
	int ask;

	memset(cu, 0, sizeof(*cu));
	cu->library = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	f = cu->library ? dlsym(cu->library, "cuGetProcAddress_v2") : NULL;
	if (!f) {
		snprintf(why, size, "%s", dlerror());
		return -1;
	}
	memcpy(&cu->get, &f, sizeof(f));
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		f = NULL;
		ask = calls[i].must ? CU_ASK
				    : atoi(strstr(calls[i].version, "_v") + 2);
		if (cu->get(calls[i].name, &f, ask, 0, &status))
			f = NULL;
		if (!f && calls[i].must) {
			snprintf(why, size, "the driver has no %s (status %u)",
				 calls[i].name, status);
			return -1;
		}
		memcpy((char *)cu + calls[i].at, &f, sizeof(f));
	}
	return 0;
}

#endif
