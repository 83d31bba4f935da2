/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A scope is a set of live tasks and runs: wait for them, cancel them, take
 * their first error. Scopes nest: cancelling goes down, errors go up.
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
 * @a:   NULL: unnamed, below the root, no limit, no deadline
 * @out: new scope, owned by the caller
 *
 * At most max_tasks tasks and runs live in the scope and below it at a time. A
 * task of lkdf_submit_many() counts until all tasks of that call are complete;
 * children are part of their parent. A thread that submits waits for room; a
 * body, which must not wait, gets -EAGAIN. A cancel ends the wait. With a
 * max_tasks of 64 and more the library wakes a waiting thread when a quarter is
 * free, or after 100 us with the first room there is.
 *
 * Past its deadline the library cancels the scope with -ETIME, unless the scope
 * is cancelled already. The lkdf_scope_wait() that returns after that clears
 * the cancel and the deadline.
 *
 * Return: 0; -EINVAL; -ECANCELED the parent is cancelled; -ENOMEM.
 */
int lkdf_scope_create(struct lkdf *rt, const struct lkdf_scope_attr *a,
		      struct lkdf_scope **out);

/**
 * lkdf_scope_wait() - wait until no task or run lives in a scope and below it
 * @rt:         runtime
 * @s:          scope, NULL for the root
 * @timeout_ns: >= 0, or -1 for ever
 *
 * Context: any thread that is not in a body.
 * Return: 1 still pending; else 0 or the first error that no call has returned
 * so far, for an event, a run or a scope below. It is cleared (a cancelled
 * scope is usable again) and still given by lkdf_scope_error(); -EDEADLK in a
 * body; -EINVAL @timeout_ns is below -1.
 */
int lkdf_scope_wait(struct lkdf *rt, struct lkdf_scope *s, int64_t timeout_ns);

/**
 * lkdf_scope_cancel() - let no further task of a scope start
 * @rt:  runtime
 * @s:   scope, NULL for the root
 * @err: negative errno that its tasks end with
 *
 * Started bodies finish; lkdf_cancelled() tells them, on_cancel kicks them, and
 * lkdf_then() and lkdf_hold() say which events they do not wait for any more.
 * Operations end early, with @err, too.
 *
 * Context: any thread and any body, but not an on_cancel. The call runs the
 * on_cancel of the bodies that are under way, and waits for none of them.
 * Return: 0; -EINVAL @err is not negative.
 */
int lkdf_scope_cancel(struct lkdf *rt, struct lkdf_scope *s, int err);

/**
 * lkdf_scope_error() - first error of the scope
 * @rt:  runtime
 * @s:   scope, NULL for the root
 * @out: size set by the caller; err 0 if nothing failed; the counts are of
 *       all tasks since the scope was made
 *
 * Return: 0; -EINVAL.
 */
int lkdf_scope_error(struct lkdf *rt, struct lkdf_scope *s,
		     struct lkdf_error *out);

/**
 * lkdf_scope_put() - give a scope back
 * @s: scope, or NULL; it ends with its last task; an error nobody looked at
 *     goes to the log
 */
void lkdf_scope_put(struct lkdf_scope *s);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
