/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies that go on later: as another function after children or an event, or
 * with an end that waits for an event. A task waits for one event at most, so
 * it has one tap. A cancel of its scope takes the tap off the event
 * (event_tap.h) and lets the task go on, unless its kind is ALWAYS or the
 * event is that of a task or a run, which a cancel brings to an end, too: a
 * body may rely on what it waits for being over before it frees memory.
 */
#ifndef TASK_THEN_H
#define TASK_THEN_H

#include "task/task.h"

/* The body left to go on when its event fires; the second of both goes on. */
enum task_end then_leave(struct executor *ex, struct task *t);

/*
 * A body that is still running leaves to go on as fn when the event fires.
 * Takes over the caller's reference. Then then_leave() is its end.
 */
void then_wait(struct task *t, lkdf_fn fn, struct lkdf_event on);

/*
 * The work of the task's kind begins elsewhere; fn: as what the task goes on.
 * then_leave() is to be called once when it is over. And the body leaves until
 * then.
 */
void then_begin_away(struct task *t, lkdf_fn fn);
int then_stay_away(struct lkdf_ctx *c);

/* The last body ends: from here on a held event counts like a child. */
void then_arm_hold(struct task *t);

/* Whose tap it is, under the shard's lock; NULL: no task's, or its body still
 * runs. */
const struct task *then_of_tap(const struct event_tap *tap, bool *is_hold);

/* Children gone or event fired: the task is ready again, as then_fn. */
void then_continue(struct executor *ex, struct task *t);

#endif
