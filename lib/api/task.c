/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/task.h>

#include "api/border.h"
#include "core/ops.h"
#include "core/scratch.h"
#include "graph/recording.h"
#include "io/io.h"
#include "io/io_multi.h"
#include "io/io_result.h"
#include "mechanism/team/team.h"
#include "run/always.h"
#include "run/frame.h"
#include "sched/current.h"
#include "scope/deadline.h"
#include "scope/event_pulse.h"
#include "task/after.h"
#include "task/again.h"
#include "task/fn_kind.h"
#include "task/give_way.h"
#include "task/group.h"
#include "task/parallel_for.h"
#include "task/step.h"
#include "task/task.h"
#include "task/uses.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tasks of a kind that was put may be under way, and their bodies use it; no
 * other thread does.
 */
static bool is_lost(const struct lkdf_kind *k, bool is_child)
{
	return unlikely(a_load(&k->is_dead, relaxed)) && !is_child &&
	       !thread_self()->executor;
}

static __attribute__((noinline)) int
check_kind(struct lkdf *rt, const struct lkdf_kind *k, const void *arg)
{
	if (unlikely(!k))
		return err(-EINVAL, "task: kind is NULL");
	if (unlikely(k->rt != rt))
		return err(-EINVAL, "task: kind %s %s", k->name,
			   border_whose(k->rt));
	if (unlikely(k->arg_size && !arg))
		return err(-EINVAL,
			   "task: kind %s copies %u bytes, arg is NULL",
			   k->name, k->arg_size);
	return unlikely(k->is_away) ? k->ops->check_arg(arg) : 0;
}

/* As border_task(). */
static int check_task(struct lkdf *rt, const struct lkdf_task **task,
		      struct lkdf_task *room, bool is_child)
{
	const struct lkdf_task *t;
	int rc = border_task(task, room);

	t = *task;
	if (!rc)
		rc = check_kind(rt, t->kind, t->arg);
	if (!rc && is_lost(t->kind, is_child))
		rc = err(-EINVAL, "task: kind %s was put", t->kind->name);
	if (!rc && t->nr_use)
		rc = border_uses(rt, t, is_child);
	return rc ? rc : border_place(rt, t);
}

int lkdf_submit(struct lkdf *rt, struct lkdf_scope *s,
		const struct lkdf_task *task, struct lkdf_event *done)
{
	struct lkdf_task room;
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (s && s->rt != rt)
		return err(-EINVAL, "submit: scope %s %s", s->name,
			   border_whose(s->rt));
	if (s && unlikely(recording_is_on(s)) &&
	    border_record(s, task, done != NULL, &rc))
		return rc;
	rc = check_task(rt, &task, &room, false);
	if (rc)
		return rc;
	rc = task_submit(rt, s ? s : rt->root, task, done);
	return give_way_if(rt, rc, -EAGAIN);
}

int lkdf_submit_fn(struct lkdf *rt, struct lkdf_scope *s, const char *name,
		   lkdf_fn fn, const void *arg, struct lkdf_event *done)
{
	struct lkdf_task t = { .size = sizeof(t), .arg = arg };
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!name || !name[0])
		return err(-EINVAL, "submit_fn: the name is NULL or empty");
	if (!fn)
		return err(-EINVAL, "submit_fn: %s: fn is NULL", name);
	rc = fn_kind_find(rt, name, fn, &t.kind);
	return rc ? rc : lkdf_submit(rt, s, &t, done);
}

/* Puts before this thread's text which of several tasks it is about. */
static void refuse_one(unsigned i, unsigned nr)
{
	char text[ERRMSG_SIZE];

	snprintf(text, sizeof(text), "%s", err_text());
	err(0, "submit: task %u of %u: %s", i, nr, text);
}

