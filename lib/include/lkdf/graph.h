/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph is a sealed, reusable program; its tasks are small integers. Build
 * it from one thread, seal it once, run it any number of times.
 */
#ifndef LKDF_GRAPH_H
#define LKDF_GRAPH_H

#include <lkdf/task.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct lkdf_graph_attr {
	uint32_t size, flags;
	const char *name;
	uint32_t inflight; /* runs at a time at most, 1 .. 64; 0: 1 */
	uint32_t hint_tasks; /* room to reserve */
};

struct lkdf_diag {
	uint32_t size;
	int err;
	int32_t path[16];
	uint32_t nr;
	char text[200];
};

enum lkdf_run_flag {
	LKDF_RUN_NOWAIT = 1, /* -EAGAIN when inflight runs are under way */
	LKDF_RUN_STREAM = 2, /* waves side by side, see lkdf_graph_run() */
	LKDF_RUN_GO_ON = 4, /* STREAM: a failure ends its wave only */
};

struct lkdf_run {
	uint32_t size, flags;
	const void *arg; /* borrowed until the run has ended */
	uint64_t times; /* 0: once; one after another */
	bool (*until)(void *u); /* asked after each run; true: no more */
	void *u;
	int64_t deadline_ns; /* from the call; 0: none */
	uint32_t max_waves; /* STREAM: under way at a time; 0: inflight */
	uint32_t pad; /* 0 */
};

/**
 * lkdf_graph_create() - start a graph
 * @rt:  runtime, borrowed; must outlive the graph
 * @a:   NULL: unnamed, one run at a time
 * @out: new graph, owned by the caller
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int lkdf_graph_create(struct lkdf *rt, const struct lkdf_graph_attr *a,
		      struct lkdf_graph **out);

/**
 * lkdf_graph_add() - add a task
 * @g:   graph, not sealed
 * @k:   kind; kept until the graph ends
 * @arg: copied where the kind has an arg_size, borrowed while the graph lives
 *       otherwise
 * @use: what it does with data, in the order in which lkdf_ptr() numbers
 *       them; copied. Tasks of a graph are ordered by their uses as if run in
 *       the order of adding
 * @nr:  how many
 *
 * Return: its number, 0 .. 2^30-1, counting up; -EROFS sealed; -EINVAL;
 * -ERANGE a part there is not; -ENOMEM; -EOVERFLOW. A refusal is also what seal
 * reports.
 */
int lkdf_graph_add(struct lkdf_graph *g, struct lkdf_kind *k, const void *arg,
		   const struct lkdf_use *use, unsigned nr);

/**
 * lkdf_graph_add_task() - add a task with a priority or a place of its own
 * @g: graph, not sealed
 * @t: kind, argument, prio, place; see struct lkdf_task
 *
 * Return: as lkdf_graph_add().
 */
int lkdf_graph_add_task(struct lkdf_graph *g, const struct lkdf_task *t);

/**
 * lkdf_graph_label() - name a task
 * @g:     graph
 * @task:  its number
 * @label: copied; default "kind#number"
 *
 * Return: 0; -EROFS sealed; -EINVAL no such task; -ENOMEM.
 */
int lkdf_graph_label(struct lkdf_graph *g, int32_t task, const char *label);

/**
 * lkdf_graph_order() - one task after another
 * @g:      graph, not sealed
 * @before: task number
 * @after:  task number
 *
 * Return: 0; -EROFS; -EINVAL no such task or a task after itself; -ENOMEM.
 */
int lkdf_graph_order(struct lkdf_graph *g, int32_t before, int32_t after);

enum lkdf_edge_flag {
	LKDF_EDGE_PORT = 1, /* carries the value of out to in, see port.h */
	LKDF_EDGE_BRANCH = 2, /* live where from chooses branch */
	LKDF_EDGE_BACK = 4, /* to is the head of a loop, and from ends it */
	LKDF_EDGE_NEXT = 8, /* with PORT, from == to: for its next call */
};

struct lkdf_edge {
	uint32_t size, flags; /* flags 0: one task after another, no more */
	int32_t from, to; /* task numbers */
	uint16_t out, in; /* ports; 0 without PORT */
	uint16_t branch, pad; /* with BRANCH and BACK; pad: 0 */
	const void *init; /* with NEXT: the first value, copied */
};

