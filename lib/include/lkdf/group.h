/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A group is a set of children of a body. The body waits for it separately from
 * its other children, and the group has a first error of its own. Only the body
 * that created a group waits for it; any thread may start tasks in it.
 */
#ifndef LKDF_GROUP_H
#define LKDF_GROUP_H

#include <lkdf/event.h>
#include <lkdf/kind.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct lkdf_group; /* opaque */

/**
 * lkdf_group_create() - make a group of children of the running body
 * @c:   context of the body, on the body's own thread; NULL: that of
 *       lkdf_current()
 * @out: new group, owned by the body, which calls lkdf_group_put() before its
 *       task ends; untouched on failure
 * @rt:  receives the body's runtime, or NULL if the thread is in no body; may
 *       be NULL
 *
 * The group's tasks are children of the body and run in its scope. lkdf_join(),
 * and lkdf_then() with { 0 }, wait for them, too. A body keeps its groups
 * across lkdf_then().
 *
 * Return: 0; -ESRCH this thread is in no body; -EINVAL; -ENOMEM.
 */
int lkdf_group_create(struct lkdf_ctx *c, struct lkdf_group **out,
		      struct lkdf **rt);

/**
 * lkdf_group_spawn() - start a task in a group
 * @g:   group
 * @k:   kind
 * @arg: copied where the kind has an arg_size, borrowed otherwise
 *
 * Context: any thread, but while the body waits for @g only tasks of @g. In the
 * body that created @g the call costs as little as lkdf_spawn().
 * Return: as lkdf_spawn().
 */
int lkdf_group_spawn(struct lkdf_group *g, struct lkdf_kind *k,
		     const void *arg);

/**
 * lkdf_group_wait() - wait for all tasks of a group
 * @g: group, in the body that made it
 *
 * As lkdf_join(), but only for the tasks of @g. The group can be used again.
 *
 * Return: as lkdf_join(), with the first error of a task of @g; 0 if an event
 * of lkdf_group_event() has this error.
 */
int lkdf_group_wait(struct lkdf_group *g);

/**
 * lkdf_group_event() - an event that fires when all tasks of a group have ended
 * @g:   group, in the body that made it
 * @out: event with one reference, for lkdf_then(); untouched on failure
 *
 * Until the event has fired, only tasks of @g may start others in it. The event
 * has the first error of a task of @g, which then counts as handled. When
 * lkdf_join() or lkdf_group_wait() returns, the event has fired.
 *
 * Return: 0; -EAGAIN all event slots are in use; -EBUSY an earlier event of @g
 * has not fired; -EINVAL.
 */
int lkdf_group_event(struct lkdf_group *g, struct lkdf_event *out);

/**
 * lkdf_group_put() - wait for the tasks of a group and free it
 * @g: group, in the body that made it, or NULL
 *
 * An error that no lkdf_group_wait() has returned goes to the log.
 */
void lkdf_group_put(struct lkdf_group *g);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
