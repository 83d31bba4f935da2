/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks that end later than their functions: when the program has fulfilled
 * their event, too. A task of lkdf holds its end open meanwhile. A task that
 * ran at once in a team of one is in the team's list, and waits of the team
 * wait for its event; one that could not hold waits in its function's place.
 */
#ifndef GOMP_DETACH_H
#define GOMP_DETACH_H

#include "gomp/gomp.h"

/* An event of the program; its address is the handle. */
struct detach;

/* handle: where the program has it; data: whose first word is it, or NULL. */
struct detach *detach_make(void **handle, void **data);

/* Before the task's function. True: the task's end waits for the event. */
bool detach_hold(struct detach *d, struct lkdf_ctx *c);

/* After it, where it has not: in a team of several. */
void detach_await(struct detach *d);

/* After it, in a team of one: for a wait that comes. */
void detach_keep(struct team *t, struct detach *d);

/* All that the team of one has kept. */
void detach_wait(struct team *t);

#endif
