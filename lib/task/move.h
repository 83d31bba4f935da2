/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes of a data that follow its tasks (LKDF_DATA_MIGRATE), or go where a
 * prefetch says. Only tasks on workers count. A move takes all of a data that
 * is not split, or a part that consists of pages.
 *
 *	WRITE    new bytes on the writer's node, the old ones are freed
 *	RW       on the second use in a row from the same other node: copied
 *	READ     the same, by a task of ours, for readers may not be disturbed
 *
 * Own bytes get another address so; only a use that goes alone may do it, and
 * no parent has seen the bytes (all above are WEAK). The mover is the only one
 * to touch at and node then, and the queue of the data orders that before all
 * later uses; at is released ([data.at]) for those who only look. Bytes of the
 * user's, and pages that come where they are touched, keep their address: whole
 * pages are moved, asked of the kernel; node is a guess for them.
 *
 * foreign of a var is a guess: users on other nodes count in it, relaxed, and
 * one of them sets it to FOREIGN_PENDING, submits the task, which clears it.
 *
 * Our task reads where it copies, or moves what the user has given. Else it has
 * a use of mode RW that ends as untouched: it waits for readers and writers,
 * makes no version, heals nothing. Its kind is LKDF_ALWAYS and its body never
 * fails: that bytes move is a wish.
 *
 * Tasks of a sealed graph: see follow.h. Children of such tasks see own bytes
 * as a parent's, and move nothing.
 */
#ifndef TASK_MOVE_H
#define TASK_MOVE_H

#include "data/data.h"

struct lkdf_place;
struct task;

/* Uses in a row from one other node until the bytes go there. */
#define MOVE_AFTER 2

/* Before the body: copies and moves, for uses that were granted. */
void move_uses(struct executor *ex, struct task *t);

/* Moves the bytes of one use that is neither weak nor hidden. */
void move_use(struct executor *ex, struct use *u);

/* As lkdf_data_prefetch(). */
int move_prefetch(struct lkdf_data *d, const struct lkdf_place *p,
		  struct lkdf_event *done);

/* At close, when no task lives: the kind that moves bytes is freed. */
void move_close(struct lkdf *rt);

/* In a forked child, before the dead kinds go. */
void move_abandon(struct lkdf *rt);

#endif
