/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Groups: children of a body that it waits for apart from its other children. A
 * group has a counter and a first error of its own. The body that made it waits
 * for it; any thread may start tasks in it.
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
 * @out: new group, owned by the body: lkdf_group_put() before it returns for
 *       the last time; untouched on failure
 * @rt:  receives the body's runtime, NULL where there is no body; may be NULL
 *
 * The group's tasks are children of the body and run in its scope. A body that
 * leaves by lkdf_then() keeps its groups; where it goes on when all children
 * have ended, those of its groups have, too, and lkdf_join() waits for them as
 * well.
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
 * Context: any thread: the body that made @g, a task of @g, and any other
 * thread while the body does not wait for @g. The call is as cheap as
 * lkdf_spawn() in the body that made @g.
 * Return: as lkdf_spawn().
 */
int lkdf_group_spawn(struct lkdf_group *g, struct lkdf_kind *k,
		     const void *arg);

/**
 * lkdf_group_wait() - wait for all tasks of a group
 * @g: group, in the body that made it
 *
 * As lkdf_join(), for the tasks of @g and no other children. The group may be
 * used again.
 *
 * Return: as lkdf_join(), with the first error of a task of @g; 0 where an
 * event of lkdf_group_event() has that error.
 */
int lkdf_group_wait(struct lkdf_group *g);

/**
 * lkdf_group_event() - an event that fires when all tasks of a group have ended
 * @g:   group, in the body that made it
 * @out: event with one reference, for lkdf_then(); untouched on failure
 *
 * Until it has fired only tasks of @g start others in it. The event has the
 * first error of a task of @g, which the body then has seen. It has fired when
 * lkdf_join() or lkdf_group_wait() returns.
 *
 * Return: 0; -EAGAIN no event slot; -EBUSY an event of @g has not fired;
 * -EINVAL.
 */
int lkdf_group_event(struct lkdf_group *g, struct lkdf_event *out);

/**
 * lkdf_group_put() - wait for a group and give it back
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
