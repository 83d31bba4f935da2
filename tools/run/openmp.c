/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/openmp.h"

#include <dlfcn.h>
#include <limits.h>
#include <lkdf/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beside the liblkdf of this program, whose folder it has; "": as the loader
 * finds it. */
static void find_folder(char folder[PATH_MAX])
{
	char *slash;
	Dl_info info;

	folder[0] = 0;
	if (!dladdr((const void *)(uintptr_t)lkdf_version, &info) ||
	    !info.dli_fname || !realpath(info.dli_fname, folder))
		return;
	slash = strrchr(folder, '/');
	if (slash)
		slash[1] = 0;
	else
		folder[0] = 0;
}

bool openmp_library(char *text, size_t size)
{
	char folder[PATH_MAX];

	find_folder(folder);
	snprintf(text, size, "%sliblkdf-gomp.so.0", folder);
	return !access(text, R_OK);
}

bool openmp_preload(char *text, size_t size)
{
	const char *before = getenv("LD_PRELOAD");

	if (!openmp_library(text, size))
		return false;
	if (before && before[0]) {
		strncat(text, ":", size - strlen(text) - 1);
		strncat(text, before, size - strlen(text) - 1);
	}
	return true;
}
