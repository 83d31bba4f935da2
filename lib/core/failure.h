/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An error with its story: which task, which run, why. Shared by whoever may be
 * asked for it (a scope, an event); when the last of them lets go and nobody
 * has looked, it goes to the log: no error is silent.
 *
 * Born on error paths only, by malloc. Without memory the errno alone travels.
 */
#ifndef CORE_FAILURE_H
#define CORE_FAILURE_H

#include "base/atomic.h"
#include "base/lock.h"
#include "core/verdict.h"

#include <errno.h>
#include <lkdf/event.h>
#include <stdbool.h>

struct log;

/*
 * Errors that nobody has asked for, by kind, graph and errno: so many lines of
 * one sort go to the log within a second, then a count of those that were left
 * out.
 */
#define TOLD_SORTS 16
#define TOLD_LINES 8
#define TOLD_NS 1000000000

struct told_sort {
	int64_t since_ns; /* of the second that counts; 0: it has no sort */
	uint32_t nr_lines, nr_left_out;
	int error;
	char kind[48], graph[32];
};

struct told_errors {
	/* Under lock: nothing is told while it is held. */
	struct lock lock;
	struct told_sort sort[TOLD_SORTS];
};

/* The runtime closes: counts that are still to be told. */
void failure_tell_rest(const struct log *log);

struct failure {
	/* Any thread. */
	_Atomic(uint32_t) nr_refs;
	_Atomic(uint32_t) is_observed;
	_Atomic(uint32_t) nr_more; /* later errors that it stands for */
	/* Set under failed_lock: the task that keeps it as a child's, or NULL.
	 */
	_Atomic(const void *) child_of;
	struct tally tally; /* in place of the counts in error */

	/* Under failed_lock of the runtime: of the same task, a later one. */
	struct failure *beside;
	int32_t child_error; /* with which the child has ended */

	/* Under the lock of the scope that has it aside: the next. */
	struct failure *later;
	bool is_aside; /* it is in such a list, or was */

	/* Set by its maker, constant afterwards. */
	bool is_child_runs; /* the task that has spawned the run is told alone
			     */
	struct lkdf_error error;
	char kind[48]; /* of the task; "": there is none */
};

/*
 * The caller owns one reference; kind: the name of the task's, or "". NULL
 * without memory.
 */
struct failure *failure_create(const struct lkdf_error *e, const char *kind);

/*
 * A task or a run that was skipped for a cause has an error of its own with the
 * story of the cause: though that was seen, nobody has seen yet that this one
 * did not run. NULL: the cause has no story, as an event that the user signals
 * with an error. The caller owns one reference; NULL without memory.
 */
struct failure *failure_of_skipped(struct failure *cause, int error);

/*
 * The failure takes the counts of the run or stream that has ended. A thread
 * that shares the failure may read it then, and finds old counts or new ones.
 */
void failure_count(struct failure *f, const struct tally *t);

/* The error with its counts. */
static inline struct lkdf_error failure_error(const struct failure *f)
{
	struct lkdf_error e = f->error;

	tally_tell(&f->tally, &e);
	return e;
}

/* A holder takes and drops a reference; both accept NULL. */
struct failure *failure_get(struct failure *f);
void failure_put(struct failure *f, const struct log *log);

/* Somebody was told. NULL-safe. */
void failure_observe(struct failure *f);

static inline bool failure_is_seen(const struct failure *f)
{
	return f && a_load(&f->is_observed, relaxed);
}

/*
 * f is let go beside first, which the program is told or the log has: if it is
 * the same error word for word, first counts it, and it is no line of its own.
 * first: NULL, or another one.
 */
void failure_put_beside(struct failure *first, struct failure *f,
			const struct log *log);

/* A body's return value, as an errno that fits everywhere. */
static inline int failure_errno(int error)
{
	return error < -4095 ? -ERANGE : error;
}

/*
 * Sets err and why of an error whose task is set: a body has returned error,
 * and said why, or nothing.
 */
void failure_tell(struct lkdf_error *e, int error, const char *why);

/* Copies as much of e as the caller's struct holds; -EINVAL: its size. */
int failure_copy(const struct lkdf_error *e, struct lkdf_error *out);

#endif
