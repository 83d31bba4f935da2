/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks, one at a time, and what a body may ask and say while it runs.
 *
 * A submitted task lives in a scope; a spawned one is a child of the body that
 * spawned it, and a task is complete only when its body has returned and all
 * its children are complete.
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
	LKDF_PROFILE = 1, /* how long each body took is an event of the trace,
			   * recording or not; a graph counts it instead: see
			   * lkdf_graph_dump() */
	LKDF_PINNED = 2, /* runs on a worker of place, nowhere else */
};

/*
 * A place is a wish, which a thief may overrule, or with LKDF_PINNED a must:
 * then it is a whole node that has workers, and the kind does not block. In
 * serial mode one thread runs everything.
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
 * @t:    kind, argument, prio, place, uses, after, deadline; the argument is
 *        copied where the kind has an arg_size and borrowed until the task has
 *        ended otherwise
 * @done: NULL: not wanted; else receives one reference, dropped by
 *        lkdf_event_wait() or lkdf_event_put()
 *
 * Errors, lkdf_why() and recordings name a task with a label as "kind (label)";
 * the label of a graph's task takes the place of its name, as
 * lkdf_graph_label() does. The string is copied.
 *
 * A task with uses starts once the uses of tasks submitted before it allow. It
 * takes its place on all its data at once, so any number of threads may submit.
 *
 * The task starts after the events of @t->after have fired; the caller keeps
 * its references to them. If events have errors, the library skips the task
 * with the error of the first of them, by number; a task of a kind with
 * LKDF_ALWAYS runs, and its body reads the error with lkdf_input_error(). The
 * task takes its place on its data before the events fire.
 *
 * Past its deadline a task does not start any more: it ends with -ETIME, and
 * its scope gets that error, too. A body that has started sees -ETIME with
 * lkdf_cancelled(), on_cancel kicks it, and its return value counts. The
 * deadline holds for the task's children. A task of a kind with LKDF_ALWAYS
 * starts all the same. Workers look at the clock when they are idle and between
 * bodies; in serial mode the threads that run tasks and wait do.
 *
 * A cancelled task, by its scope or its deadline, does not wait for events.
 *
 * Context: any thread, bodies included; the call waits only for room in a scope
 * with max_tasks, and never in a body.
 * Return: 0, or the task's number while a graph records @s; -EINVAL;
 * -EOPNOTSUPP; -ECANCELED the scope is cancelled; -ENOMEM; -EAGAIN more events
 * live than the runtime has slots, or there is no room in the scope; -ENODATA
 * the task reads a data that nobody has written; -ERANGE a use names a part
 * that does not exist; -E2BIG too many uses or events, or more tasks than the
 * scope has room for; -ESTALE an event of after is gone.
 */
int lkdf_submit(struct lkdf *rt, struct lkdf_scope *s,
		const struct lkdf_task *t, struct lkdf_event *done);

/**
 * lkdf_submit_fn() - start a task that calls a function
 * @rt:   runtime
 * @s:    scope the task belongs to, NULL for the root
 * @name: what reports and traces call tasks of @fn, such as "sum"; copied
 * @fn:   body
 * @arg:  argument of @fn, borrowed until the task has ended
 * @done: as lkdf_submit()
 *
 * The short form of lkdf_kind_create() and lkdf_submit(): the runtime makes a
 * kind of @name and @fn with the first call, and keeps it until it closes. A
 * task with copied arguments, uses, a priority or a place needs a kind of the
 * program's own.
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
 *        error of one
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
 * The child is queued, and starts elsewhere while this body goes on, if another
 * worker is idle. Exception: where this worker has as many tasks queued as
 * the option spawn_inline says, 65536 by default, a child that neither may
 * block nor has limits, a place or uses runs before this call returns, up to
 * 256 of them in each other. A body that waits for a child which was
 * only spawned, or holds a lock that the child wants, needs spawn_inline=0.
 *
 * Return: 0; -EINVAL; -ENOMEM; -EDEADLK the child needs more tokens of a limit
 * than this task and its parents leave, which keep theirs until it has ended.
 */
