/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A gang runs one function on several threads at the same time, with barriers,
 * as in SPMD programs and parallel regions of OpenMP. Member 0 is the thread
 * that runs the gang; members 1, 2, ... are workers 1, 2, ... of the runtime,
 * the same threads each time, so thread-local variables keep their values from
 * run to run. Members spawn tasks as other bodies do, and run them while they
 * wait in a barrier.
 */
#ifndef LKDF_GANG_H
#define LKDF_GANG_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct lkdf_gang;

/* c: of the member, for lkdf_spawn(), lkdf_join() and lkdf_gang_barrier();
 * num: 0 .. nr - 1; u: as given to lkdf_gang_run(). */
typedef void (*lkdf_gang_fn)(struct lkdf_ctx *c, unsigned num, void *u);

/**
 * lkdf_gang_create() - make a gang of all workers of a runtime
 * @rt:  runtime, borrowed; must outlive the gang
 * @out: new gang, owned by the caller; untouched on failure
 *
 * Until lkdf_gang_put() the thread of worker 0 sleeps, and the thread that runs
 * the gang acts as worker 0. So between two runs the runtime has one worker
 * less. If it was the only one, tasks wait for the next run, as lkdf_why()
 * says, unless option substitutes provides other threads. A runtime has one
 * gang at a time.
 *
 * Context: any thread but one in a body of @rt; waits for the body that worker
 * 0 is in.
 * Return: 0; -EINVAL; -EBUSY the runtime has a gang; -EOPNOTSUPP option serial;
 * -EDEADLK in a body of @rt; -ENOMEM; -ENOSPC as lkdf_place_part();
 * -EOWNERDEAD in a forked child.
 */
int lkdf_gang_create(struct lkdf *rt, struct lkdf_gang **out);

/**
 * lkdf_gang_resize() - set the number of members of later runs
 * @g:  gang
 * @nr: 1 .. lkdf_nr_workers() without substitutes, as many as at first
 *
 * Workers with the number @nr and higher sleep until a later call increases the
 * size or the gang is put, so tasks of members run only on threads of members.
 * With a size of 1 the runtime has no worker between two runs, see
 * lkdf_gang_create(). If the size is @nr already, the call is cheap.
 *
 * Context: any thread but one in a body of the gang's runtime; waits for the
 * bodies that workers @nr and up are in.
 * Return: 0; -EINVAL; -EBUSY another thread runs the gang; -EDEADLK in a body
 * of its runtime; -ENOMEM the size is between the old one and @nr; -EOWNERDEAD
 * in a forked child.
 */
int lkdf_gang_resize(struct lkdf_gang *g, unsigned nr);

/**
 * lkdf_gang_name() - name the next runs
 * @g:    gang
 * @name: copied, 63 bytes of it
 *
 * Tools show members of later runs as bodies with this name instead of "gang".
 * A gang can have 384 different names; a run with a further one is shown as
 * "gang".
 *
 * Context: as lkdf_gang_run(), while the gang does not run.
 * Return: 0; -EINVAL; -EBUSY a thread runs the gang; -ENOMEM; -EOWNERDEAD in a
 * forked child.
 */
int lkdf_gang_name(struct lkdf_gang *g, const char *name);

/**
 * lkdf_gang_run() - run a function on several members at a time
 * @g:  gang
 * @nr: 1 .. the gang's size: members
 * @fn: called once on each member
 * @u:  given to each call
 *
 * The call returns when all calls of @fn have returned and all tasks that they
 * spawned have ended. The worker of a member first ends the body that it runs,
 * then begins with @fn; in between it takes no other task.
 *
 * Context: any thread but one in a body of the gang's runtime; in a body of
 * another runtime, too. A gang has one run at a time.
 * Return: 0, or the first error of a task that a member has spawned; -EINVAL;
 * -EBUSY another thread runs the gang; -EDEADLK in a body of its runtime;
 * -ENOMEM nothing was run; -EOWNERDEAD in a forked child.
 */
int lkdf_gang_run(struct lkdf_gang *g, unsigned nr, lkdf_gang_fn fn, void *u);

/**
 * lkdf_gang_barrier() - wait for all members, and for the tasks of this one
 * @c: context of a member, not of a task that it has spawned
 *
 * The member first joins its children. Until all members of the run have called
 * this, its thread runs any ready tasks of the runtime, on the member's stack.
 * So a member must not hold locks here that tasks take. Afterwards each member
 * sees all writes that the members made before.
 *
 * Context: a function that lkdf_gang_run() has called.
 * Return: 0, or the first error of its children; -EINVAL the context is no
 * member's.
 */
int lkdf_gang_barrier(struct lkdf_ctx *c);

/**
 * lkdf_gang_drop() - leave the barriers of this run
 * @c: context of a member, not of a task that it has spawned
 *
 * From now on barriers of the run do not wait for this member, including a
 * barrier at which others wait already, as after
 * std::barrier::arrive_and_drop(). A member that ends early calls it to release
 * the others. It must not call this or lkdf_gang_barrier() again in this run.
 * The run still waits for its tasks.
 *
 * Context: a function that lkdf_gang_run() has called.
 * Return: 0; -EINVAL the context is no member's.
 */
int lkdf_gang_drop(struct lkdf_ctx *c);

/**
 * lkdf_gang_put() - free a gang
 * @g: gang that does not run, or NULL
 *
 * Context: any thread; worker 0 runs tasks again.
 */
void lkdf_gang_put(struct lkdf_gang *g);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