/**
 * lkdf_graph_edge() - add an edge of any sort
 * @g: graph, not sealed
 * @e: edge, copied
 *
 * An edge is live or dead once the task that it leaves is resolved. A task is
 * resolved when all edges to it are: it runs if all its plain edges are live
 * and, where it has branches, at least one of these. A kind with LKDF_ANY runs
 * if at least one edge of all is live. Otherwise the task is skipped and all
 * edges that leave it are dead, each with the reason: not chosen, or failed.
 * A task that was not chosen is no error; struct lkdf_error counts it apart.
 * LKDF_ALWAYS runs a task though an edge has failed, not where the task was
 * not chosen. Edges that only come of data uses pass a task that was not
 * chosen as if it had run; edges of LKDF_DATA_ONCE do not.
 *
 * An edge with BACK closes a loop. Members of the loop are all tasks that its
 * head @to reaches and that reach a BACK edge of that head. Seen from outside
 * the loop is one task: an edge from outside to any member is waited for
 * before the first iteration, and an edge from a member to the outside is
 * resolved when the loop has ended. The next iteration begins when all members
 * are resolved, a BACK edge was taken, no branch out of the loop was taken, no
 * member has failed and the run is not cancelled. A branch that leaves several
 * loops ends all of them with this iteration. Loops may lie in one another.
 * An edge with PORT carries a value besides, also with BRANCH or BACK. An edge
 * with NEXT leads from a task to itself and is waited for by nobody: the in
 * port has what the last call of the task that succeeded has put out, in
 * whichever run, and @init before. Its kind must not be SHARED, and the out
 * port has no out_drop: the library drops a value at the end of its run, and
 * the next call would read what it stood for.
 *
 * Uses of members take effect iteration by iteration, and in one of them in the
 * order of adding. Copies of LKDF_REDUCE are combined when somebody else uses
 * the data: in the iteration, before the next one, or after the loop. Between
 * two iterations the function that combines runs on a worker, and its error
 * ends the loop. A use with LKDF_MAYBE counts as a write of the run. An edge
 * that only keeps a reader and the next writer apart passes no failure at the
 * border of a loop either. Seal refuses a member with LKDF_ALWAYS and a use
 * with LKDF_MAYBE or LKDF_WEAK: whether such a use is bad is kept by run, and
 * another iteration may make it good.
 *
 * Return: 0; -EROFS sealed; -EINVAL no such task or port, flags or
 * fields, sizes that differ; -ENOMEM. A refusal is also what seal reports. Seal
 * adds: -ELOOP a cycle without BACK, a loop with a second way in, loops that
 * overlap or wait for each other; -EINVAL a BACK edge whose head does not reach
 * it, a branch that both stays in a loop and leaves it; -E2BIG more than
 * 1048572 edges to one task; -EOPNOTSUPP uses that a loop cannot have.
 */
int lkdf_graph_edge(struct lkdf_graph *g, const struct lkdf_edge *e);

/**
 * lkdf_graph_branch() - lkdf_graph_edge() with LKDF_EDGE_BRANCH
 * @g:      graph, not sealed
 * @from:   task whose body chooses
 * @branch: number that the body returns to take this edge, 0 .. 65535
 * @to:     task that waits for the choice
 *
 * Return: as lkdf_graph_edge().
 */
int lkdf_graph_branch(struct lkdf_graph *g, int32_t from, uint16_t branch,
		      int32_t to);

/**
 * lkdf_graph_back() - lkdf_graph_edge() with LKDF_EDGE_BACK
 * @g:      graph, not sealed
 * @from:   task whose body chooses, may be @to itself
 * @branch: number that the body returns for one more iteration, 0 .. 65535
 * @to:     head of the loop
 *
 * Return: as lkdf_graph_edge().
 */
int lkdf_graph_back(struct lkdf_graph *g, int32_t from, uint16_t branch,
		    int32_t to);

