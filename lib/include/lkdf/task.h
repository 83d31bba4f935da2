/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Submit and spawn tasks; calls that a body makes while it runs.
 *
 * A submitted task belongs to a scope. A spawned task is a child of the body
 * that spawned it. A task is complete when its body has returned and all its
 * children are complete.
 */
#ifndef LKDF_TASK_H
#define LKDF_TASK_H

#include <lkdf/kind.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lkdf_mode {
	LKDF_READ = 1,
	LKDF_WRITE = 2,
	LKDF_RW = 3,
	LKDF_COMMUTE = 4,
	LKDF_REDUCE = 8,
	LKDF_WEAK = 16,
	LKDF_MAYBE = 32,
};

/* A task's use of a data, see <lkdf/data.h>. */
struct lkdf_use {
	struct lkdf_data *data;
	uint32_t mode, part; /* part 0: the whole */
};

/* A task for one call, in C: LKDF_TASK(.kind = k, .arg = &x). */
#define LKDF_TASK(...) LKDF_ATTR(lkdf_task, __VA_ARGS__)

#define LKDF_MAX_USES 1024 /* of one task */
#define LKDF_MAX_AFTER 1024 /* events before one task */

enum lkdf_task_flag {
	LKDF_PROFILE = 1, /* keep the duration of each body as an event of
			   * the trace, also without a recording; a graph
			   * sums them up, see lkdf_graph_dump() */
	LKDF_PINNED = 2, /* runs on a worker of place, nowhere else */
};

/*
 * The task runs on its place if it can; an idle worker of another place may
 * steal it. With LKDF_PINNED only workers of the place run it: then the place
 * has workers, and the kind is not LKDF_BLOCKING. In serial mode one thread
 * runs everything.
 */
struct lkdf_task {
	uint32_t size, flags;
	struct lkdf_kind *kind;
	const void *arg;
	const struct lkdf_use *use;
	const struct lkdf_event *after; /* see lkdf_submit() */
	struct lkdf_place *place;
	uint32_t nr_use, nr_after;
	int64_t deadline_ns; /* from submit; 0: none */
	int32_t prio; /* 0: the kind's */
	uint32_t pad;
	const char *label; /* NULL: none; 63 bytes of it, see lkdf_submit() */
};

/**
 * lkdf_submit() - start a task
 * @rt:   runtime
 * @s:    scope it belongs to, NULL for the root
 * @t:    the task, copied. Its argument is copied if the kind has an arg_size;
 *        else it is borrowed until the task has ended
 * @done: NULL: not wanted; else receives one reference, dropped by
 *        lkdf_event_wait() or lkdf_event_put()
 *
 * Errors, lkdf_why() and recordings name a task with a label as "kind (label)".
 * In a graph the label replaces the task's name, as with lkdf_graph_label().
 * The string is copied.
 *
 * A task with uses starts when the tasks submitted before it that use the same
 * data permit it. The library queues the task for all of its data in one step,
 * so any number of threads may submit.
 *
 * The task starts after all events of @t->after have fired; the caller keeps
 * its references to them. If events have errors, the library skips the task,
 * which ends with the error of the first such event in the array. A task of a
 * kind with LKDF_ALWAYS runs all the same, and its body reads the error with
 * lkdf_input_error(). The task is queued for its data at once, before the
 * events fire.
 *
 * A task that has not started at its deadline ends with -ETIME, which is an
 * error of its scope, too. If the body has started, lkdf_cancelled() returns
 * -ETIME in it, the library calls on_cancel, and the body's return value
 * counts. The deadline includes the task's children. A task of a kind with
 * LKDF_ALWAYS starts in spite of its deadline. Workers check deadlines between
 * bodies and while they are idle; in serial mode the threads that run tasks and
 * wait do.
 *
 * A task that is cancelled, by its scope or its deadline, does not wait for
 * events.
 *
 * Context: any thread, bodies included. The call blocks only while a scope with
 * max_tasks is full, and never in a body.
 * Return: 0, or the task's number while a graph records @s; -EINVAL;
 * -EOPNOTSUPP; -ECANCELED the scope is cancelled; -ENOMEM; -EAGAIN all event
 * slots of the runtime are in use, or, in a body, the scope is full: try again
 * later; -ENODATA the task reads a data that no task has written; -ERANGE a use
 * names a part that does not exist; -E2BIG too many uses or events, or more
 * tasks than the scope can ever hold; -ESTALE an event of after has no
 * reference left.
 */