int lkdf_submit_many(struct lkdf *rt, struct lkdf_scope *s,
		     const struct lkdf_task *const *task, unsigned nr,
		     struct lkdf_event *done)
{
	const struct lkdf_task *one;
	struct lkdf_task *t;
	unsigned i;
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!task)
		return err(-EINVAL, "submit: the list of %u tasks is NULL", nr);
	if (!nr || nr > LKDF_MAX_MANY)
		return err(-EINVAL, "submit: %u tasks: expected 1 .. %d", nr,
			   LKDF_MAX_MANY);
	if (s && s->rt != rt)
		return err(-EINVAL, "submit: scope %s %s", s->name,
			   border_whose(s->rt));
	if (s && recording_is_on(s))
		return err(-EINVAL,
			   "submit: scope %s is recorded; submit one "
			   "by one",
			   s->name);
	t = malloc(nr * sizeof(*t));
	if (!t)
		return err(-ENOMEM, "submit: no memory for %u tasks", nr);
	for (i = 0; i < nr && !rc; i++) {
		one = task[i];
		rc = check_task(rt, &one, &t[i], false);
		if (rc)
			refuse_one(i, nr);
		else if (one != &t[i])
			t[i] = *one;
	}
	if (!rc)
		rc = task_submit_many(rt, s ? s : rt->root, t, nr, done);
	free(t);
	return give_way_if(rt, rc, -EAGAIN);
}

int lkdf_spawn(struct lkdf_ctx *c, struct lkdf_kind *k, const void *arg)
{
	if (unlikely(!c || !k || k->rt != c->ex->rt || (!arg && k->arg_size)))
		return c ? check_kind(c->ex->rt, k, arg)
			 : border_ctx(c, "spawn");
	return task_spawn(c, k, arg);
}

static int check_body(const struct lkdf_ctx *c, const char *what)
{
	int rc = border_ctx(c, what);

	return rc ? rc : border_runtime(c->ex->rt);
}

int lkdf_spawn_task(struct lkdf_ctx *c, const struct lkdf_task *task,
		    struct lkdf_event *done)
{
	struct lkdf_task room;
	int rc = check_body(c, "spawn_task");

	if (!rc)
		rc = check_task(c->ex->rt, &task, &room, true);

	return rc ? rc
		  : give_way_if(c->ex->rt, task_spawn_with(c, task, done),
				-EAGAIN);
}

static int join_with_groups(struct lkdf_ctx *c)
{
	group_await_all(c);
	return task_join(c);
}

/* 0, or why the body may not wait; if it returns that, the text is its own. */
static int may_join(struct lkdf_ctx *c)
{
	int rc = task_may_join(c);

	if (!rc)
		return 0;
	c->has_why = true;
	c->after = AFTER_LOOK;
	return rc;
}

int lkdf_join(struct lkdf_ctx *c)
{
	int rc = border_ctx(c, "join");

	if (unlikely(rc))
		return rc;
	if (likely(task_joins_freely(c) && !c->has_groups))
		return task_join(c);
	rc = may_join(c);
	if (rc)
		return rc;
	return c->has_groups ? join_with_groups(c) : task_join(c);
}

int lkdf_join_keep(struct lkdf_ctx *c)
{
	int rc = border_ctx(c, "join_keep");

	if (!rc)
		rc = may_join(c);
	if (rc)
		return rc;
	if (c->has_groups)
		group_await_all(c);
	if (c->task) {
		task_await_children(c->ex, c->task);
		task_count_anew(c->task);
	}
	return 0;
}

int lkdf_hold(struct lkdf_ctx *c, struct lkdf_event *e)
{
	int rc = check_body(c, "hold");

	if (!rc && !e)
		rc = err(-EINVAL, "hold: the event is NULL");
	return rc ? rc : task_hold(c, e);
}

int lkdf_then(struct lkdf_ctx *c, lkdf_fn fn, struct lkdf_event on)
{
	int rc = check_body(c, "then");

	if (!rc && !fn)
		rc = err(-EINVAL, "then: fn is NULL");
	return rc ? rc : task_then(c, fn, on);
}

int lkdf_then_all(struct lkdf_ctx *c, lkdf_fn fn, const struct lkdf_event *v,
		  unsigned nr)
{
	struct lkdf_event all;
	unsigned i;
	int rc;

	if (!c)
		return err(-EINVAL, "then_all: the context is NULL");
	rc = lkdf_event_all(c->ex->rt, v, nr, &all);
	if (rc)
		return rc;
	rc = lkdf_then(c, fn, all);
	if (rc) {
		lkdf_event_put(all);
		return rc;
	}
	for (i = 0; i < nr; i++)
		if (!event_is_pulse(v[i]))
			lkdf_event_put(v[i]);
	return 0;
}