/**
 * lkdf_graph_include() - add the tasks of another graph, as one task
 * @g:    graph, not sealed
 * @part: another graph of the runtime, not sealed; copied as it is now
 *
 * All that @part has becomes part of @g: tasks with their arguments, priorities
 * and places, edges of any sort, uses of data, loops, graphs that it has
 * included. Sealed and run it is one flat graph, and each copy has loops and
 * values of its own. @part stays as it is: more may be added to it, it may be
 * included again, sealed and run.
 *
 * The number that the call returns stands for the whole. All its tasks wait for
 * the tasks that @g orders before it, and a branch that leads to it chooses all
 * of them or none. An edge from it is live once all its tasks are resolved,
 * unless one of those that nothing in @part comes after has failed; it passes
 * those that were not chosen. It chooses no branch itself. Task number t of
 * @part has the number of the whole + 1 + t, so that edges, ports and loops of
 * @g may lead to single tasks, too. The whole takes two numbers more than
 * @part has tasks: before the first and behind the last.
 *
 * Names of the tasks begin with the name of @part: "part/label", "part/kind#t".
 * Where a kind has drop, @part keeps the arguments, and itself, until @g has
 * ended, and lkdf_graph_set() refuses such a task with -EOPNOTSUPP.
 *
 * Return: its number; -EROFS one of both is sealed; -EINVAL @part is @g or of
 * another runtime; what an add to @part was refused for; -EOVERFLOW too many
 * tasks; -ENOMEM. A refusal is also what seal of @g reports.
 */
int lkdf_graph_include(struct lkdf_graph *g, struct lkdf_graph *part);

/**
 * lkdf_graph_record() - store what is submitted to a scope
 * @g: graph, not sealed
 * @s: scope, not the root
 *
 * Until @g is sealed lkdf_submit() to @s adds the task to @g, as
 * lkdf_graph_add_task() does, instead of starting it, and returns its number;
 * done must be NULL. Any thread may submit, one after another. So the library
 * analyses a sequence of tasks once, and the program runs it again and again.
 *
 * Return: 0; -EINVAL; -EROFS sealed; -EBUSY one of both records already.
 */
int lkdf_graph_record(struct lkdf_graph *g, struct lkdf_scope *s);

/**
 * lkdf_graph_seal() - check a graph and make it fast; it is constant afterwards
 * @g:   graph
 * @why: NULL, or size set by the caller: what was refused, with the numbers
 *       of the tasks on the path; also tells what an earlier add or order was
 *       refused for
 *
 * Return: 0; -ELOOP a cycle; -EEXIST an LKDF_DATA_ONCE has two producers;
 * -ENODATA it has none; -EROFS sealed already; the first refusal of an add or
 * order; -ENOMEM.
 */
int lkdf_graph_seal(struct lkdf_graph *g, struct lkdf_diag *why);

/**
 * lkdf_graph_run() - run a sealed graph
 * @g:    graph, sealed
 * @s:    scope the run belongs to, NULL for the root
 * @r:    NULL: once
 * @done: NULL: not wanted; else one reference, dropped by lkdf_event_wait() or
 *        lkdf_event_put()
 *
 * Runs of one graph start in the order of the calls. A task that is not SHARED
 * is taken in run order. A run claims all data of its tasks from its start to
 * its end, but LKDF_DATA_ONCE, as a writer if one of them writes: the bytes are
 * in one place. So runs of a graph that writes a data follow one another,
 * whatever inflight says. With times or until the repetitions follow one
 * another inside one call's frame, and an error ends them.
 *
 * A task with LKDF_ALWAYS runs, in each repetition that has begun, once all
 * tasks before it have ended, were skipped or were cancelled. If it succeeds, a
 * task after it runs unless another edge to that one is dead. The run keeps its
 * first error; where tasks were cancelled, that is the error of the cancel,
 * whatever a task with LKDF_ALWAYS returns afterwards. A data that a task reads
 * and that has no bytes when the run starts is an error of the run.
 *
 * Past its deadline the library cancels this run alone, with its repetitions,
 * with -ETIME, as lkdf_scope_cancel() does. The run's scope gets the error.
 *
 * LKDF_RUN_STREAM keeps up to inflight repetitions, called waves, under way at
 * a time: each frame of the graph starts its next wave as soon as its last one
 * has ended. Waves begin in order and end in any. A task that is not SHARED
 * takes the waves in order, also behind a SHARED one. With max_waves the source
 * is called for a wave only while fewer waves than that are under way: those
 * whose source was called, and of which a task has not ended yet. The source of
 * the wave that takes the place of another sees all that the other has done. A
 * task that waits for a later wave needs room for both. The graph has one
 * source, not SHARED, and inflight of at least 2. The stream ends when the body
 * of the source returns LKDF_END (its wave is dropped and counts for nothing),
 * after times waves, when until returns true (asked before each wave but the
 * first, in order), after a failure unless LKDF_RUN_GO_ON is set, or with a
 * cancel; waves under way end first. The event then has the first error, and
 * counts of all waves. lkdf_seq() counts waves. Feedback over several stages
 * goes by a channel: the last stage sends, the first receives. With
 * LKDF_RUN_GO_ON a wave that fails runs no further stages, so the channel gets
 * no value of it. A stream claims data once, for all its waves, but not
 * LKDF_DATA_ONCE without KEEP: a task that is not SHARED and no member of a
 * loop may write data that no other task of the graph uses, and all may read
 * data that none of them writes.
 *
 * Context: any thread; the call waits while inflight runs are under way, or for
 * room in a scope with max_tasks, but not in a body and not with NOWAIT.
 * Return: 0; -EAGAIN instead of waiting; -EBADFD not sealed; -EINVAL, also
 * max_waves without STREAM or above inflight; -EBUSY a stream while other runs
 * are under way; -EOPNOTSUPP a stream whose tasks use other data, or data that
 * may move; -ENODATA nobody has written data that is read; -ECANCELED the scope
 * is cancelled; -ENOMEM.
 */
