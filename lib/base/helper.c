/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/helper.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000
#define AGAIN_NS 1000000 /* between two tries to cancel */

void helper_hide(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

void helper_show(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

int helper_start(pthread_t *thread, const pthread_attr_t *attr,
		 void *(*fn)(void *), void *arg)
{
	sigset_t old;
	int rc;

	helper_hide(&old);
	rc = pthread_create(thread, attr, fn, arg);
	helper_show(&old);
	return rc;
}

void helper_begin(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
}

int helper_poll(struct pollfd *fd, nfds_t nr, int64_t timeout_ns)
{
	struct timespec ts = { timeout_ns / NS, timeout_ns % NS };
	int rc, error;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	rc = ppoll(fd, nr, timeout_ns < 0 ? NULL : &ts, NULL);
	error = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	errno = error;
	return rc;
}

bool helper_ring(const struct own_fd *event)
{
	uint64_t one = 1;
	ssize_t n;

	if (!own_fd_is(event))
		return false;
	n = write(event->fd, &one, sizeof(one));
	/* Full means that it is readable, which is all we want. */
	return n == (ssize_t)sizeof(one) || errno == EAGAIN;
}

/*
 * A cancel is a queued signal, which the kernel refuses while the user has too
 * many; the C library has the thread wait for it then, so it has to come.
 */
static void cancel_thread(pthread_t thread)
{
	const struct timespec pause = { 0, AGAIN_NS };

	while (pthread_cancel(thread) == EAGAIN)
		nanosleep(&pause, NULL);
}

void helper_stop(pthread_t thread, const struct own_fd *event)
{
	if (!helper_ring(event))
		cancel_thread(thread);
	pthread_join(thread, NULL);
}
