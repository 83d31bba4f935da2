/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option check: bodies run on fibers of the program's thread sanitizer, which
 * hears of each order that lkdf promises and of no other. A kind's fn is
 * checked_body(), which calls the program's function: nothing on the way
 * there knows of it.
 *
 *	tells                          hears
 *	creator of a task, at once     its first body
 *	body, at its end               its next part
 *	child, at its end              join, then
 *	task, at its end               event, scope, uses of its data
 *	task of a graph, at its end    successors, the run's end
 *	operation, kernel, at its end  as a body that goes on
 *	signal of an event             wait, after, then
 *	send                           receive of that value
 */
#ifndef TASK_CHECKED_H
#define TASK_CHECKED_H

#include <lkdf/kind.h>

struct check;
struct check_task;
struct claim;
struct lkdf_scope;
struct task;

/* The fn of each kind, and of each body that goes on. */
int checked_body(struct lkdf_ctx *c, void *arg);
int checked_then(struct lkdf_ctx *c, void *arg);

/* The running thread or body makes it, or one that stands for others. */
void checked_made(struct task *t);

/* All its children have ended, and the running thread or body has seen that. */
void checked_joined(struct task *t);

/* It ends without a body: those behind it come after those before it. */
void checked_skipped(struct task *t);

/* The running thread, or launcher, has what its work elsewhere has made. */
void checked_left(struct task *t);

/* Its work elsewhere is over, and it has no function to go on as. */
void checked_came(struct task *t);

/* Calls drop on its argument, after all that it did, and before its end. */
void checked_drop(struct task *t);

/* The event that it holds has fired: what comes after it comes after that. */
void checked_held(struct task *t, struct lkdf_event e);

/* ---- for run/checked_run.c ---------------------------------------------- */

/* A child run of the task tells what comes after that. */
void checked_tell_parent(struct task *t);
void checked_tell_scope(struct lkdf_scope *s);

/* All uses of a claim, for a thread of the program. */
void checked_hear_uses(struct check *ch, const struct claim *cl);
void checked_tell_uses(struct check *ch, const struct claim *cl);

#endif