int lkdf_graph_run(struct lkdf_graph *g, struct lkdf_scope *s,
		   const struct lkdf_run *r, struct lkdf_event *done);

/**
 * lkdf_spawn_graph() - start a run of a graph as a child of the running body
 * @c: context of the body, on the body's own thread
 * @g: graph, sealed; the body's own graph, too
 * @r: NULL: once; flags LKDF_RUN_NOWAIT or 0
 *
 * So a coarse task refines itself into a graph while it runs, at any depth. The
 * run is in the scope of the body, whose cancel and deadline end it.
 * lkdf_join() waits for the run, lkdf_then() with { 0 } goes on after it, and
 * the task of the body is not complete before the run has ended. The run's
 * error is that of a child: lkdf_join() returns it, and if the body does not
 * join the task ends with it. Arguments and the arg of @r are borrowed until
 * then.
 *
 * Runs of graphs whose kinds are all LKDF_SHARED take any frame that is free,
 * so the runs of one graph below each other are as many as its inflight. With
 * -EAGAIN a body does the work itself, or joins and tries again.
 *
 * A join runs what its children ask for on the worker's own stack, so a child
 * run must not wait for what stands outside of it. A graph with inflight above
 * 1 is refused if a kind is not LKDF_SHARED, as are uses of data that is not
 * LKDF_DATA_ONCE, and kinds that need more tokens of a limit than the body and
 * its parents leave.
 *
 * Context: a body; does not block.
 * Return: 0; -EAGAIN inflight runs of @g are under way; -EBADFD not sealed;
 * -EINVAL, -EOPNOTSUPP a graph as above; -EDEADLK a limit; -ECANCELED the scope
 * is cancelled; -ENOMEM.
 */
int lkdf_spawn_graph(struct lkdf_ctx *c, struct lkdf_graph *g,
		     const struct lkdf_run *r);

/**
 * lkdf_graph_set() - change a task's argument from the next run on
 * @g:    graph, sealed, no run under way
 * @task: its number
 * @arg:  as lkdf_graph_add()
 *
 * Return: 0; -EBUSY runs are under way; -EBADFD not sealed; -EINVAL no such
 * task.
 */
int lkdf_graph_set(struct lkdf_graph *g, int32_t task, const void *arg);

/**
 * lkdf_graph_dump() - write the graph out
 * @g:      graph, sealed or not
 * @fd:     open for writing
 * @format: "dot" or "json"
 *
 * As JSON a task with LKDF_PROFILE has, once the graph is sealed, "runs": how
 * often its body was called, and "total_ns" and "longest_ns": how long the
 * bodies took together and at most. A sealed graph has its "loops": the head,
 * how many members there are, and "region": whether a worker may go through an
 * iteration without counters. It may in loops, and loops in these, of tasks
 * that a worker runs at once (kinds without limits, a device, a priority, a
 * thread, CPUs or a node of their own), with edges that take at most 64 bytes a
 * member, and where option loop_regions says so.
 *
 * Return: 0; -EINVAL; -errno of write(2).
 */
int lkdf_graph_dump(const struct lkdf_graph *g, int fd, const char *format);

/**
 * lkdf_graph_put() - give a graph back
 * @g: graph, or NULL; it ends with its last run
 */
void lkdf_graph_put(struct lkdf_graph *g);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
