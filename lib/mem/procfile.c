/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/procfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

int procfile_path(const char *root, int32_t pid, const char *name, char *path,
		  size_t size)
{
	char of[16] = "self";
	int n;

	if (pid)
		snprintf(of, sizeof(of), "%d", pid);
	n = snprintf(path, size, "%s/%s/%s", root ? root : "/proc", of, name);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int read_lines(FILE *f, procfile_fn fn, void *u)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int rc = 0;

	while (!rc) {
		errno = 0;
		len = getline(&line, &size, f);
		if (len < 0) {
			rc = ferror(f) || errno ? -errno : 1;
		} else if (line[len - 1] != '\n') {
			rc = -EBADMSG;
		} else {
			line[len - 1] = '\0';
			rc = fn(u, line);
		}
	}
	free(line);
	return rc < 0 ? rc : 0;
}

int procfile_lines(const char *root, int32_t pid, const char *name,
		   procfile_fn fn, void *u)
{
	char path[PATH_MAX];
	FILE *f;
	int rc;

	rc = procfile_path(root, pid, name, path, sizeof(path));
	if (rc)
		return rc;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	rc = read_lines(f, fn, u);
	fclose(f);
	return rc;
}
