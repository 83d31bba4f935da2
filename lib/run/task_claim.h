/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calls of a graph task's body on its data besides touching it: it has children
 * that use the data, or gives a use on. Then the task gets a claim as a dynamic
 * one has it. Its uses are in no queue, because the graph's edges and the run's
 * claim keep everybody else out: each is alone in a domain of its own, below
 * which the children queue. Those that commute share one, and take its token
 * before they start.
 */
#ifndef RUN_TASK_CLAIM_H
#define RUN_TASK_CLAIM_H

#include "base/util.h"

#include <stdbool.h>

struct claim;
struct executor;
struct failure;
struct lkdf_ctx;
struct task;

/* The claim of a graph's task, if it has uses. 0 or -ENOMEM. */
int task_claim_open(struct task *t);

/* Opens the claim of a body that may have no task of its own yet. */
int task_claim_open_ctx(struct lkdf_ctx *c);

/*
 * Before a task starts: if it commutes, its claim and the tokens, which are
 * those of this run; then bytes that are away. 1; 0: it is started later;
 * -ENOMEM.
 */
int task_claim_enter(struct executor *ex, struct task *t);

/* Is it such a claim? Then its holder is the task. */
bool task_claim_has(const struct claim *c);

/* Before its body: 0; > 0: another one has failed before, see uses_begin(). */
int task_claim_begin(const struct task *t, struct failure **failure);

/* Not WEAK, not given on; with what joined children have reduced into it. */
bool task_claim_may_touch(struct lkdf_ctx *c, unsigned use);

/*
 * The task ends, with error. Its children had to write for it where its uses
 * are weak: its body may have looked at their error, but has healed nothing.
 * Returns its error then.
 */
int task_claim_end(struct task *t, int error);

#endif
