/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "cuda/rtc.h"

#include "base/util.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Pip has a package a library up to CUDA 12, later one for all. The names
 * are those that the loader finds, so the number is the major version.
 */
static const struct {
	const char *variable; /* NULL: below the root */
	const char *folder; /* behind its value */
} folders[] = {
	{ "CUDA_HOME", "/lib64" },
	{ "CUDA_PATH", "/lib64" },
	{ "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib" },
	{ "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu[0-9]*/lib" },
	{ "CONDA_PREFIX", "/lib" },
	{ "CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib" },
	{ "CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/cu[0-9]*/lib" },
	{ "HOME", "/.local/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib" },
	{ "HOME", "/.local/lib/python3*/site-packages/nvidia/cu[0-9]*/lib" },
	{ NULL, "/usr/local/lib/python3*/*-packages/nvidia/cuda_nvrtc/lib" },
	{ NULL, "/usr/local/lib/python3*/*-packages/nvidia/cu[0-9]*/lib" },
	{ NULL, "/usr/local/cuda/lib64" },
};

static void *open_one(const char *path)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* The first that the pattern finds and the loader takes. */
static void *open_pattern(const char *pattern)
{
	void *handle = NULL;
	glob_t found;
	size_t i;

	if (glob(pattern, 0, NULL, &found))
		return NULL;
	for (i = 0; i < found.gl_pathc && !handle; i++)
		handle = open_one(found.gl_pathv[i]);
	globfree(&found);
	return handle;
}

/* A process with rights of its own does not follow the caller's variables. */
static void *open_in_folders(const char *name)
{
	char pattern[2 * PATH_MAX];
	void *handle = NULL;
	const char *root;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(folders) && !handle; i++) {
		root = folders[i].variable ? secure_getenv(folders[i].variable)
					   : "";
		if (!root || (folders[i].variable && !root[0]))
			continue;
		if ((size_t)snprintf(pattern, sizeof(pattern), "%s%s/%s", root,
				     folders[i].folder, name) < sizeof(pattern))
			handle = open_pattern(pattern);
	}
	return handle;
}

static void *open_major(int major)
{
	char name[40];
	void *handle;

	/* CUDA 11 has 11.2 for all from 11.2 on. */
	snprintf(name, sizeof(name), "libnvrtc.so.%d%s", major,
		 major == 11 ? ".2" : "");
	handle = open_one(name);
	return handle ? handle : open_in_folders(name);
}

void *rtc_find(const char *library, int driver)
{
	int first = driver / 1000, major;
	void *handle;

	if (library[0])
		return open_one(library);
	handle = first ? open_major(first) : NULL;
	/* The newest of those that are older than the driver. */
	for (major = NVRTC_NEWEST; !handle && major >= NVRTC_OLDEST; major--)
		if (!first || major < first)
			handle = open_major(major);
	/* The last has the loader's plain words. */
	return handle ? handle : open_one("libnvrtc.so");
}
