/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Texts that the runtimes and the processes of a test have in common are
 * compiled once: a directory for option kernel_cache, from begin to end.
 */
#ifndef TESTS_CUDA_CACHE_H
#define TESTS_CUDA_CACHE_H

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char cache_path[] = "/tmp/lkdf-cache-XXXXXX";

static void cache_begin(void)
{
	if (mkdtemp(cache_path))
		setenv("LKDF_KERNEL_CACHE", cache_path, 1);
}

static void cache_end(void)
{
	char file[PATH_MAX + 300];
	DIR *dir = opendir(cache_path);
	struct dirent *e;

	unsetenv("LKDF_KERNEL_CACHE");
	while (dir && (e = readdir(dir))) {
		snprintf(file, sizeof(file), "%s/%s", cache_path, e->d_name);
		unlink(file);
	}
	if (dir)
		closedir(dir);
	rmdir(cache_path);
}

#endif
