/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A deadlock in serial mode is certain the moment it is there: nothing is ready
 * or under way, there is no timer, and the only thread waits for ever. So the
 * program ends and says for what.
 */
#ifndef RT_STUCK_H
#define RT_STUCK_H

/* The exit status of a program that ends so; lkdf check knows it. */
#define STUCK_STATUS 70

/* And of one that options order and stall have ended. */
#define STALL_STATUS 71

struct lkdf;

/*
 * The thread is about to wait for ever. Where it is the only one the log is
 * told what lkdf_why() says, and the process ends; else it comes back.
 */
void stuck_tell(struct lkdf *rt);

/*
 * The thread of option stall has told that nothing ends: with option order
 * nobody is left to change that, and the process ends.
 */
void stuck_stalled(struct lkdf *rt);

#endif
