/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/bell.h"

#include "base/own_fd.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000

/* For a sleeper whose eventfd the program has closed: it wakes, and looks. */
#define LONGEST_NS 1000000000

int bell_open(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

void bell_ring(int fd)
{
	uint64_t one = 1;
	ssize_t n;

	/* The program may have closed it, and have a file of that number. */
	if (!own_fd_is_anonymous(fd))
		return;
	/* Full means that it is readable, which is all we want. */
	n = write(fd, &one, sizeof(one));
	(void)n;
}

int bell_wait(int fd, int64_t timeout_ns)
{
	bool is_last = timeout_ns >= 0 && timeout_ns <= LONGEST_NS;
	int64_t ns = is_last ? timeout_ns : LONGEST_NS;
	struct timespec ts = { ns / NS, ns % NS };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t count;
	ssize_t n;

	if (ppoll(&p, 1, &ts, NULL) == 0)
		return is_last ? -ETIMEDOUT : 0;
	if (!own_fd_is_anonymous(fd))
		return 0;
	n = read(fd, &count, sizeof(count));
	(void)n;
	return 0;
}
