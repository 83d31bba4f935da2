/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/io.h>

#include "api/border.h"
#include "io/io_fixed.h"

#include <errno.h>
#include <fcntl.h>

int lkdf_io_register_file(struct lkdf *rt, int fd)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (fd < 0 || fcntl(fd, F_GETFD) < 0)
		return err(-EBADF, "io: descriptor %d is not open", fd);
	return io_fixed_add(rt, IO_FIXED_FILE, (uint64_t)fd, 1);
}

int lkdf_io_register_buffer(struct lkdf *rt, void *buf, uint64_t bytes)
{
	uint64_t start = (uint64_t)(uintptr_t)buf;
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!buf || !bytes || bytes > URING_MAX_BUFFER || start + bytes < start)
		return err(-EINVAL,
			   "io: %llu bytes at %p: there are 1 to %llu of them",
			   (unsigned long long)bytes, buf,
			   (unsigned long long)URING_MAX_BUFFER);
	return io_fixed_add(rt, IO_FIXED_BUFFER, start, bytes);
}

int lkdf_io_unregister_file(struct lkdf *rt, int fd)
{
	int rc = border_runtime(rt);

	return rc ? rc : io_fixed_remove(rt, IO_FIXED_FILE, (uint64_t)fd);
}

int lkdf_io_unregister_buffer(struct lkdf *rt, void *buf)
{
	uint64_t start = (uint64_t)(uintptr_t)buf;
	int rc = border_runtime(rt);

	return rc ? rc : io_fixed_remove(rt, IO_FIXED_BUFFER, start);
}