int lkdf_spawn(struct lkdf_ctx *c, struct lkdf_kind *k, const void *arg);

/**
 * lkdf_spawn_task() - start a child with priority or completion event
 * @c:    context of the body, on the body's own thread
 * @t:    as lkdf_submit(); its uses are covered by those of the parent, and
 *        order it among the parent's other children
 * @done: as lkdf_submit(); fires before a lkdf_join() of the parent returns, or
 *        lkdf_then() with { 0 } goes on
 *
 * The parent may be a task of a sealed graph: then its children use the bytes
 * of this run, also those of LKDF_DATA_ONCE.
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
 * The worker runs descendants of this task meanwhile, and no other tasks. A
 * body with children that block calls lkdf_then() instead, which keeps no
 * stack. Exception: a worker that would sleep in the join runs tasks that are
 * pinned to its node, because all workers that may run them could be in such a
 * wait. In a task that holds limits, or below one, the worker does not, because
 * a nested task might wait for these limits: no task below such a join may be
 * pinned to another node, or two workers wait for each other. A body of such a
 * task calls lkdf_then(), too.
 *
 * Joins nest on the worker's stack until a quarter of it is left (option
 * stack_kib). A join in a task with LKDF_WEAK uses is refused, whatever its
 * children are: the task may have started before its data was there, and what
 * this worker would run meanwhile may be what the data waits for.
 *
 * Return: 0, or the first error of a child, which is then observed, while those
 * of other children that no call has returned go to the log, unless they are
 * the same, word for word, which the text of the first counts; -EOVERFLOW
 * less than a quarter of the stack is left; -EDEADLK the task has WEAK uses.
 * After either error the children go on, and the task ends when they have
 * ended.
 */
int lkdf_join(struct lkdf_ctx *c);

/**
 * lkdf_join_keep() - lkdf_join() that leaves the errors of children alone
 * @c: context of the body, on the body's own thread
 *
 * For a function that waits for a child of its own and asks the child's event:
 * the errors of other children are those of a later lkdf_join(), of their
 * events, or the task's.
 *
 * Return: 0; -EOVERFLOW and -EDEADLK as lkdf_join().
 */
int lkdf_join_keep(struct lkdf_ctx *c);

/**
 * lkdf_hold() - end later: when the body has returned and @e has fired
 * @c: context of the body
 * @e: receives an event with one reference, which lkdf_event_signal() drops;
 *     its error becomes the task's
 *
 * A cancel of the scope or of the run ends the task with the cancel's error,
 * whether @e has fired or not; a later signal does nothing. A task of kind
 * ALWAYS waits for @e all the same: a body is of such a kind if others use its
 * argument or data until they signal.
 *
 * Return: 0; -EAGAIN no event slot; -ENOMEM; -EBUSY the body holds one already.
 */
int lkdf_hold(struct lkdf_ctx *c, struct lkdf_event *e);

/**
 * lkdf_then() - leave now and go on as @fn, without keeping a stack
 * @c:  context of the body
 * @fn: continues with the same argument, children, scope and scratch kind
 * @on: goes on when this has fired; { 0 }: when all children spawned so far
 *      are complete. Its reference is taken over, but of an event with
 *      LKDF_EVENT_PULSE
 *
 * The body must return after it. A negative return value wins: @fn is not
 * called then. fn reads an error of @on with lkdf_input_error(c, 0). The error
 * of a child whose event @on is counts as seen: the task does not end with it.
 *
 * Where @on is an event of lkdf_event_create(), of lkdf_event_any() or of a
 * descriptor, a cancel of the scope or of the run calls @fn at once; the error
 * of @on is then the cancel's. The task waits for the event of a task or of a
 * run all the same, because that task or run may use memory of this one until
 * its end. A task of kind ALWAYS waits for any event.
 *
 * Return: 0; -EINVAL; -EBUSY called twice; -ESTALE the event is gone; -ENOMEM.
 */
int lkdf_then(struct lkdf_ctx *c, lkdf_fn fn, struct lkdf_event on);

