/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task of a graph that commutes with others takes the tokens of its vars
 * around its body, in passing where they are free. Where they are not, or it
 * is to be skipped, or needs a task of its own anyway, it has a claim
 * (run/task_claim.h), and waits without a thread.
 */
#ifndef RUN_COMMUTE_H
#define RUN_COMMUTE_H

struct lkdf_ctx;

/* The function of its kind, see kind_around(). */
int commute_body(struct lkdf_ctx *c, void *arg);

#endif
