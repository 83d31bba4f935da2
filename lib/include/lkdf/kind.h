/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A kind is a sort of task: a name, a body, flags, the size of the argument,
 * limits. It does not change after its creation. Reports and recordings show
 * the names of kinds.
 */
#ifndef LKDF_KIND_H
#define LKDF_KIND_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * A body. A negative return value is an errno: the task has failed (-ERANGE
 * replaces a value less than -4095). LKDF_AGAIN: the task waits, see channel.h.
 * Any other value: the task has succeeded. If edges with LKDF_EDGE_BRANCH or
 * LKDF_EDGE_BACK leave the task, the value chooses among them: a branch number,
 * LKDF_BRANCHES() or LKDF_NO_BRANCH; the task fails with -ERANGE if no edge has
 * that number.
 *
 * A C++ exception must not leave a C body. If it does, the process writes the
 * task and its kind to standard error and ends by SIGABRT, on every thread and
 * whatever handlers the program has. Do not leave a body with longjmp() or
 * pthread_exit(): the behaviour is undefined.
 *
 * A process that a body forks has none of the runtime's threads: calls on the
 * runtime return -EOWNERDEAD in it, and it must end with exec or _exit, not by
 * a return from the body. It may open a runtime of its own.
 */
typedef int (*lkdf_fn)(struct lkdf_ctx *c, void *arg);

/* A function that frees a value that no task owns, see port.h. */
typedef void (*lkdf_drop_fn)(void *value);

/* Several branches at once: bit n of mask takes branch n; n is 0 .. 28. */
#define LKDF_BRANCHES(mask) (0x20000000 | (mask))

/* No branch is taken; in a loop this ends the loop after its iteration. */
#define LKDF_NO_BRANCH 0x40000000

/*
 * A body returns this after lkdf_send() or lkdf_recv() returned -EAGAIN: the
 * runtime calls it again when the channel changes. Less than any errno.
 */
#define LKDF_AGAIN (-0x40000001)

/* The source of a stream returns this at its end: the stream drops the wave,
 * see graph.h. */
#define LKDF_END 0x40000002

enum lkdf_kind_flag {
	LKDF_SHARED = 1 << 0, /* tasks may overlap, up to width (0: all) */
	LKDF_ANY = 1 << 2, /* runs if at least one edge to it is live, see
			    * graph.h */
	LKDF_ALWAYS = 1 << 4, /* runs even if an input has failed or was
			       * cancelled */
	LKDF_BLOCKING = 1 << 5, /* may block: runs in the blocking pool,
				 * option "blocking" */
	LKDF_TEAM = 1 << 6, /* makes threads: owns several CPUs of its node */
	LKDF_SEES_CANCEL = 1 << 8, /* is called again when cancelled */
};

/*
 * Workers take ready tasks of a higher priority first. A submitted or spawned
 * task with LKDF_URGENT does not wait for long bodies either: if all workers
 * are in bodies and none has taken it within spin_us, a spare thread runs it.
 * There is at most one spare thread for each worker. These urgent tasks wait
 * for a worker all the same: tasks of graphs, of kinds with limits or
 * LKDF_TEAM, tasks with LKDF_PINNED or on a part of a place, and all tasks with
 * serial=yes.
 */
enum lkdf_prio {
	LKDF_PRIO_DEFAULT,
	LKDF_IDLE,
	LKDF_NORMAL,
	LKDF_HIGH,
	LKDF_URGENT,
};

/*
 * An implementation of a kind for some places. A kind has at most one for nodes
 * and one for devices.
 */
struct lkdf_impl {
	uint32_t place_kinds; /* LKDF_PLACE_NODE; or LKDF_PLACE_GPU,
			       * LKDF_PLACE_USER or both: only such devices
			       * run the kernel. See place.h */
	uint32_t reserved; /* 0 */
	lkdf_fn fn; /* with LKDF_PLACE_NODE, else NULL */
	const void *kernel; /* for devices: const struct lkdf_kernel_attr *
			     * with kind NULL, see code.h; for nodes NULL */
};

struct lkdf_limit_use {
	struct lkdf_limit *limit;
	uint64_t tokens;
};

struct lkdf_kind_attr {
	uint32_t size, flags;
	const char *name;
	lkdf_fn fn;
	uint32_t arg_size; /* bytes of the argument, copied into each task;
			    * 0: borrowed */
	uint32_t scratch_size; /* worker-local bytes for the body */
	uint16_t nr_in, nr_out, width;
	int8_t prio, pad;
	const uint32_t *in_size, *out_size;
	const struct lkdf_impl *impl;
	const struct lkdf_limit_use *limit;
	uint32_t nr_impl, nr_limit;
	void (*on_cancel)(void *arg);
	void (*drop)(void *arg);
	const lkdf_drop_fn *out_drop; /* nr_out of them, each or NULL */
	uint32_t nr_cpus; /* with TEAM: CPUs of its node; 0: as many as the
			   * node has workers */
	uint32_t nr_tries; /* calls of a failing body at most; 0 means 1 */
};

