/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that follow the tasks of sealed graphs (LKDF_DATA_MIGRATE), and copies
 * that those read (LKDF_DATA_REPLICATE): by the rules of move.h and replica.h,
 * before the body. Tasks with such uses have a kind with a function around
 * their own; others have nothing of it.
 *
 * A run's claim keeps everybody else away, and the graph's edges keep a writer
 * alone: so it may drop copies, and give what it writes another address, which
 * tasks behind it find in the run's values.
 */
#ifndef RUN_FOLLOW_H
#define RUN_FOLLOW_H

#include "data/data.h"

struct frame;
struct lkdf_ctx;
struct values;
struct access_use;
struct access_table;

/* In the mode of a use, next to the user's: it may read a copy. */
#define FOLLOW_COPIED 64

/* At the end of seal, when uses are in order: which of them. */
void follow_index(struct access_table *w);

/* Room for which copies a run reads. False: no memory. */
bool follow_create(struct values *v, const struct access_table *w);

/* The function of such a kind, see kind_around(). */
int follow_body(struct lkdf_ctx *c, void *arg);

/* The bytes of a use with FOLLOW_COPIED. */
void *follow_ptr(const struct frame *f, const struct access_use *u);

#endif
