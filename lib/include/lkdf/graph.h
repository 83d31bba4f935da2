/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph is a set of tasks with their order, which a program builds once,
 * seals and runs any number of times. Tasks of a graph are named by numbers.
 * Only a single thread may build a graph at a time.
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
	uint32_t hint_tasks; /* expected number of tasks, to reserve memory */
};

struct lkdf_diag {
	uint32_t size;
	int err;
	int32_t path[16];
	uint32_t nr;
	char text[200];
};

enum lkdf_run_flag {
	LKDF_RUN_NOWAIT = 1, /* return -EAGAIN instead of waiting for a frame */
	LKDF_RUN_STREAM = 2, /* overlap repetitions (waves), see
			      * lkdf_graph_run() */
	LKDF_RUN_GO_ON = 4, /* with STREAM: a failure ends only its wave */
};

struct lkdf_run {
	uint32_t size, flags;
	const void *arg; /* borrowed until the run has ended */
	uint64_t times; /* repetitions, one after another; 0: 1 */
	bool (*until)(void *u); /* called after each repetition; true ends
				 * the run */
	void *u;
	int64_t deadline_ns; /* from the call; 0: none */
	uint32_t max_waves; /* STREAM: waves at a time; 0: inflight */
	uint32_t pad; /* 0 */
};

/**
 * lkdf_graph_create() - make an empty graph
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
 * @arg: copied if the kind has an arg_size; else borrowed until the graph has
 *       ended
 * @use: its uses of data, copied; lkdf_ptr() counts them in this order. The
 *       uses order the tasks of a graph as if these ran in the order of adding
 * @nr:  number of uses
 *
 * Return: the task's number, 0 .. 2^30-1, counting up; -EROFS the graph is
 * sealed; -EINVAL; -ERANGE a use names a part that does not exist; -ENOMEM;
 * -EOVERFLOW too many tasks. Seal returns this error again.
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
 * lkdf_graph_order() - make a task start after another one
 * @g:      graph, not sealed
 * @before: task number
 * @after:  task number
 *
 * Return: 0; -EROFS the graph is sealed; -EINVAL no such task, or a task after
 * itself; -ENOMEM.
 */
int lkdf_graph_order(struct lkdf_graph *g, int32_t before, int32_t after);

enum lkdf_edge_flag {
	LKDF_EDGE_PORT = 1, /* passes the value of port out to port in, see
			     * port.h */
	LKDF_EDGE_BRANCH = 2, /* live if from chooses branch */
	LKDF_EDGE_BACK = 4, /* from closes a loop whose head is to */
	LKDF_EDGE_NEXT = 8, /* with PORT and from == to: value for the task's
			     * next call */
};

