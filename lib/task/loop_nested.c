/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops in the functions of loops, and in bodies that call lkdf_for(), which
 * has no context. The thread runs block after block, and looks before each for
 * idle workers: mostly the outer loop keeps all of them busy, and the inner one
 * costs little more than its iterations. Where one is idle it shares the rest:
 *
 * - with a crew, if the node's is free;
 * - else as a worker by a task that stands in for the loop: pieces are its
 *   children, and the worker runs nothing but them until they have ended. The
 *   body above may hold tokens or locks, so that not even work that is bound to
 *   the node runs there;
 * - else as a thread of the program by a task with the upper half, one at a
 *   time. A worker never waits for such a thread, so the thread may wait for
 *   workers.
 *
 * A worker of another runtime has the crew only: a task of the one could wait
 * for a worker that waits for a task of the other.
 */
#include "task/parallel_for.h"

#include "base/thrown.h"
#include "mechanism/holdoff/holdoff.h"
#include "sched/notify.h"
#include "scope/event.h"
#include "task/ctx.h"
#include "task/loop_crew.h"
#include "task/task.h"

struct nested {
	struct loop *loop;
	struct executor *ex; /* this thread's in the runtime, or NULL */
	struct task *above; /* of the piece that this thread is in, or NULL */
	struct piece rest;
	struct lkdf_event half; /* where has_half: of a task with a piece */
	bool has_half;
	int error; /* of tasks: 0 or the first */
};

static bool is_left(const struct nested *n)
{
	return n->rest.begin < n->rest.end &&
	       loop_goes_on(n->loop, n->loop->scope, &n->rest);
}

static void note_error(struct nested *n, int rc)
{
	if (!n->error)
		n->error = rc;
}

/* False: the stack is too deep, or there is no memory. */
static bool run_as_task(struct nested *n)
{
	struct lkdf_ctx c = { .ex = n->ex };
	struct worker *w = n->ex->worker;
	struct loop_place before;
	struct task *t = NULL;

	if (!w || depth_may_join(&w->depth))
		t = task_create_group(n->loop->rt, n->ex, n->loop->kind);
	if (!t)
		return false;
	t->link.type = LINK_NESTED;
	t->scope = n->loop->scope;
	if (n->above)
		task_set_parent(t, n->above);
	c.task = t;
	/* The body was perhaps taken for a short one, and waits now. */
	if (w) {
		holdoff_end(w);
		worker_share_all(w);
	}
	loop_enter(&before, n->loop, t);
	loop_run_piece(&c, t->scope, &n->rest);
	note_error(n, task_join(&c));
	loop_leave(&before);
	runtime_free(n->loop->rt, n->ex, POOL_TASK, t);
	return true;
}

/* True: the last half has ended, or there is none. */
static bool collect_half(struct nested *n, int64_t timeout_ns)
{
	int rc = n->has_half ? event_wait_as(n->half, timeout_ns, "lkdf_for")
			     : 0;

	if (rc > 0)
		return false;
	n->has_half = false;
	note_error(n, rc);
	return true;
}

static void submit_half(struct nested *n)
{
	struct piece upper = n->rest;

	if (!collect_half(n, 0))
		return;
	upper.begin = loop_middle(&n->rest);
	if (upper.begin == upper.end ||
	    loop_submit_piece(n->loop, n->loop->scope, &upper, &n->half))
		return;
	n->has_half = true;
	n->rest.end = upper.begin;
}

/* Somebody is idle. True: all has run, or the loop is over. */
static bool share_rest(struct nested *n)
{
	struct loop *l = n->loop;

	if (loop_is_of_one_node(l) && crew_runs_loop(l, n->ex, &n->rest))
		return true;
	if (n->ex)
		return run_as_task(n);
	if (!thread_self()->executor)
		submit_half(n);
	return false;
}

static bool has_idle(const struct nested *n)
{
	struct sched *s = &n->loop->rt->sched;

	return s->nr_workers > 1 &&
	       n->rest.end - n->rest.begin > n->rest.block &&
	       (notify_has_spinner(s) || notify_has_sleeper(s));
}

static void run_blocks(struct nested *n)
{
	struct loop *l = n->loop;

	loop_probe(l, l->scope, &n->rest);
	n->rest.block = max_u64(n->rest.block, 1);
	while (is_left(n)) {
		if (has_idle(n) && share_rest(n))
			return;
		loop_run_block(l, &n->rest);
	}
}

static int run_nested(struct loop *l)
{
	struct nested n = {
		.loop = l,
		.ex = runtime_executor(l->rt),
		.rest = loop_first_piece(l, l->range.begin, l->range.end),
	};
	struct loop_place before;

	THROWN_ENDS_HERE;
	loop_enter(&before, l, NULL);
	if (n.ex)
		n.above = before.task;
	run_blocks(&n);
	loop_leave(&before);
	(void)collect_half(&n, -1);
	return loop_result(l, n.error);
}

int loop_run_nested(struct loop *l)
{
	uint64_t id = hooks_loop_begin(&l->rt->hooks, l->label, l->range.begin,
				       l->range.end);
	int rc = loop_may_begin(l);

	l->is_static = false;
	if (!rc)
		rc = loop_start(l);
	if (!rc)
		rc = run_nested(l);
	hooks_loop_end(&l->rt->hooks, id);
	return rc;
}
