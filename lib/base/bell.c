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

int bell_wait(int fd, int own, int64_t timeout_ns)
{
	struct timespec ts = { timeout_ns / NS, timeout_ns % NS };
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN },
			       { .fd = own, .events = POLLIN } };
	uint64_t count;
	ssize_t n;
	int i;

	if (ppoll(p, 2, timeout_ns < 0 ? NULL : &ts, NULL) == 0)
		return -ETIMEDOUT;
	for (i = 0; i < 2; i++) {
		if (!p[i].revents)
			continue;
		n = read(p[i].fd, &count, sizeof(count));
		(void)n;
	}
	return 0;
}
