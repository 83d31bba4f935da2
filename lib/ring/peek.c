/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Opening and looking at what the kernel has in its cache of names, closing
 * what needs no answer of a server. The call is
 * openat2(2) with RESOLVE_CACHED, which fails instead of asking the file
 * system. There is no such statx(2), so that one opens with O_PATH first; it
 * still costs far less than the thread of the kernel that a ring has for it.
 */
#include "ring/io_op.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* EAGAIN for errors that may be those of this trick, not of the operation. */
static int64_t result_told(int64_t rc)
{
	if (rc >= 0)
		return rc;
	switch (errno) {
	case EINVAL:
	case ENOSYS:
	case EPERM:
	case EMFILE:
	case ENFILE:
		return -EAGAIN;
	default:
		return -errno;
	}
}

static int64_t open_cached(const struct lkdf_io *io, uint32_t flags)
{
	struct open_how how = { .flags = flags, .resolve = RESOLVE_CACHED };

	return result_told(
		syscall(SYS_openat2, io->dirfd, io->path, &how, sizeof(how)));
}

/* Without O_NONBLOCK it may wait for a FIFO's other end. */
static bool is_quick_open(uint32_t how)
{
	return how & (O_NONBLOCK | O_PATH) &&
	       !(how & (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)));
}

/* A statx() that asks a server, or mounts something, may wait. */
static bool is_quick_statx(uint32_t how)
{
	const uint32_t needs = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
	const uint32_t knows = needs | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;

	return (how & needs) == needs && !(how & ~knows);
}

enum io_quick io_op_quick(const struct lkdf_io *io)
{
	switch ((enum lkdf_io_op)io->op) {
	case LKDF_IO_OPENAT:
		return is_quick_open(io->how) ? IO_QUICK_OPENAT : IO_NR_QUICK;
	case LKDF_IO_STATX:
		return is_quick_statx(io->how) ? IO_QUICK_STATX : IO_NR_QUICK;
	case LKDF_IO_CLOSE:
		return IO_QUICK_CLOSE;
	default:
		return IO_NR_QUICK;
	}
}

static int64_t look_at_stream(const struct lkdf_io *io, int fd)
{
	int how = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;

	return result_told(statx(fd, "", how, io->len, io->buf));
}

static int64_t peek_statx(const struct lkdf_io *io)
{
	uint32_t flags = O_PATH | O_CLOEXEC;
	int64_t fd, rc;

	if (!*io->path && io->how & AT_EMPTY_PATH)
		return look_at_stream(io, io->dirfd);
	if (io->how & AT_SYMLINK_NOFOLLOW)
		flags |= O_NOFOLLOW;
	fd = open_cached(io, flags);
	if (fd < 0)
		return fd;
	rc = look_at_stream(io, (int)fd);
	close((int)fd);
	return rc;
}

/*
 * A ring closes on the submitter's thread, too, but for files that have
 * something to flush. These file systems have no such files.
 */
static int64_t peek_close(int fd)
{
	struct statfs st;

	if (fstatfs(fd, &st))
		return result_told(-1);
	switch (st.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
		return close(fd) ? -errno : 0;
	default:
		return -EAGAIN;
	}
}

int64_t io_op_peek_quick(const struct lkdf_io *io)
{
	switch (io_op_quick(io)) {
	case IO_QUICK_OPENAT:
		return open_cached(io, io->how);
	case IO_QUICK_STATX:
		return peek_statx(io);
	case IO_QUICK_CLOSE:
		return peek_close(io->fd);
	default:
		return -EAGAIN;
	}
}
