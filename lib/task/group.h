/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Groups of a body's children. A group is a task without a body, between the
 * task that made it and its children: they count in it, and their first error
 * is its own. Its owner is the thread that is in the body above it.
 *
 * While the owner waits in a join the group is never complete: nobody else
 * looks at its counters. Where the owner leaves its body, or wants an event,
 * the group closes: it becomes a child of the task above, and whoever ends its
 * last child ends the group, which is open again then and stays the owner's. A
 * join of the body waits for a closed one as for other children.
 */
#ifndef TASK_GROUP_H
#define TASK_GROUP_H

#include "core/item.h"
#include "core/runtime.h"
#include "sched/current.h"
#include "task/step.h"
#include "task/task.h"

static inline struct task *group_above(const struct task *g)
{
	return a_load(&g->parent, relaxed);
}

/* The context of the body that owns g, if this thread is in it; else NULL. */
static inline struct lkdf_ctx *group_owner(const struct task *g)
{
	struct lkdf_ctx *c = current_get();

	return likely(c && c->task == group_above(g)) ? c : NULL;
}

/*
 * t is a group whose owner waits for it in place of its event, which has the
 * error.
 */
static inline bool group_has_event(const struct task *t)
{
	const uint16_t flags = TASK_GROUP | TASK_HAS_DONE;

	return (t->link.flags & flags) == flags;
}

/* NULL: no memory, or no room on the stack; err() has said why. */
struct task *group_create_slowly(struct lkdf_ctx *c);

/* A task that is never in a queue has no more fields than these. */
static inline struct task *group_begin(struct lkdf_ctx *c, struct task *t,
				       struct task *g)
{
	g->link.type = LINK_TASK;
	g->link.class = CLASS_NORMAL;
	g->link.flags = TASK_GROUP;
	g->kind = t->kind;
	g->scope = t->scope;
	g->nr_limits_held = 0;
	g->nr_spawned = 0;
	g->nr_local = TASK_OPEN;
	a_store(&g->live, TASK_OPEN, relaxed);
	a_store(&g->child_err, 0, relaxed);
	/* Its jump is set with its children's. */
	task_set_near_parent(g, t);
	g->kick_next = c->has_groups ? t->groups : NULL;
	t->groups = g;
	c->has_groups = true;
	return g;
}

static inline struct task *group_create(struct lkdf_ctx *c)
{
	struct magazine *m = &c->ex->magazine[POOL_TASK];

	if (unlikely(!c->task || !magazine_has(m)))
		return group_create_slowly(c);
	return group_begin(c, c->task, magazine_take(m));
}

/* Children run, or have failed and nobody has waited; or it is not the last. */
void group_put_slowly(struct task *g);

/* The owner gives it back, and waits for it. */
static inline void group_put(struct task *g)
{
	struct lkdf_ctx *c = group_owner(g);
	struct task *t = group_above(g);

	if (unlikely(!c || t->groups != g || c->ex->id == OUTSIDE_ID ||
		     g->link.flags != TASK_GROUP || task_has_children(g) ||
		     a_load(&g->child_err, relaxed))) {
		group_put_slowly(g);
		return;
	}
	t->groups = g->kick_next;
	c->has_groups = g->kick_next != NULL;
	magazine_put(&c->ex->magazine[POOL_TASK], g);
}

/* From another thread, or another body of this one. */
int group_spawn_elsewhere(struct task *g, struct lkdf_kind *k, const void *arg);

/* Any thread starts a task in it. */
static inline int group_spawn(struct task *g, struct lkdf_kind *k,
			      const void *arg)
{
	struct lkdf_ctx *c = group_owner(g);

	return likely(c != NULL) ? task_spawn_below(c, g, k, arg)
				 : group_spawn_elsewhere(g, k, arg);
}

/* As lkdf_join() does it, or it is closed. c: NULL is refused. */
int group_wait_slowly(struct lkdf_ctx *c, struct task *g);

/* The owner waits for its tasks. */
static inline int group_wait(struct task *g)
{
	struct lkdf_ctx *c = group_owner(g);

	return likely(c && task_joins_freely(c) && g->link.flags == TASK_GROUP)
		       ? task_join_on(c->ex, g)
		       : group_wait_slowly(c, g);
}

/* Owner only. Closes it; the event fires when its children have ended. */
int group_event(struct task *g, struct lkdf_event *out);

/*
 * A join of the body, which has groups, waits for them first: their errors are
 * those of the body's own children from then on.
 */
void group_await_all(struct lkdf_ctx *c);

/*
 * The body leaves by lkdf_then(): its groups are those of the task until it
 * goes on. is_for_all: it goes on when they have ended, too.
 */
void group_leave_all(struct lkdf_ctx *c, bool is_for_all);

/*
 * The last child of a closed group has ended, on any thread. True: so has the
 * last child of the task above, which is the caller's then.
 */
bool group_ended(struct task *g);

#endif
