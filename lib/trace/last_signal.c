/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/last_signal.h"

#include "base/err.h"
#include "base/lock.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* Any thread, in the handler, too. */
static _Atomic(uint32_t) nr_asked;

/* Under the lock. */
static struct lock lock;
static int taken; /* the signal; 0: none */
static unsigned nr_users;

static void count_signal(int number)
{
	(void)number;
	a_add(&nr_asked, 1, relaxed);
}

uint32_t last_signal_count(void)
{
	return a_load(&nr_asked, relaxed);
}

static int handle_signal(int number)
{
	struct sigaction ours = { .sa_handler = count_signal,
				  .sa_flags = SA_RESTART };
	struct sigaction now;

	lock_assert_held(&lock);
	sigemptyset(&ours.sa_mask);
	if (sigaction(number, NULL, &now))
		return err(-errno, "trace: signal %d: %s", number,
			   strerror(errno));
	if (now.sa_flags & SA_SIGINFO || now.sa_handler != SIG_DFL)
		return err(-EBUSY,
			   "trace: the program handles or ignores "
			   "signal %d",
			   number);
	return sigaction(number, &ours, NULL) ? -errno : 0;
}

int last_signal_take(int number)
{
	int rc = 0;

	lock_take(&lock);
	if (nr_users && taken != number)
		rc = err(-EBUSY, "trace: another runtime has signal %d", taken);
	else if (!nr_users)
		rc = handle_signal(number);
	if (!rc) {
		taken = number;
		nr_users++;
	}
	lock_give(&lock);
	return rc;
}

void last_signal_drop(void)
{
	struct sigaction now, none = { .sa_handler = SIG_DFL };

	lock_take(&lock);
	check(nr_users && taken);
	if (!--nr_users && !sigaction(taken, NULL, &now) &&
	    !(now.sa_flags & SA_SIGINFO) && now.sa_handler == count_signal)
		sigaction(taken, &none, NULL);
	lock_give(&lock);
}