int lkdf_submit(struct lkdf *rt, struct lkdf_scope *s,
		const struct lkdf_task *t, struct lkdf_event *done);

/**
 * lkdf_submit_fn() - start a task that calls a function
 * @rt:   runtime
 * @s:    scope the task belongs to, NULL for the root
 * @name: name of these tasks in reports and recordings, such as "sum"; copied
 * @fn:   body
 * @arg:  argument of @fn, borrowed until the task has ended
 * @done: as lkdf_submit()
 *
 * The short form of lkdf_kind_create() and lkdf_submit(). The first call makes
 * a kind of @name and @fn, which the runtime keeps until it closes. For copied
 * arguments, uses, a priority or a place create a kind and use lkdf_submit().
 *
 * Context: as lkdf_submit().
 * Return: as lkdf_submit(); -EINVAL no @name or no @fn.
 */
int lkdf_submit_fn(struct lkdf *rt, struct lkdf_scope *s, const char *name,
		   lkdf_fn fn, const void *arg, struct lkdf_event *done);

#define LKDF_MAX_MANY (1 << 20) /* tasks of one call */

/**
 * lkdf_submit_many() - start several tasks, all or none
 * @rt:   runtime
 * @s:    scope they belong to, NULL for the root
 * @t:    tasks, ordered by their uses as if submitted one after another
 * @nr:   1 .. LKDF_MAX_MANY
 * @done: NULL: not wanted; else fires when all are complete, with the first
 *        error
 *
 * Return: as lkdf_submit(); on failure none was started.
 */
int lkdf_submit_many(struct lkdf *rt, struct lkdf_scope *s,
		     const struct lkdf_task *const *t, unsigned nr,
		     struct lkdf_event *done);

/**
 * lkdf_spawn() - start a child of the running body
 * @c:   context of the body, on the body's own thread
 * @k:   kind
 * @arg: copied where the kind has an arg_size, borrowed otherwise
 *
 * The call queues the child. An idle worker may run it while this body goes on.
 * Exception: if this worker's queue holds as many tasks as the option
 * spawn_inline says (65536 by default), the child runs before this call
 * returns, nested up to 256 deep, unless its kind may block or has limits or it
 * has a place or uses. Set spawn_inline=0 if a body waits for a child in
 * another way than by a join, or holds a lock that a child takes.
 *
 * Return: 0; -EINVAL; -ENOMEM; -EDEADLK the child could never start: this task
 * and its ancestors hold so many tokens of a limit, until the child has ended,
 * that too few are left for it.
 */
int lkdf_spawn(struct lkdf_ctx *c, struct lkdf_kind *k, const void *arg);

/**
 * lkdf_spawn_task() - start a child with priority or completion event
 * @c:    context of the body, on the body's own thread
 * @t:    as lkdf_submit(). The parent's uses must include its uses, which order
 *        it among the parent's other children
 * @done: as lkdf_submit(); fires before lkdf_join() in the parent returns, and
 *        before the function of a lkdf_then() with { 0 } is called
 *
 * If the parent is a task of a sealed graph, its children use the bytes of this
 * run, also those of LKDF_DATA_ONCE.
 *
 * Return: as lkdf_submit(); -EACCES a use that the parent's do not cover;
 * -EINVAL LKDF_REDUCE of bytes that live only for a run.
 */
int lkdf_spawn_task(struct lkdf_ctx *c, const struct lkdf_task *t,
		    struct lkdf_event *done);

