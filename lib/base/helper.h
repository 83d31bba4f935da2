/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads of the library that sleep in poll(2), and how they are stopped: by an
 * eventfd that is one of those they poll. Where the program has closed that
 * behind the library's back, the thread still sleeps on the closed one, so it
 * is cancelled in poll(2), and nowhere else.
 */
#ifndef BASE_HELPER_H
#define BASE_HELPER_H

#include "base/own_fd.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

/*
 * Threads that start in between, of the library or of a driver, take none of
 * the program's signals. No call may nest in another.
 */
void helper_hide(sigset_t *old);
void helper_show(const sigset_t *old);

/*
 * Starts a thread with all signals blocked: none of the program's comes to it.
 * attr may be NULL. Returns what pthread_create() returns. For any thread of
 * the library, whether it polls or not.
 */
int helper_start(pthread_t *thread, const pthread_attr_t *attr,
		 void *(*fn)(void *), void *arg);

/* First thing on the thread. */
void helper_begin(void);

/* On the thread: as poll(2), but in ns; -1: for ever. */
int helper_poll(struct pollfd *fd, nfds_t nr, int64_t timeout_ns);

/* The thread polls again. False: the eventfd is not the library's any more. */
bool helper_ring(const struct own_fd *event);

/* The thread knows that it is to stop when it is rung; joins it. */
void helper_stop(pthread_t thread, const struct own_fd *event);

#endif
