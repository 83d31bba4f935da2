/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/scope.h>

#include "api/border.h"
#include "api/fixes.h"
#include "scope/scope.h"
#include "task/after.h"
#include "task/give_way.h"
#include "task/task.h"

int lkdf_scope_create(struct lkdf *rt, const struct lkdf_scope_attr *attr,
		      struct lkdf_scope **out)
{
	struct lkdf_scope_attr a = { 0 };
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!out)
		return err(-EINVAL, "scope: out is NULL");
	if (attr) {
		rc = border_copy(attr, &a, sizeof(a), "lkdf_scope_attr");
		if (rc)
			return rc;
	}
	rc = border_flags("scope", a.flags, 0);
	if (!rc)
		rc = border_deadline("scope", a.deadline_ns);
	if (rc)
		return rc;
	if (a.parent && a.parent->rt != rt)
		return err(-EINVAL, "scope: parent %s %s", a.parent->name,
			   border_whose(a.parent->rt));
	a.max_tasks = fixes_value(rt, FIX_WINDOW, a.name, a.max_tasks);
	rc = scope_create(rt, a.parent ? a.parent : rt->root, &a, out);
	if (!rc)
		handle_add(rt, &(*out)->handle, HANDLE_SCOPE);
	return rc;
}

/* The scope meant, NULL for the root; an error if it is of another runtime. */
static int choose_scope(struct lkdf *rt, struct lkdf_scope **s)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!*s)
		*s = rt->root;
	if ((*s)->rt != rt)
		return err(-EINVAL, "scope %s %s", (*s)->name,
			   border_whose((*s)->rt));
	return 0;
}

int lkdf_scope_wait(struct lkdf *rt, struct lkdf_scope *s, int64_t timeout_ns)
{
	int rc = choose_scope(rt, &s);

	if (!rc)
		rc = border_may_wait("lkdf_scope_wait");
	if (!rc)
		rc = border_timeout("lkdf_scope_wait", timeout_ns);
	return rc ? rc : give_way_if(rt, scope_wait(s, timeout_ns), 1);
}

int lkdf_scope_cancel(struct lkdf *rt, struct lkdf_scope *s, int error)
{
	int rc = choose_scope(rt, &s);

	if (rc)
		return rc;
	if (error >= 0 || error < -4095)
		return err(-EINVAL, "scope %s: cancel with %d, not an -errno",
			   s->name, error);
	scope_cancel(s, error);
	after_cancel(rt);
	task_kick(rt, KICK_AGAIN);
	sched_drain(&rt->sched);
	return 0;
}

int lkdf_scope_error(struct lkdf *rt, struct lkdf_scope *s,
		     struct lkdf_error *out)
{
	int rc = choose_scope(rt, &s);

	if (rc)
		return rc;
	if (!out)
		return err(-EINVAL, "scope: out is NULL");
	return scope_error(s, out);
}

void lkdf_scope_put(struct lkdf_scope *s)
{
	if (s && handle_drop(s->rt, &s->handle, "scope_put", s->name))
		scope_put(s);
}
