/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The default runtime of the process, so that several libraries in one program
 * share workers. Its first user opens it; its last one, or exit(), closes it. A
 * forked child opens one of its own: references from before the fork are to the
 * parent's, and putting them does nothing.
 */
#include <lkdf/runtime.h>
#include <lkdf/scope.h>

#include "api/border.h"

#include <pthread.h>
#include <stdlib.h>

/* At exit: for bodies that have started, after which they are left running. */
#define EXIT_NS 2000000000

static struct {
	/* Recursive: a driver that the open loads may fork. */
	pthread_mutex_t lock;

	/* Under lock. */
	struct lkdf *rt; /* NULL: none is open */
	uint64_t nr_users;
	bool is_watched; /* fork() and exit() */
} process = { .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };

/* Under lock: a runtime has users, and nobody uses none. */
CHECK_ONLY static bool process_sane(void)
{
	return !process.rt == !process.nr_users;
}

static void before_fork(void)
{
	pthread_mutex_lock(&process.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&process.lock);
}

/*
 * Users of the parent's runtime may still call it, so it stays. The lock's
 * owner is a thread of the parent.
 */
static void after_fork_child(void)
{
	process.rt = NULL;
	process.nr_users = 0;
	process.lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

static struct lkdf *take_runtime(void)
{
	struct lkdf *rt = process.rt;

	process.rt = NULL;
	process.nr_users = 0;
	return rt;
}

/* A body that calls exit() keeps it open; so do bodies that do not end. */
static void close_at_exit(void)
{
	struct lkdf *rt;

	pthread_mutex_lock(&process.lock);
	rt = take_runtime();
	pthread_mutex_unlock(&process.lock);
	if (!rt || lkdf_close(rt) != -EBUSY)
		return;
	lkdf_scope_cancel(rt, NULL, -ECANCELED);
	lkdf_scope_wait(rt, NULL, EXIT_NS);
	lkdf_close(rt);
}

/* After the open: what it has loaded ends behind it. */
static int watch_process(void)
{
	int rc = 0;

	if (!process.is_watched)
		rc = -pthread_atfork(before_fork, after_fork, after_fork_child);
	if (!rc && !process.is_watched && atexit(close_at_exit))
		rc = -ENOMEM;
	process.is_watched |= !rc;
	return rc ? err(rc, "default: no memory") : 0;
}

static int open_runtime(void)
{
	struct lkdf *rt;
	int rc = lkdf_open(NULL, &rt);

	if (rc)
		return rc;
	rc = watch_process();
	if (rc) {
		lkdf_close(rt);
		return rc;
	}
	process.rt = rt;
	return 0;
}

int lkdf_default(struct lkdf **out)
{
	int rc = 0;

	if (!out)
		return err(-EINVAL, "default: out is NULL");
	pthread_mutex_lock(&process.lock);
	check(process_sane());
	if (!process.rt)
		rc = open_runtime();
	if (!rc) {
		process.nr_users++;
		*out = process.rt;
	}
	check(process_sane());
	pthread_mutex_unlock(&process.lock);
	return rc;
}

/* The runtime, if this was its last user. */
static struct lkdf *drop_user(const struct lkdf *rt)
{
	struct lkdf *last = NULL;

	pthread_mutex_lock(&process.lock);
	check(process_sane());
	if (rt == process.rt && --process.nr_users == 0)
		last = take_runtime();
	check(process_sane());
	pthread_mutex_unlock(&process.lock);
	return last;
}

int lkdf_default_put(struct lkdf *rt)
{
	int rc = rt ? border_may_wait("lkdf_default_put") : 0;

	if (rc || !rt)
		return rc;
	rt = drop_user(rt);
	if (!rt)
		return 0;
	lkdf_scope_wait(rt, NULL, -1);
	return lkdf_close(rt);
}