/* Attributes for one call, in C: LKDF_KIND(.name = "sum", .fn = sum). */
#define LKDF_KIND(...) LKDF_ATTR(lkdf_kind_attr, __VA_ARGS__)

/**
 * lkdf_kind_create() - make a sort of task
 * @rt:  runtime, borrowed; must outlive the kind
 * @a:   name (required, copied), fn (required), arg_size 0 .. 2^20,
 *       scratch_size 0 .. 2^30, prio; limit: at most 4 uses, tokens 1 up to the
 *       limit's own; on_cancel unblocks a body that blocks; it may run at the
 *       same time as the body and must not cancel anything itself. drop runs
 *       once for each task, whether its body ran or not, after the last use of
 *       its argument
 * @out: new kind, owned by the caller
 *
 * With impl a kind has several implementations, and the place of a task selects
 * one: on a node the library calls the fn of the implementation for nodes
 * instead of @a->fn, on a device it runs the kernel. A task without a place
 * goes to the device that can run the kernel and has the fewest tasks, as with
 * lkdf_kind_create_kernel(). If there is no such device, a worker calls fn;
 * without an implementation for nodes the task ends with -ENODEV. A kind with a
 * kernel cannot have on_cancel, LKDF_BLOCKING or LKDF_TEAM.
 *
 * With nr_tries the library calls a failing body again, at once and on the same
 * thread, until it succeeds or has been called that many times. The task ends
 * with the error of the last try, whose text has the number of tries. There are
 * no further tries if the task is cancelled or its deadline has passed, or if a
 * try has called lkdf_then() or lkdf_hold() or has left a group open. The next
 * try begins when the children of the failed one have ended; their errors are
 * dropped. After LKDF_AGAIN the count begins anew. The effects of a failed try
 * remain: data with LKDF_RW contain what it wrote, and values that it owned or
 * passed on are gone. The task keeps its tokens of a limit from the first try
 * to the last. Operations and kernels have one try.
 *
 * LKDF_TEAM is for bodies that make threads of their own, for instance with
 * OpenMP. Such a body owns @nr_cpus CPUs of its node, at most one for each
 * worker there. It begins when that many workers of the node, its own included,
 * have ended their bodies; the other ones run nothing until it returns.
 * Meanwhile its thread, and threads that it makes, may run on the CPUs of all
 * workers of the node. lkdf_team_size() returns the number, which the library
 * sets as OpenMP's number of threads. In bodies without LKDF_TEAM, on workers
 * and in the blocking pool, OpenMP gets one thread; with option omp=no the
 * library sets neither. A body must not wait, except in a join, until a task
 * with LKDF_TEAM begins. LKDF_TEAM cannot be combined with LKDF_BLOCKING,
 * operations or kernels.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL a field is wrong, lkdf_errmsg() names it; -EOPNOTSUPP this
 * version does not support a field or flag; -ENOMEM.
 */
int lkdf_kind_create(struct lkdf *rt, const struct lkdf_kind_attr *a,
		     struct lkdf_kind **out);

/**
 * lkdf_kind_put() - give a kind back
 * @k: kind, or NULL; the library frees it after its last task and graph
 */
void lkdf_kind_put(struct lkdf_kind *k);

/* Attributes of lkdf_limit_create_with(). */
struct lkdf_limit_attr {
	uint32_t size, flags; /* flags: 0 */
	const char *name; /* copied, 31 bytes of it; NULL or "": none */
	uint64_t tokens; /* 1 .. 2^32-1 */
};

/* Attributes for one call, in C: LKDF_LIMIT(.name = "files", .tokens = 64). */
#define LKDF_LIMIT(...) LKDF_ATTR(lkdf_limit_attr, __VA_ARGS__)

/**
 * lkdf_limit_create() - make a limit: a number of tokens that tasks share
 * @rt:     runtime, borrowed; must outlive the limit
 * @tokens: 1 .. 2^32-1
 * @out:    new limit, owned by the caller
 *
 * A task whose kind uses the limit starts when its tokens are free, and returns
 * them when it is complete, whether it succeeds, fails or is cancelled. A task
 * is complete only after its children, so a spawn returns -EDEADLK for a child
 * that needs more tokens than its ancestors leave.
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int lkdf_limit_create(struct lkdf *rt, uint64_t tokens,
		      struct lkdf_limit **out);

/**
 * lkdf_limit_create_with() - make a limit with a name
 * @rt:  runtime, borrowed; must outlive the limit
 * @a:   name, tokens
 * @out: new limit, owned by the caller; untouched on failure
 *
 * Errors and log lines name the limit with its tokens: limit "files" of 64
 * tokens. Two limits may have the same name.
 *
 * Return: 0; -EINVAL @a or @out is NULL, or a field, named in lkdf_errmsg();
 * -ENOMEM.
 */
int lkdf_limit_create_with(struct lkdf *rt, const struct lkdf_limit_attr *a,
			   struct lkdf_limit **out);

/**
 * lkdf_limit_put() - give a limit back
 * @l: limit, or NULL; the library frees it after the last kind that uses it
 */
void lkdf_limit_put(struct lkdf_limit *l);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