/**
 * lkdf_join() - wait for all children spawned so far
 * @c: context of the body, on the body's own thread
 *
 * Meanwhile the worker runs descendants of this task, and no other tasks. If
 * children block, use lkdf_then(), which occupies no worker and no stack.
 * Exception: a worker that finds no descendant to run also runs tasks that are
 * pinned to its node, because all workers that may run these could be in such
 * joins. It does not if this task or an ancestor holds tokens of a limit,
 * because a nested task might wait for these tokens. Then no descendant may be
 * pinned to another node, or two workers could wait for each other: use
 * lkdf_then() in such a task.
 *
 * Joins nest on the worker's stack until a quarter of it is left (option
 * stack_kib). A join fails in a task with LKDF_WEAK uses: such a task may start
 * before its data is ready, and a join could block the task that the data waits
 * for.
 *
 * Return: 0, or the first error of a child, which then counts as handled. Other
 * errors of children that no call has returned go to the log; if their text is
 * the same, the first error's text has their number instead. -EOVERFLOW less
 * than a quarter of the stack is left; -EDEADLK the task has WEAK uses. After
 * either of the last two the children go on, and the task ends when they have
 * ended.
 */
int lkdf_join(struct lkdf_ctx *c);

/**
 * lkdf_join_keep() - lkdf_join() that leaves the errors of children alone
 * @c: context of the body, on the body's own thread
 *
 * For a function that waits for one child and reads the error from its event.
 * The errors of the other children stay for a later lkdf_join() or for their
 * events; otherwise the task ends with the first of them.
 *
 * Return: 0; -EOVERFLOW and -EDEADLK as lkdf_join().
 */
int lkdf_join_keep(struct lkdf_ctx *c);

/**
 * lkdf_hold() - complete this task only after @e has fired
 * @c: context of the body
 * @e: receives an event; lkdf_event_signal() fires it, drops its only
 *     reference, and its error becomes the task's error
 *
 * If the scope or the run is cancelled, the task ends with the error of the
 * cancel even before @e has fired; a later signal does nothing. A task of a
 * kind with LKDF_ALWAYS waits for @e all the same: use such a kind if other
 * code uses the task's argument or data until it signals.
 *
 * Return: 0; -EAGAIN all event slots are in use; -ENOMEM; -EBUSY the body has
 * called this before.
 */
int lkdf_hold(struct lkdf_ctx *c, struct lkdf_event *e);

/**
 * lkdf_then() - return from this body and continue later as @fn, with no stack
 * @c:  context of the body
 * @fn: called as the body, with the same argument, children and scope
 * @on: @fn is called when this event has fired; { 0 }: when all children
 *      spawned so far are complete. The call takes over the caller's reference,
 *      except that of an event with LKDF_EVENT_PULSE
 *
 * The body must return after this call. If it returns a negative value, the
 * task fails and @fn is not called. @fn reads an error of @on with
 * lkdf_input_error(c, 0). If @on is the event of a child, the child's error
 * counts as handled: the task does not end with it.
 *
 * If the scope or the run is cancelled and @on is an event of
 * lkdf_event_create(), of lkdf_event_any() or of a descriptor, the library
 * calls @fn at once, and @on has the error of the cancel. If @on is the event
 * of a task or a run, the library waits for it, because that task or run may
 * use memory of this task until its end. A task of a kind with LKDF_ALWAYS
 * waits for any event.
 *
 * Return: 0; -EINVAL; -EBUSY called twice; -ESTALE the event has no reference
 * left; -ENOMEM.
 */
int lkdf_then(struct lkdf_ctx *c, lkdf_fn fn, struct lkdf_event on);

/**
 * lkdf_then_all() - lkdf_then() on several events
 * @c:  context of the body
 * @fn: as for lkdf_then()
 * @v:  nr events; @fn is called when all have fired. On success the call takes
 *      over the caller's references, except those of events with
 *      LKDF_EVENT_PULSE
 * @nr: 1 .. LKDF_MAX_AFTER
 *
 * @fn reads the first error of them with lkdf_input_error(c, 0). A cancel calls
 * @fn at once if it would do so, in lkdf_then(), for each of the events.
 *
 * Return: as lkdf_then() and lkdf_event_all().
 */
int lkdf_then_all(struct lkdf_ctx *c, lkdf_fn fn, const struct lkdf_event *v,
		  unsigned nr);

/**
 * lkdf_input_error() - the error of an input
 * @c:     context of the body
 * @input: number of the input. In a kind with LKDF_ALWAYS: first the uses, in
 *         order, then the events of after; in a graph one input for all tasks
 *         before this one. After lkdf_then(): 0 is the event or the children
 *
 * In a graph, an input whose writer of the same run has failed has the first
 * error of the run, or the error of its cancel.
 *
 * Return: 0 or the error.
 */
