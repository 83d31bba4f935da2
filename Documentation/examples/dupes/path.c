/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A path of any length, see path.h. Each step opens as many directories at
 * once as fit, without any right on them but search.
 */
#include "path.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the path up to the last slash that fits, 0 if there is none. */
static size_t step_size(const char *path)
{
	const char *slash = memrchr(path, '/', PATH_MAX - 1);

	return slash ? (size_t)(slash - path) : 0;
}

/* Opens the first part of the path below at; takes at over. */
static int step(int at, const char *path, size_t size)
{
	char part[PATH_MAX];
	int fd;

	memcpy(part, path, size);
	part[size] = '\0';
	fd = openat(at, part, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	if (at >= 0)
		close(at);
	return fd;
}

/* As openat(2), without touching the time of access where that is allowed. */
static int open_quietly(int at, const char *path, int flags)
{
	int fd = openat(at, path, flags | O_CLOEXEC | O_NOATIME);

	if (fd < 0 && errno == EPERM)
		fd = openat(at, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int path_open(const char *path, int flags)
{
	int at = AT_FDCWD, fd;
	size_t size;

	while (strnlen(path, PATH_MAX) == PATH_MAX) {
		size = step_size(path);
		if (!size)
			break;
		at = step(at, path, size);
		if (at < 0)
			return at;
		path += size;
		path += strspn(path, "/");
	}
	fd = open_quietly(at, path, flags);
	if (at >= 0)
		close(at);
	return fd;
}
