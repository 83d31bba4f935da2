/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/bell.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000

int bell_open(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

void bell_ring(int fd)
{
	uint64_t one = 1;
	ssize_t n;

	/* Full means that it is readable, which is all we want. */
	n = write(fd, &one, sizeof(one));
	(void)n;
}

int bell_wait(int fd, int64_t timeout_ns)
{
	struct timespec ts = { timeout_ns / NS, timeout_ns % NS };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t count;
	ssize_t n;

	if (ppoll(&p, 1, timeout_ns < 0 ? NULL : &ts, NULL) == 0)
		return -ETIMEDOUT;
	n = read(fd, &count, sizeof(count));
	(void)n;
	return 0;
}
