/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Several tasks, all or none. They are children of a task without a body, so
 * that one event tells the end of all. Everything that can fail comes before
 * the first takes its place.
 */
#include "task/task.h"

#include "base/err.h"
#include "core/runtime.h"
#include "sched/notify.h"
#include "scope/scope.h"
#include "task/uses.h"

#include <errno.h>
#include <stdlib.h>

struct many {
	struct lkdf *rt;
	struct executor *ex;
	struct lkdf_scope *scope;
	struct task *group;
	struct task **task;
	unsigned nr; /* made so far */
};

static int create_one(struct many *m, const struct lkdf_task *a)
{
	struct task *t = task_create(m->rt, m->ex, a->kind, a->arg, a->prio);

	if (!t)
		return -ENOMEM;
	t->scope = m->scope;
	a_store(&t->link.depth, 1, relaxed);
	a_store(&t->parent, m->group, relaxed);
	m->task[m->nr++] = t;
	return task_add_extras(t, m->ex, NULL, a, false);
}

static int create_all(struct many *m, const struct lkdf_task *a, unsigned nr,
		      bool has_done)
{
	struct task *g;
	int rc = 0;

	m->task = malloc(nr * sizeof(*m->task));
	m->group = m->task ? task_create_group(m->rt, m->ex, a[0].kind) : NULL;
	g = m->group;
	if (!g)
		return err(-ENOMEM, "submit: no memory for %u tasks", nr);
	g->scope = m->scope;
	a_store(&g->live, (int32_t)nr, relaxed);
	if (has_done) {
		rc = event_create(m->rt, m->ex, 1, 2, &g->done);
		g->link.flags |= rc ? 0 : TASK_HAS_DONE;
	}
	while (m->nr < nr && !rc)
		rc = create_one(m, &a[m->nr]);
	return rc ? rc : uses_expect(m->task, nr);
}

static void undo_tasks(struct many *m)
{
	unsigned i;

	for (i = 0; i < m->nr; i++)
		task_undo(m->rt, m->ex, m->task[i]);
	if (m->group)
		task_undo(m->rt, m->ex, m->group);
}

/* Tasks that are ready at once, anywhere, and outlast a wake-up. */
static uint32_t count_long(const struct many *m)
{
	static const uint32_t special = TASK_HAS_DATA | TASK_EXTRA |
					TASK_PLACED | TASK_GENERAL |
					TASK_URGENT;
	const struct task *t;
	uint32_t nr = 0;
	unsigned i;

	for (i = 0; i < m->nr; i++) {
		t = m->task[i];
		nr += !(t->link.flags & special) &&
		      policy_wake_tree(a_load(&t->kind->body_ticks, relaxed),
				       m->rt->sched.wake_ticks);
	}
	return nr;
}

/* For a burst: each push alone would wake the first worker only. */
static void wake_first(struct lkdf *rt, struct executor *ex, uint32_t nr_long)
{
	int node = ex ? ex->node : sched_home(&rt->sched);

	if (nr_long > 1)
		runtime_count_wakes(
			rt, ex, notify_first(&rt->sched.nodes[node], nr_long));
}

int task_submit_many(struct lkdf *rt, struct lkdf_scope *s,
		     const struct lkdf_task *a, unsigned nr,
		     struct lkdf_event *done)
{
	struct many m = { .rt = rt, .scope = s };
	struct lkdf_event event;
	uint32_t nr_long;
	unsigned i;
	int rc;

	m.ex = runtime_executor(rt);
	rc = scope_enter(s, nr, scope_may_wait());
	if (rc)
		return rc;
	rc = create_all(&m, a, nr, done != NULL);
	if (rc) {
		undo_tasks(&m);
		free(m.task);
		scope_leave(s, nr);
		return rc;
	}
	/* With the last one the group is gone. */
	m.group->link.flags |= TASK_SCOPED;
	m.group->index = nr;
	event = m.group->done;
	nr_long = count_long(&m);
	for (i = 0; i < nr; i++)
		task_start_in_turn(rt, m.ex, m.task[i]);
	wake_first(rt, m.ex, nr_long);
	free(m.task);
	if (done)
		*done = event;
	runtime_show(m.ex);
	sched_drain(&rt->sched);
	return 0;
}
