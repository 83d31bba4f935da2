/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The steps after a body: telling parent, scope, event and owner, giving limits
 * back, and stopping what is cancelled.
 */
#ifndef TASK_COMPLETE_H
#define TASK_COMPLETE_H

#include "core/verdict.h"
#include "task/task.h"

/*
 * The tokens of its kind, before its body starts. False: it waits for them and
 * is not ours any more.
 */
bool complete_take_limits(struct executor *ex, struct task *t);

/*
 * A child has ended with an error, and is still counted. The parent keeps it
 * until its body is told of it.
 */
void complete_child_failed(struct task *parent, int error, struct failure *f);

/*
 * Takes the errors of its children, which have all ended, away from t. The
 * first is the caller's, *f: why, or NULL; the others go to the log, unless
 * somebody was told of them.
 */
int complete_take_child_error(struct task *t, struct failure **f);

/* All of them become errors of children of another task. */
void complete_pass_errors(struct task *from, struct task *to);

/* t has ended: they go to the log, unless somebody was told of them. */
void complete_put_child_errors(struct task *t);

/*
 * The body of t is told of the error of an event that has fired, e: if t keeps
 * that of its children, or one that e stands for, as the event of
 * lkdf_event_all() does, t does not end with it. On the body's own thread
 * outside a join, or while the body is left for the event.
 */
void complete_seen(struct task *t, struct lkdf_event e);

/*
 * A child has ended, its error is told and its event has fired. True: it was
 * the last, and the parent's body has ended.
 */
bool complete_child_left(struct task *parent);

/* Its scope is cancelled: it does not start, or its body says so. */
enum task_end complete_cancelled(struct executor *ex, struct task *t,
				 int error);

/* The task has ended so; failure, which may be NULL, is the task's now. */
void complete_failed(struct task *t, enum ending ending, int error,
		     struct failure *failure);

/* It is not cancelled, or starts all the same. */
bool complete_may_go(const struct task *t);

/*
 * A body begins, kickable if it has an on_cancel; or the error its scope was
 * cancelled with before it could. A continuation begins all the same.
 */
int complete_begin(struct task *t);
void complete_end(struct task *t);

/* How the task itself has ended, whatever its children have. */
enum ending complete_ending(const struct task *t);

/* 0, its own error, or that of a child nobody joined; and its story. */
int complete_error(struct task *t);
struct failure *complete_failure(struct task *t);
void complete_put_failures(struct lkdf *rt, struct task *t);

#endif
