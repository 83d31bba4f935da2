/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Above the limit ftruncate() would end the process with SIGXFSZ. */
static bool may_be_as_large(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= size;
}

/* A sealed memfd, or -errno. */
static int open_sealed(const char *name, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int rc = -EFBIG;

	if (fd < 0)
		return -errno;
	if (may_be_as_large(size))
		rc = ftruncate(fd, (off_t)size) ||
				     fcntl(fd, F_ADD_SEALS,
					   F_SEAL_SHRINK | F_SEAL_GROW)
			     ? -errno
			     : 0;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static void *map_memfd(size_t size, int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  flags | MAP_NORESERVE, fd, 0);

	return base == MAP_FAILED ? NULL : base;
}

void *memfd_map(const char *name, size_t size, int *fd)
{
	void *base;

	*fd = open_sealed(name, size);
	base = map_memfd(size, *fd < 0 ? -1 : *fd);
	if (base || *fd < 0)
		return base;
	close(*fd);
	*fd = -ENOMEM;
	return map_memfd(size, -1);
}
