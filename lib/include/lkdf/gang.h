/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A gang: one function on several threads at a time, with barriers, as SPMD
 * programs and the parallel regions of OpenMP are written. Member 0 is the
 * thread that runs the gang, members 1, 2, ... are workers 1, 2, ... of the
 * runtime, the same threads each time, so variables of threads keep their
 * values from run to run. Members spawn tasks as any body does, and run them
 * while they wait in a barrier.
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
 * The gang takes the seat of worker 0 until lkdf_gang_put(): the thread of
 * worker 0 sleeps, and threads that run the gang stand in for it. Between two
 * runs the runtime has one worker less: what is submitted then waits for the
 * next run where that was the only one, as lkdf_why() says. With the option
 * substitutes these run it. A runtime has one gang at a time.
 *
 * Context: any thread but one in a body of @rt; waits for the body that worker
 * 0 is in.
 * Return: 0; -EINVAL; -EBUSY the runtime has a gang; -EOPNOTSUPP option serial;
 * -EDEADLK in a body of @rt; -ENOMEM; -ENOSPC as lkdf_place_part();
 * -EOWNERDEAD in a forked child.
 */
int lkdf_gang_create(struct lkdf *rt, struct lkdf_gang **out);

/**
 * lkdf_gang_resize() - set how many workers run members and their tasks
 * @g:  gang
 * @nr: 1 .. lkdf_nr_workers() without substitutes, as many as at first
 *
 * Workers @nr and up sleep from now on, as worker 0 does, until a later call
 * asks for more of them or the gang is given back: tasks of the members run on
 * the members' threads alone. With a size of 1 the runtime has no worker from
 * one run to the next, as lkdf_gang_create() tells. Where the size is @nr
 * already the call is cheap.
 *
 * Context: any thread but one in a body of the gang's runtime; waits for the
 * bodies that workers @nr and up are in.
 * Return: 0; -EINVAL; -EBUSY another thread runs the gang; -EDEADLK in a body
 * of its runtime; -ENOMEM the size is between the old one and @nr; -EOWNERDEAD
 * in a forked child.
 */
int lkdf_gang_resize(struct lkdf_gang *g, unsigned nr);

/**
 * lkdf_gang_name() - say what the next runs are
 * @g:    gang
 * @name: copied, 63 bytes of it
 *
 * Tools show members of the runs from now on as bodies of that name, as they
 * show other bodies by the name of their kind; without a name it is "gang". A
 * gang knows 384 names, further ones are "gang" again.
 *
 * Context: as lkdf_gang_run(); nobody runs the gang.
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
 * Returns when all calls have, and all tasks that they spawned have ended.
 * A member's worker begins once the body that it is in ends. Until its member
 * has begun it takes no other task, so what members make finds each thread as
 * its member has set it up.
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
 * The member first joins its children. Until all members of the run are here
 * its thread runs whatever tasks of the runtime are ready, on top of the
 * member's stack, so a member holds no locks here that tasks take. Each member
 * sees afterwards what all members did before.
 *
 * Context: a function that lkdf_gang_run() has called.
 * Return: 0, or the first error of its children; -EINVAL the context is no
 * member's.
 */
int lkdf_gang_barrier(struct lkdf_ctx *c);

/**
 * lkdf_gang_drop() - come to no barrier of this run any more
 * @c: context of a member, not of a task that it has spawned
 *
 * Barriers of the run wait for the other members only, as after
 * std::barrier::arrive_and_drop(): the one at which others wait already, too.
 * So a member that gives up early releases them. It calls neither this nor
 * lkdf_gang_barrier() again before its function returns. The run still waits
 * for its tasks.
 *
 * Context: a function that lkdf_gang_run() has called.
 * Return: 0; -EINVAL the context is no member's.
 */
int lkdf_gang_drop(struct lkdf_ctx *c);

/**
 * lkdf_gang_put() - give a gang back
 * @g: gang, or NULL; nobody runs it
 *
 * Context: any thread; worker 0 goes back to work.
 */
void lkdf_gang_put(struct lkdf_gang *g);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
