/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/announce.h"

#include "base/rights.h"
#include "trace/trace.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_to(const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t size = strlen(name);
	int fd;

	if (size > sizeof(to.sun_path) - 1)
		return -ENAMETOOLONG;
	memcpy(to.sun_path + 1, name, size);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	size += offsetof(struct sockaddr_un, sun_path) + 1;
	if (!connect(fd, (struct sockaddr *)&to, (socklen_t)size))
		return fd;
	size = (size_t)errno;
	close(fd);
	return -(int)size;
}

static int send_memfd(int fd, int memfd)
{
	struct lkdf_stats_hello hello = {
		.magic = LKDF_STATS_MAGIC,
		.version = LKDF_STATS_VERSION,
		.pid = (uint32_t)getpid(),
	};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { &hello, sizeof(hello) };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &memfd, sizeof(memfd));
	return sendmsg(fd, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void trace_announce(const struct trace *t, const char *name)
{
	int fd, rc;

	if (t->fd < 0 || !name[0])
		return;
	fd = connect_to(name);
	rc = fd < 0 ? fd : rights_trust(fd) ? send_memfd(fd, t->fd) : -EPERM;
	if (fd >= 0)
		close(fd);
	if (rc)
		log_text(t->log, LKDF_LOG_INFO, "trace: socket %s: %s", name,
			 strerror(-rc));
}
