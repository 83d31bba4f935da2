/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/own_fd.h"

#include <sys/stat.h>
#include <unistd.h>

struct own_fd own_fd_of(int fd)
{
	struct own_fd o = OWN_FD_NONE;
	struct stat st;

	if (fd < 0)
		return o;
	o.fd = fd;
	if (!fstat(fd, &st)) {
		o.device = (uint64_t)st.st_dev;
		o.inode = (uint64_t)st.st_ino;
	}
	return o;
}

bool own_fd_is(const struct own_fd *o)
{
	struct stat st;

	return o->fd >= 0 && !fstat(o->fd, &st) &&
	       o->device == (uint64_t)st.st_dev &&
	       o->inode == (uint64_t)st.st_ino;
}

void own_fd_close(struct own_fd *o)
{
	if (own_fd_is(o))
		close(o->fd);
	*o = OWN_FD_NONE;
}

bool own_fd_is_anonymous(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !(st.st_mode & S_IFMT);
}
