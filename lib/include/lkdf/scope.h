/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A scope is a set of tasks and runs that have not ended. A program waits for
 * them, cancels them, and reads their first error. Scopes nest: a cancel
 * includes the scopes inside, and an error counts for the scopes around.
 */
#ifndef LKDF_SCOPE_H
#define LKDF_SCOPE_H

#include <lkdf/event.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct lkdf_scope_attr {
	uint32_t size, flags;
	const char *name;
	struct lkdf_scope *parent; /* NULL: the root */
	uint64_t max_tasks; /* 0: any number */
	int64_t deadline_ns; /* from create; 0: none */
};

/**
 * lkdf_scope_create() - make a scope
 * @rt:  runtime, borrowed; must outlive the scope
 * @a:   NULL: no name, no limit and no deadline, child of the root scope
 * @out: new scope, owned by the caller
 *
 * At most max_tasks tasks and runs of the scope and the scopes inside it are
 * unfinished at a time. A task of lkdf_submit_many() counts until all tasks of
 * that call are complete; children are part of their parent. A thread that
 * submits to a full scope waits; a body must not wait and gets -EAGAIN. A
 * cancel ends the wait. If max_tasks is 64 or more, the library wakes a waiting
 * thread when a quarter of it is free, or after 100 us when anything is free.
 *
 * At the deadline the library cancels the scope with -ETIME, unless the scope
 * is cancelled already. The next lkdf_scope_wait() that does not time out
 * clears the cancel and the deadline.
 *
 * Return: 0; -EINVAL; -ECANCELED the parent is cancelled; -ENOMEM.
 */
int lkdf_scope_create(struct lkdf *rt, const struct lkdf_scope_attr *a,
		      struct lkdf_scope **out);

/**
 * lkdf_scope_wait() - wait until all tasks and runs of a scope have ended, and
 * of the scopes inside it
 * @rt:         runtime
 * @s:          scope, NULL for the root
 * @timeout_ns: >= 0, or -1 for ever
 *
 * Context: any thread that is not in a body.
 * Return: 1 the time is over; else 0, or the first error that no call has
 * returned so far, for an event, a run or a scope inside. The call clears the
 * error, so that a cancelled scope can be used again; lkdf_scope_error() still
 * has it. -EDEADLK in a body; -EINVAL @timeout_ns is less than -1.
 */
int lkdf_scope_wait(struct lkdf *rt, struct lkdf_scope *s, int64_t timeout_ns);

/**
 * lkdf_scope_cancel() - cancel all tasks and runs of a scope
 * @rt:  runtime
 * @s:   scope, NULL for the root
 * @err: negative errno with which its tasks end
 *
 * No further task of the scope starts. Bodies that have started finish:
 * lkdf_cancelled() returns @err in them, and the library calls the on_cancel of
 * their kinds. lkdf_then() and lkdf_hold() say which events a cancelled task
 * does not wait for. Operations end early, with @err.
 *
 * Context: any thread and any body, but not on_cancel. The call runs the
 * on_cancel of running bodies and does not wait for the bodies.
 * Return: 0; -EINVAL @err is not negative.
 */
int lkdf_scope_cancel(struct lkdf *rt, struct lkdf_scope *s, int err);

/**
 * lkdf_scope_error() - first error of the scope
 * @rt:  runtime
 * @s:   scope, NULL for the root
 * @out: size set by the caller; err is 0 if nothing failed; the counts include
 *       all tasks since the scope was created
 *
 * Return: 0; -EINVAL.
 */
int lkdf_scope_error(struct lkdf *rt, struct lkdf_scope *s,
		     struct lkdf_error *out);

/**
 * lkdf_scope_put() - give a scope back
 * @s: scope, or NULL; the library frees it after its last task. An error that
 *     no call has returned goes to the log
 */
void lkdf_scope_put(struct lkdf_scope *s);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