int lkdf_input_error(const struct lkdf_ctx *c, unsigned input)
{
	struct failure *failure;
	struct task *t;
	struct use *u;

	if (unlikely(!c))
		return border_ctx(c, "input_error");
	t = c->task;
	if (!t || (t->link.flags & TASK_CONTINUES && !again_is_first(t)))
		return input == 0 ? c->input_err : 0;
	if (t->link.flags & TASK_OWNED && t->kind->flags & LKDF_ALWAYS)
		return always_input_error(t, input);
	u = uses_of(t, input);
	if (u)
		return u->flags & USE_READS ? uses_error(u, &failure) : 0;
	if (!(t->link.flags & TASK_EXTRA) || !t->after)
		return 0;
	return after_error(
		t, input - (t->link.flags & TASK_HAS_DATA ? t->claim->nr : 0));
}

static struct lkdf_scope *scope_of(const struct lkdf_ctx *c)
{
	if (c->frame)
		return c->frame->scope;
	return c->task ? c->task->scope : c->owner->scope(c);
}

int lkdf_cancelled(const struct lkdf_ctx *c)
{
	return likely(c != NULL) ? deadline_look(scope_of(c))
				 : border_ctx(c, "cancelled");
}

int lkdf_fail(struct lkdf_ctx *c, int error, const char *fmt, ...)
{
	char text[ERRMSG_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (likely(c != NULL)) {
		c->has_why = true;
		c->after = AFTER_LOOK;
	}
	return err(error < 0 ? error : -EINVAL, "%s", text);
}

static const struct lkdf_kind *kind_of(const struct lkdf_ctx *c)
{
	return c->task ? c->task->kind : c->frame->recs[c->index].kind;
}

void *lkdf_scratch(struct lkdf_ctx *c)
{
	bool is_none = border_ctx(c, "scratch") || loop_is_block(c);
	size_t size = is_none ? 0 : kind_of(c)->scratch_size;

	return size ? scratch_get(c->ex, size) : NULL;
}

uint64_t lkdf_seq(const struct lkdf_ctx *c)
{
	return !border_ctx(c, "seq") && c->frame ? c->frame->seq : 0;
}

const void *lkdf_run_arg(const struct lkdf_ctx *c)
{
	return !border_ctx(c, "run_arg") && c->frame ? c->frame->arg : NULL;
}

struct lkdf_ctx *lkdf_current(struct lkdf **rt)
{
	struct lkdf_ctx *c = current_get();

	if (rt)
		*rt = c ? c->ex->rt : NULL;
	return c;
}

struct lkdf *lkdf_runtime(const struct lkdf_ctx *c)
{
	return border_ctx(c, "runtime") ? NULL : c->ex->rt;
}

static bool is_operation(const struct lkdf_ctx *c, const char *what)
{
	if (border_ctx(c, what))
		return false;
	if (c->task && c->task->kind->ops == &io_kinds)
		return true;
	err(-EINVAL, "%s: this task is no operation", what);
	return false;
}

int64_t lkdf_io_result(const struct lkdf_ctx *c)
{
	if (!is_operation(c, "io_result"))
		return -EINVAL;
	return io_result(c->task);
}

int lkdf_io_error(const struct lkdf_ctx *c, uint64_t *nr)
{
	if (!is_operation(c, "io_error"))
		return -EINVAL;
	if (nr)
		*nr = (uint64_t)c->task->io_value;
	return c->task->io_error;
}

int lkdf_io_take(const struct lkdf_io_wave *w)
{
	if (!w)
		return err(-EINVAL, "io_take: the wave is NULL");
	return io_multi_take(w);
}

int lkdf_worker(const struct lkdf_ctx *c)
{
	int rc = border_ctx(c, "worker");

	if (!rc && c->ex->id == OUTSIDE_ID)
		rc = err(-ESRCH, "worker: a thread of the program, in a loop's "
				 "function");
	return rc ? rc : c->ex->id;
}

int lkdf_team_size(const struct lkdf_ctx *c)
{
	int rc = border_ctx(c, "team_size");

	if (rc)
		return rc;
	return c->ex->worker ? team_size(c->ex->worker) : 1;
}

int lkdf_where(const struct lkdf_ctx *c, int *cpu, int *node)
{
	unsigned this_cpu, this_node;

	(void)c;
	if (getcpu(&this_cpu, &this_node))
		return err(-errno, "where: getcpu(2): %s", strerror(errno));
	if (cpu)
		*cpu = (int)this_cpu;
	if (node)
		*node = (int)this_node;
	return 0;
}