int lkdf_input_error(const struct lkdf_ctx *c, unsigned input);

/**
 * lkdf_cancelled() - should this body stop early?
 * @c: context of the body
 *
 * A body that stops early returns -ECANCELED. Its task then counts as
 * cancelled, not as failed, and ends with the error of the cancel.
 *
 * Return: 0: go on; else the error with which the scope or the run was
 * cancelled; -ETIME: the deadline of the task, the run or the scope has passed.
 */
int lkdf_cancelled(const struct lkdf_ctx *c);

/**
 * lkdf_fail() - set the text of the body's error
 * @c:   context of the body
 * @err: negative errno
 * @fmt: as for printf(); the text is why in struct lkdf_error
 *
 * Return: @err, so that a body can "return lkdf_fail(...)".
 */
int lkdf_fail(struct lkdf_ctx *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * lkdf_scratch() - worker-local bytes of the kind's scratch_size
 * @c: context of the body
 *
 * Children that run in a join of the body, on the same thread, get the same
 * bytes.
 *
 * Return: memory aligned to 64 bytes, with the contents that the last task on
 * this worker left there; NULL: the kind has no scratch_size.
 */
void *lkdf_scratch(struct lkdf_ctx *c);

/**
 * lkdf_seq() - number of this run of the graph
 * @c: context of the body
 *
 * Numbers go up over all runs of the graph and all waves of its streams.
 *
 * Return: 0 for the first run; 0 for dynamic tasks.
 */
uint64_t lkdf_seq(const struct lkdf_ctx *c);

/**
 * lkdf_run_arg() - the arg of the lkdf_run this task belongs to
 * @c: context of the body
 *
 * Return: that pointer; NULL in submitted and spawned tasks.
 */
const void *lkdf_run_arg(const struct lkdf_ctx *c);

/**
 * lkdf_current() - the context of the body that this thread runs
 * @rt: receives its runtime, or NULL if the thread is in no body; may be NULL
 *
 * For functions that bodies call without passing the context. In the function
 * of a loop each block is a body of its own, on any thread. A block may spawn
 * children and join them; the loop ends after children that still run when the
 * function returns. Tasks with uses that a block starts belong to the loop's
 * scope, as if submitted. A block must not use lkdf_then(), lkdf_hold() and
 * LKDF_AGAIN.
 *
 * If a body of another runtime has begun the loop, only the workers of the
 * loop's runtime are in blocks; for the thread of that body the call returns
 * NULL.
 *
 * Context: any thread. The context is valid until the body, or the block,
 * returns.
 * Return: the innermost body's context; NULL on a thread of the program and in
 * callbacks that are not bodies: drop, on_cancel, and functions of
 * lkdf_event_call().
 */
struct lkdf_ctx *lkdf_current(struct lkdf **rt);

/**
 * lkdf_runtime() - the runtime this body runs in
 * @c: context of the body
 *
 * Return: never NULL.
 */
struct lkdf *lkdf_runtime(const struct lkdf_ctx *c);

/**
 * lkdf_worker() - the number of the thread that runs this body
 * @c: context of the body
 *
 * Return: 0 .. lkdf_nr_workers() - 1 on a worker; lkdf_nr_workers() ..
 * lkdf_nr_executors() - 1 on a thread of the blocking pool or of a device, and
 * on a spare thread, see enum lkdf_prio; -ESRCH in a loop's function on a
 * thread of the program.
 */
int lkdf_worker(const struct lkdf_ctx *c);

/**
 * lkdf_team_size() - how many CPUs this body owns
 * @c: context of the body
 *
 * A child that runs in the join of a body with LKDF_TEAM has that body's CPUs.
 *
 * Return: 1; with LKDF_TEAM the number that its kind asks for, at most the
 * number of workers of its node.
 */
int lkdf_team_size(const struct lkdf_ctx *c);

/**
 * lkdf_where() - CPU and node this body runs on now
 * @c:    context of the body
 * @cpu:  may be NULL
 * @node: system's node number; may be NULL
 *
 * Return: 0; -errno of getcpu(2).
 */
int lkdf_where(const struct lkdf_ctx *c, int *cpu, int *node);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
