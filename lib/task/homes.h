/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task that is submitted goes to the node that has most of its bytes when its
 * data is there. That is a wish, which a thief may overrule.
 */
#ifndef TASK_HOMES_H
#define TASK_HOMES_H

struct lkdf;
struct task;

/* Gives a task a home, if its data says so and the user did not. */
void homes_find(const struct lkdf *rt, struct task *t);

#endif
