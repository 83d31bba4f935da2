/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks that a join runs while it waits: the descendants of its task, wherever
 * they lie in this worker's deques, in inboxes, backlogs and other workers'
 * deques. Descendants are tasks below the task, and what runs below it ask for:
 * a run that lkdf_spawn_graph() has started stands below the task that spawned
 * it.
 */
#ifndef TASK_DESCEND_H
#define TASK_DESCEND_H

#include "core/item.h"
#include "task/task.h"

struct worker;

/* Looks where tasks are quickly found. True: one was run. */
bool descend(struct worker *w, struct task *parent);

/*
 * The slow way, before a nap: foreign items may lie on top of ours, and if
 * everybody is in a join nobody takes them away.
 */
bool descend_slowly(struct worker *w, struct task *parent);

/* After joiner_announce(): is there anything that one of both would take? */
bool descend_sees(struct worker *w, const struct task *parent);

/* For who makes an item public, or steals it: is it below the task? A guess. */
bool descend_may_be(uint64_t item, const void *parent);

/* It has waited for long: says so where that may be for ever. */
void descend_tell(struct worker *w, const struct task *t);

/* NULL: the item is no task that may start. */
static inline struct task *descend_task(uint64_t item)
{
	if (item & ITEM_OF_FRAME || LINK_TYPE(item) != LINK_TASK)
		return NULL;
	return task_of(link_of_item(item));
}

#endif