/**
 * lkdf_then_all() - lkdf_then() on several events
 * @c:  context of the body
 * @fn: continues as that of lkdf_then()
 * @v:  nr events; once all have fired @fn is called. Their references are taken
 *      over, but of events with LKDF_EVENT_PULSE; after a refusal none is
 * @nr: 1 .. LKDF_MAX_AFTER
 *
 * @fn reads the first error of all with lkdf_input_error(c, 0). A cancel calls
 * @fn at once where it would for each of the events.
 *
 * Return: as lkdf_then() and lkdf_event_all().
 */
int lkdf_then_all(struct lkdf_ctx *c, lkdf_fn fn, const struct lkdf_event *v,
		  unsigned nr);

/**
 * lkdf_input_error() - why an input did not succeed
 * @c:     context of the body
 * @input: 0 .. inputs - 1; a task of kind ALWAYS: any input in the order of
 *         its uses, and then of the events it came after, in a graph one for
 *         all tasks it comes after; after lkdf_then(): 0 is the event or the
 *         children
 *
 * In a graph an input that a task of the same run has failed to write has the
 * first error of that run, or the error of its cancel.
 *
 * Return: 0 or the error.
 */
int lkdf_input_error(const struct lkdf_ctx *c, unsigned input);

/**
 * lkdf_cancelled() - should this body stop early?
 * @c: context of the body
 *
 * A body that gives up returns -ECANCELED: its task then counts as cancelled,
 * not as failed, and ends with the error of the cancel.
 *
 * Return: 0, or the error with which the scope or the run was cancelled; -ETIME
 * the deadline of the task, the run or the scope is over.
 */
int lkdf_cancelled(const struct lkdf_ctx *c);

/**
 * lkdf_fail() - fail with a text
 * @c:   context of the body
 * @err: negative errno
 * @fmt: as printf; goes into struct lkdf_error's why
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
 * Return: 64-byte aligned, kept from task to task with whatever they left;
 * NULL if the kind asked for none.
 */
void *lkdf_scratch(struct lkdf_ctx *c);

/**
 * lkdf_seq() - number of this run of the graph
 * @c: context of the body
 *
 * The number counts on over all runs, and all waves of streams, of the graph.
 *
 * Return: 0 for the first run; 0 for dynamic tasks.
 */
uint64_t lkdf_seq(const struct lkdf_ctx *c);

/**
 * lkdf_run_arg() - the arg of the lkdf_run this task belongs to
 * @c: context of the body
 *
 * Return: that pointer; NULL in tasks that are submitted or spawned.
 */
const void *lkdf_run_arg(const struct lkdf_ctx *c);

/**
 * lkdf_current() - the body that this thread is in
 * @rt: receives its runtime, or NULL where there is no body; may be NULL
 *
 * For functions that are called from bodies and do not get the context. The
 * function of a loop is in a body of its own, its block, on any thread: the
 * block may start children and lkdf_join() waits for them; children that still
 * run when the function returns end before the loop does. Tasks with uses that
 * it starts are tasks of the loop's scope, as if submitted. lkdf_then(),
 * lkdf_hold() and LKDF_AGAIN are for other bodies.
 *
 * In a function of a loop that a body of another runtime has begun, the
 * workers of the loop's runtime are in bodies and the thread of that body is
 * in none.
 *
 * Context: any thread. The context is valid until the body, or the block,
 * returns.
 * Return: the innermost body's context; NULL on a thread of the program and in
 * callbacks that are no body: drop, on_cancel, lkdf_event_call().
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
 * lkdf_worker() - dense number of the thread that runs this body
 * @c: context of the body
 *
 * Return: 0 .. lkdf_nr_workers() - 1 on a worker; lkdf_nr_workers() ..
 * lkdf_nr_executors() - 1 on a thread of the blocking pool or of a device, and
 * on a spare thread, see enum lkdf_prio; -ESRCH in a loop's function on a
 * thread of the program.
 */
int lkdf_worker(const struct lkdf_ctx *c);

/**
 * lkdf_team_size() - CPUs that this body owns
 * @c: context of the body
 *
 * A child that a join of a body with LKDF_TEAM runs has those of that body.
 *
 * Return: 1; with LKDF_TEAM as many as its kind asks for, at most as many as
 * its node has workers.
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
