/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A file system that fails where it is told to, spoken over /dev/fuse by a
 * child process, so that nothing but the kernel's header is needed. It has
 * three files of IO_FUSE_SIZE bytes, read through the page cache: with
 * FOPEN_DIRECT_IO a ring of Linux 6.18 goes on at the file's start after a
 * short read, and tells the sum.
 *
 *	good   does what it is told
 *	bad    EIO behind the first IO_FUSE_PART bytes, and on fsync and close
 *	short  ends behind the first IO_FUSE_PART bytes of a larger size
 */
#ifndef TESTS_API_IO_IO_FUSE_H
#define TESTS_API_IO_IO_FUSE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define IO_FUSE_PART (128 << 10)
#define IO_FUSE_SIZE (2 * IO_FUSE_PART)

enum io_fuse_node {
	IO_FUSE_GOOD = 2,
	IO_FUSE_BAD,
	IO_FUSE_SHORT,
};

static const char *const io_fuse_names[] = { [IO_FUSE_GOOD] = "good",
					     [IO_FUSE_BAD] = "bad",
					     [IO_FUSE_SHORT] = "short" };

struct io_fuse_request {
	struct fuse_in_header in;
	union {
		char bytes[IO_FUSE_PART + 4096];
		struct fuse_read_in read;
		struct fuse_write_in write;
	} u;
};

static void io_fuse_reply(int fd, const struct fuse_in_header *in, int error,
			  void *bytes, size_t size)
{
	struct fuse_out_header out = { .len = (uint32_t)(sizeof(out) + size),
				       .error = error,
				       .unique = in->unique };
	struct iovec iov[2] = { { &out, sizeof(out) }, { bytes, size } };

	/* Who asked may have gone. */
	if (writev(fd, iov, size ? 2 : 1) < 0 && errno != ENOENT)
		_exit(1);
}

static void io_fuse_attr(struct fuse_attr *attr, uint64_t node)
{
	memset(attr, 0, sizeof(*attr));
	attr->ino = node;
	attr->nlink = 1;
	attr->blksize = 4096;
	attr->mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644;
	attr->size = node == FUSE_ROOT_ID ? 0 : IO_FUSE_SIZE;
}

static void io_fuse_lookup(int fd, const struct io_fuse_request *r)
{
	struct fuse_entry_out out = { .entry_valid = 3600 };
	uint64_t node;

	for (node = IO_FUSE_GOOD; node <= IO_FUSE_SHORT; node++)
		if (!strcmp(r->u.bytes, io_fuse_names[node]))
			out.nodeid = node;
	if (!out.nodeid) {
		io_fuse_reply(fd, &r->in, -ENOENT, NULL, 0);
		return;
	}
	io_fuse_attr(&out.attr, out.nodeid);
	io_fuse_reply(fd, &r->in, 0, &out, sizeof(out));
}

/* Bytes are those of their position. */
static char io_fuse_byte(uint64_t off)
{
	return (char)(off * 7 + off / 4096);
}

static void io_fuse_read(int fd, const struct io_fuse_request *r)
{
	static char bytes[IO_FUSE_SIZE];
	bool is_good = r->in.nodeid == IO_FUSE_GOOD;
	uint64_t off = r->u.read.offset, i, size = r->u.read.size;
	uint64_t end = is_good ? IO_FUSE_SIZE : IO_FUSE_PART;

	if (r->in.nodeid == IO_FUSE_BAD && off >= end) {
		io_fuse_reply(fd, &r->in, -EIO, NULL, 0);
		return;
	}
	if (off >= end)
		size = 0;
	else if (size > end - off)
		size = end - off;
	for (i = 0; i < size; i++)
		bytes[i] = io_fuse_byte(off + i);
	io_fuse_reply(fd, &r->in, 0, bytes, size);
}

static void io_fuse_write(int fd, const struct io_fuse_request *r)
{
	struct fuse_write_out out = { .size = r->u.write.size };
	bool is_bad = r->in.nodeid == IO_FUSE_BAD &&
		      r->u.write.offset >= IO_FUSE_PART;

	io_fuse_reply(fd, &r->in, is_bad ? -EIO : 0, &out,
		      is_bad ? 0 : sizeof(out));
}

static void io_fuse_init(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
				     .minor = 31,
				     .max_readahead = 4096,
				     .max_write = IO_FUSE_PART };

	io_fuse_reply(fd, in, 0, &out, sizeof(out));
}

static void io_fuse_answer(int fd, const struct io_fuse_request *r)
{
	struct fuse_attr_out attr = { .attr_valid = 0 };
	struct fuse_open_out open = { .open_flags = 0 };
	bool is_bad = r->in.nodeid == IO_FUSE_BAD;

	switch (r->in.opcode) {
	case FUSE_INIT:
		io_fuse_init(fd, &r->in);
		break;
	case FUSE_LOOKUP:
		io_fuse_lookup(fd, r);
		break;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		io_fuse_attr(&attr.attr, r->in.nodeid);
		io_fuse_reply(fd, &r->in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		io_fuse_reply(fd, &r->in, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		io_fuse_read(fd, r);
		break;
	case FUSE_WRITE:
		io_fuse_write(fd, r);
		break;
	case FUSE_FSYNC:
	case FUSE_FLUSH:
		io_fuse_reply(fd, &r->in, is_bad ? -EIO : 0, NULL, 0);
		break;
	case FUSE_RELEASE:
		io_fuse_reply(fd, &r->in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		io_fuse_reply(fd, &r->in, -ENOSYS, NULL, 0);
	}
}

/* Until it is unmounted. */
static void io_fuse_serve(int fd)
{
	static struct io_fuse_request r;
	ssize_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		n = read(fd, &r, sizeof(r));
		if (n >= (ssize_t)sizeof(r.in))
			io_fuse_answer(fd, &r);
		else if (errno != EINTR && errno != ENOENT)
			_exit(errno == ENODEV ? 0 : 1);
	}
}

/* In a mount namespace of our own. -errno, or the process that serves it. */
static pid_t io_fuse_mount(const char *dir)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), rc;
	char options[96];
	pid_t pid;

	if (fd < 0)
		return -errno;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fd,
		 (unsigned)getuid(), (unsigned)getgid());
	if (mount("lkdf", dir, "fuse", MS_NOSUID | MS_NODEV, options)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	pid = fork();
	if (!pid)
		io_fuse_serve(fd);
	close(fd);
	return pid;
}

/* The exit status of who served it. */
static int io_fuse_unmount(const char *dir, pid_t pid)
{
	int status = -1;

	if (umount2(dir, 0))
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return status;
}

#endif
