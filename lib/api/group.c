/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/group.h>

#include "api/border.h"
#include "sched/current.h"
#include "task/group.h"

#include <errno.h>

/* A group is its task; nobody else sees that. */
static struct task *task_of_group(struct lkdf_group *g)
{
	return (struct task *)(void *)g;
}

int lkdf_group_create(struct lkdf_ctx *c, struct lkdf_group **out,
		      struct lkdf **rt)
{
	struct task *g;

	if (!c)
		c = current_get();
	if (rt)
		*rt = c ? c->ex->rt : NULL;
	if (unlikely(!c))
		return err(-ESRCH, "group: this thread is in no body");
	if (unlikely(!out))
		return err(-EINVAL, "group_create: out is NULL");
	g = group_create(c);
	if (unlikely(!g))
		return -ENOMEM;
	*out = (struct lkdf_group *)(void *)g;
	return 0;
}

static __attribute__((noinline)) int refuse_kind(const struct lkdf_group *g,
						 const struct lkdf_kind *k)
{
	if (!g)
		return err(-EINVAL, "group_spawn: the group is NULL");
	if (!k)
		return err(-EINVAL, "group_spawn: kind is NULL");
	return err(-EINVAL,
		   "group_spawn: kind %s is of another runtime, or copies an "
		   "argument that is NULL",
		   k->name);
}

int lkdf_group_spawn(struct lkdf_group *g, struct lkdf_kind *k, const void *arg)
{
	if (unlikely(!g || !k || k->rt != task_of_group(g)->kind->rt ||
		     (!arg && k->arg_size) || k->is_away))
		return refuse_kind(g, k);
	return group_spawn(task_of_group(g), k, arg);
}

int lkdf_group_wait(struct lkdf_group *g)
{
	return likely(g != NULL)
		       ? group_wait(task_of_group(g))
		       : err(-EINVAL, "group_wait: the group is NULL");
}

int lkdf_group_event(struct lkdf_group *g, struct lkdf_event *out)
{
	if (!g || !out)
		return err(-EINVAL, "group_event: g or out is NULL");
	return group_event(task_of_group(g), out);
}

void lkdf_group_put(struct lkdf_group *g)
{
	if (likely(g != NULL))
		group_put(task_of_group(g));
}