struct lkdf_edge {
	uint32_t size, flags; /* flags 0: to starts after from */
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
 * When a task is resolved (it has run or was skipped), each edge from it
 * becomes live or dead. A task runs when all edges to it are decided, all plain
 * edges are live and, if branches lead to it, at least one of these is live. A
 * task of a kind with LKDF_ANY runs if at least one edge to it is live.
 * Otherwise the task is skipped, and all edges from it are dead, with a reason:
 * not chosen, or failed. A task that is not chosen is not an error; struct
 * lkdf_error counts these apart. LKDF_ALWAYS runs a task although an edge has
 * failed, but not if the task was not chosen. For edges that only follow from
 * uses of data, a task that was not chosen counts as run; for edges of
 * LKDF_DATA_ONCE it does not.
 *
 * An edge with BACK closes a loop. Members of the loop are all tasks on paths
 * from its head @to to a BACK edge of that head. For the rest of the graph the
 * loop is one task: the first iteration waits for edges from outside to any
 * member, and edges from members to the outside are decided when the loop has
 * ended. The next iteration begins when all members are resolved and a BACK
 * edge was taken, unless a branch out of the loop was taken, a member has
 * failed or the run is cancelled. A branch that leaves several nested loops
 * ends all of them with this iteration. An edge with PORT also passes a value,
 * and may be a BRANCH or BACK edge as well. An edge with NEXT leads from a task
 * to itself, and no task waits for it: the in port has the output of the task's
 * last successful call, in this run or an earlier one, and @init before the
 * first. The kind must not be LKDF_SHARED, and the out port must have no
 * out_drop, because the library drops values at the end of their run.
 *
 * Uses of members order the tasks of an iteration as if these ran in the order
 * of adding, and each iteration follows the one before. The library combines
 * the copies of LKDF_REDUCE when another use of the data needs them: in the
 * iteration, before the next one, or after the loop. Between two iterations a
 * worker runs the function that combines, and its error ends the loop. A use
 * with LKDF_MAYBE counts as a write of the run. An edge that only orders a
 * writer after a reader passes no failure, also into or out of a loop. Seal
 * refuses members that have both LKDF_ALWAYS and a use with LKDF_MAYBE or
 * LKDF_WEAK: the library keeps the state of such a use for the whole run, and
 * another iteration could change it.
 *
 * Return: 0; -EROFS the graph is sealed; -EINVAL no such task or port, wrong
 * flags or fields, or ports of different sizes; -ENOMEM. Seal returns this
 * error again, and may return: -ELOOP a cycle without BACK, a loop with a
 * second entry, loops that overlap or wait for each other; -EINVAL a BACK edge
 * that its head does not reach, or one branch number for edges inside a loop
 * and out of it; -E2BIG more than 1048572 edges to one task; -EOPNOTSUPP uses
 * that a loop cannot have.
 */
int lkdf_graph_edge(struct lkdf_graph *g, const struct lkdf_edge *e);

/**
 * lkdf_graph_branch() - lkdf_graph_edge() with LKDF_EDGE_BRANCH
 * @g:      graph, not sealed
 * @from:   task whose body chooses
 * @branch: number that the body returns to take this edge, 0 .. 65535
 * @to:     task that the branch starts
 *
 * Return: as lkdf_graph_edge().
 */
int lkdf_graph_branch(struct lkdf_graph *g, int32_t from, uint16_t branch,
		      int32_t to);

/**
 * lkdf_graph_back() - lkdf_graph_edge() with LKDF_EDGE_BACK
 * @g:      graph, not sealed
 * @from:   last task of the loop, whose body chooses; may be @to itself
 * @branch: number that the body returns for another iteration, 0 .. 65535
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
 * The call copies everything from @part to @g: tasks with their arguments,
 * priorities and places, all edges, uses of data, loops, and graphs that it
 * includes. At seal the result is one flat graph; each copy has its own loops
 * and values. @part does not change: the program may extend it, include it
 * again, seal it and run it.
 *
 * The number that the call returns represents all tasks of the copy. They all
 * wait for the tasks that @g orders before this number, and a branch to it
 * chooses all of them or none. An edge from it is live when all tasks of the
 * copy are resolved, unless one of the last tasks of @part has failed; tasks
 * that were not chosen do not matter. No branch can leave it. Task t of @part
 * has this number + 1 + t in @g, so edges, ports and loops of @g may also use
 * single tasks. The copy takes two numbers more than @part has tasks: one
 * before the first, one after the last.
 *
 * Names of the tasks begin with the name of @part: "part/label", "part/kind#t".
 * If a kind has drop, the arguments of its tasks stay those of @part, which the
 * library keeps until @g has ended; lkdf_graph_set() of such a task returns
 * -EOPNOTSUPP.
 *
 * Return: the number; -EROFS one of the two graphs is sealed; -EINVAL @part is
 * @g or of another runtime; the first error of an add to @part; -EOVERFLOW too
 * many tasks; -ENOMEM. Seal of @g returns this error again.
 */
int lkdf_graph_include(struct lkdf_graph *g, struct lkdf_graph *part);

/**
 * lkdf_graph_record() - add the tasks that are submitted to a scope
 * @g: graph, not sealed
 * @s: scope, not the root
 *
 * Until @g is sealed, lkdf_submit() to @s does not start the task: it adds the
 * task to @g, as lkdf_graph_add_task() does, and returns its number; done must
 * be NULL. Any thread may submit, one at a time. So the library analyses a
 * sequence of tasks once, and the program runs it many times.
 *
 * Return: 0; -EINVAL; -EROFS the graph is sealed; -EBUSY @g or @s records
 * already.
 */
int lkdf_graph_record(struct lkdf_graph *g, struct lkdf_scope *s);

/**
 * lkdf_graph_seal() - check a graph and prepare its runs; it cannot be changed
 * afterwards
 * @g:   graph
 * @why: NULL, or size set by the caller: receives the error, a text, and the
 *       numbers of the tasks on the path, also for an earlier error of an add
 *       or order
 *
 * Return: 0; -ELOOP a cycle; -EEXIST an LKDF_DATA_ONCE has two producers;
 * -ENODATA it has none; -EROFS the graph is sealed already; the first error of
 * an add or order; -ENOMEM.
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
 * Runs of one graph start in the order of the calls. A task that is not
 * LKDF_SHARED executes its runs in this order. From its start to its end a run
 * uses all data of its tasks, except LKDF_DATA_ONCE, as a writer if one of them
 * writes. So runs of a graph that writes a data follow one another, whatever
 * inflight is. With times or until the repetitions follow one another in one
 * frame, and an error ends them.
 *
 * In each repetition that has begun, a task with LKDF_ALWAYS runs when all
 * tasks before it have ended, were skipped or were cancelled. If it succeeds, a
 * task after it runs unless another edge to that one is dead. The run keeps its
 * first error. If tasks were cancelled, that is the error of the cancel,
 * whatever a task with LKDF_ALWAYS returns afterwards. It is an error of the
 * run if a task reads a data that has no bytes when the run starts.
 *
 * At the deadline the library cancels this run and its repetitions with -ETIME,
 * as lkdf_scope_cancel() does, and no other run. The run's scope gets the
 * error.
 *
 * LKDF_RUN_STREAM overlaps repetitions, called waves, as a pipeline: up to
 * inflight waves are in progress at a time, and each frame of the graph starts
 * its next wave when its last one has ended. Waves begin in order and may end
 * in any order. A task that is not LKDF_SHARED runs its waves in order, also
 * after a LKDF_SHARED task. The graph needs one source (a task that no edge
 * leads to), not LKDF_SHARED, and inflight of at least 2. max_waves limits the
 * waves in progress further: the source is called only while fewer waves than
 * that have called their source and have unfinished tasks. The source of a wave
 * sees everything that the wave which made room for it has done. If a task
 * waits for a later wave, max_waves must leave room for both. The stream ends
 * in one of these ways: the body of the source returns LKDF_END (its wave is
 * dropped and not counted); times waves have run; until, which is called before
 * each wave but the first, returns true; a wave fails, unless LKDF_RUN_GO_ON is
 * set; a cancel. Waves in progress end first. The event has the first error and
 * the counts of all waves. lkdf_seq() returns the number of the wave. For
 * feedback over several stages use a channel: the last stage sends, the first
 * receives. With LKDF_RUN_GO_ON a failed wave runs no further stages, so it
 * sends no value. A stream uses data, except LKDF_DATA_ONCE without KEEP, once
 * for all its waves. So a task may write data only if it is not LKDF_SHARED, is
 * not a member of a loop, and no other task of the graph uses the data; all
 * tasks may read data that none of them writes.
 *
 * Context: any thread. While inflight runs are in progress or a scope with
 * max_tasks is full, the call waits; in a body, or with NOWAIT, it returns
 * -EAGAIN.
 * Return: 0; -EAGAIN the call would wait; -EBADFD the graph is not sealed;
 * -EINVAL, also max_waves without STREAM or greater than inflight; -EBUSY a
 * stream while other runs are in progress; -EOPNOTSUPP a stream whose tasks use
 * data in another way, or data that may move; -ENODATA a task reads data that
 * no task has written; -ECANCELED the scope is cancelled; -ENOMEM.
 */
int lkdf_graph_run(struct lkdf_graph *g, struct lkdf_scope *s,
		   const struct lkdf_run *r, struct lkdf_event *done);

/**
 * lkdf_spawn_graph() - start a run of a graph as a child of the running body
 * @c: context of the body, on the body's own thread
 * @g: graph, sealed; may be the graph of the body's own task
 * @r: NULL: once; flags LKDF_RUN_NOWAIT or 0
 *
 * So a coarse task can expand into a graph while it runs, at any depth. The run
 * belongs to the scope of the body; a cancel and the deadline of the scope end
 * it. The run is a child: lkdf_join() and lkdf_then() with { 0 } wait for it,
 * and the body's task is complete only after it. lkdf_join() returns the run's
 * error; if the body does not join, its task ends with this error. Arguments
 * and the arg of @r are borrowed until the run has ended.
 *
 * If all kinds of a graph are LKDF_SHARED, its runs take any free frame, so its
 * runs may be nested as deep as its inflight. After -EAGAIN a body does the
 * work itself, or joins and tries again.
 *
 * A join runs descendants on the worker's own stack, so the run of a child must
 * not wait for tasks outside of it. Therefore the call refuses a graph with
 * inflight of more than 1 if a kind is not LKDF_SHARED, uses of data that is
 * not LKDF_DATA_ONCE, and kinds that need more tokens of a limit than the body
 * and its ancestors leave.
 *
 * Context: a body; does not block.
 * Return: 0; -EAGAIN inflight runs of @g are in progress; -EBADFD the graph is
 * not sealed; -EINVAL or -EOPNOTSUPP the call refuses the graph, see above;
 * -EDEADLK too few tokens of a limit are left; -ECANCELED the scope is
 * cancelled; -ENOMEM.
 */
int lkdf_spawn_graph(struct lkdf_ctx *c, struct lkdf_graph *g,
		     const struct lkdf_run *r);

/**
 * lkdf_graph_set() - change a task's argument from the next run on
 * @g:    graph, sealed, no run under way
 * @task: its number
 * @arg:  as lkdf_graph_add()
 *
 * Return: 0; -EBUSY runs are in progress; -EBADFD the graph is not sealed;
 * -EINVAL no such task.
 */
int lkdf_graph_set(struct lkdf_graph *g, int32_t task, const void *arg);

/**
 * lkdf_graph_dump() - write a description of a graph to a descriptor
 * @g:      graph, sealed or not
 * @fd:     open for writing
 * @format: "dot" or "json"
 *
 * In the JSON of a sealed graph a task with LKDF_PROFILE has "runs", the number
 * of calls of its body, and "total_ns" and "longest_ns", their total and
 * longest time. "loops" lists the loops: the head, the number of members, and
 * "region", which says whether a worker may run an iteration by itself, without
 * dependency counters. That is so for loops, also nested ones, of tasks that
 * any worker can run at once (kinds without limits, a device, a priority, a
 * thread, CPUs or a node of their own), if the edges take at most 64 bytes for
 * each member and option loop_regions permits it.
 *
 * Return: 0; -EINVAL; -errno of write(2).
 */
int lkdf_graph_dump(const struct lkdf_graph *g, int fd, const char *format);

/**
 * lkdf_graph_put() - give a graph back
 * @g: graph, or NULL; the library frees it after its last run
 */
void lkdf_graph_put(struct lkdf_graph *g);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
