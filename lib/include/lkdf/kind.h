/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A kind is an immutable sort of task, made once: body, flags, argument size,
 * limits. Tools, models and policy speak of kinds, by name.
 */
#ifndef LKDF_KIND_H
#define LKDF_KIND_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * A body. A negative return value is an errno (-ERANGE for one below -4095):
 * the task has failed. LKDF_AGAIN: the task waits, see channel.h. Any other
 * value: the task is done.
 * Where edges with LKDF_EDGE_BRANCH or LKDF_EDGE_BACK leave the task, the value
 * chooses among them: a branch number, LKDF_BRANCHES() or LKDF_NO_BRANCH; the
 * task fails with -ERANGE if no edge has that number.
 *
 * A C++ exception must not leave a body: it cannot become an error of the task
 * in C, so the process ends by SIGABRT and says on standard error which task,
 * of which kind, it was. That holds on every thread and below every handler of
 * the program. longjmp() and pthread_exit() out of a body are undefined.
 *
 * A child process that a body forks has none of the runtime's threads: calls on
 * the runtime give -EOWNERDEAD there, and the child leaves with exec or _exit,
 * not by returning from the body. It may open a runtime of its own.
 */
typedef int (*lkdf_fn)(struct lkdf_ctx *c, void *arg);

/* A function that gives back a value that no task owns, see port.h. */
typedef void (*lkdf_drop_fn)(void *value);

/* Several branches at once: bit n of mask takes branch n; n is 0 .. 28. */
#define LKDF_BRANCHES(mask) (0x20000000 | (mask))

/* No branch is taken; in a loop this ends the loop after its iteration. */
#define LKDF_NO_BRANCH 0x40000000

/*
 * A channel has given this body -EAGAIN, see lkdf_recv() of channel.h: the body
 * is called again when the channel moves. Less than any errno.
 */
#define LKDF_AGAIN (-0x40000001)

/* The source of a stream has no more: its wave is dropped, see graph.h. */
#define LKDF_END 0x40000002

enum lkdf_kind_flag {
	LKDF_SHARED =
		1 << 0, /* may overlap itself, up to width (0: no limit) */
	LKDF_ANY = 1 << 2, /* runs if one edge to it is live, see graph.h */
	LKDF_ALWAYS = 1 << 4, /* runs though an input failed or was cancelled */
	LKDF_BLOCKING = 1 << 5, /* may block: on the pool, option "blocking" */
	LKDF_TEAM = 1 << 6, /* makes threads: owns CPUs of its node */
	LKDF_SEES_CANCEL =
		1 << 8, /* called again where a cancel ends LKDF_AGAIN */
};

/*
 * Workers take ready tasks of a higher priority first. A submitted or spawned
 * task that is LKDF_URGENT does not wait for the end of long bodies either: if
 * no worker has taken it within spin_us of its submission, as all are in
 * bodies, a spare thread of the runtime runs it, as a body with LKDF_BLOCKING
 * is run. There is at most one such thread a worker. Tasks of graphs, of kinds
 * with limits or LKDF_TEAM, and tasks with LKDF_PINNED or on a part wait for a
 * worker, and so do all with serial=yes.
 */
enum lkdf_prio {
	LKDF_PRIO_DEFAULT,
	LKDF_IDLE,
	LKDF_NORMAL,
	LKDF_HIGH,
	LKDF_URGENT,
};

/*
 * An implementation of a kind, for the places that run it. A kind has at most
 * one for nodes and one for devices.
 */
struct lkdf_impl {
	uint32_t place_kinds; /* LKDF_PLACE_NODE; or bits of LKDF_PLACE_GPU and
			       * LKDF_PLACE_USER: devices of other kinds do
			       * not run the kernel. See place.h */
	uint32_t reserved; /* 0 */
	lkdf_fn fn; /* with LKDF_PLACE_NODE, else NULL */
	const void *kernel; /* of devices: const struct lkdf_kernel_attr *, its
			     * kind NULL, see code.h; with a node NULL */
};

struct lkdf_limit_use {
	struct lkdf_limit *limit;
	uint64_t tokens;
};

struct lkdf_kind_attr {
	uint32_t size, flags;
	const char *name;
	lkdf_fn fn;
	uint32_t arg_size; /* bytes copied into each task; 0: borrowed */
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
	uint32_t nr_cpus; /* with TEAM: of its node; 0: all it has workers on */
	uint32_t nr_tries; /* most calls of a failing body; 0 means 1 */
};

/* Attributes for one call, in C: LKDF_KIND(.name = "sum", .fn = sum). */
#define LKDF_KIND(...) LKDF_ATTR(lkdf_kind_attr, __VA_ARGS__)

/**
 * lkdf_kind_create() - make a sort of task
 * @rt:  runtime, borrowed; must outlive the kind
 * @a:   name (required, copied), fn (required), arg_size 0 .. 2^20,
 *       scratch_size 0 .. 2^30, prio; limit: at most 4 uses, tokens 1 up to
 *       the limit's own; on_cancel kicks a body that blocks, may run beside
 *       it and must not cancel anything itself; drop runs once per task, run
 *       or not, after the last use of its argument
 * @out: new kind, owned by the caller
 *
 * With impl a kind has several implementations, and the place that runs a task
 * chooses one: a node calls the fn of its implementation instead of @a->fn, a
 * device runs the kernel. A task without a place goes to the device that has
 * the fewest tasks of those that can run the kernel, as with
 * lkdf_kind_create_kernel(). If there is no such device, a worker calls fn;
 * without an implementation for nodes the task ends with -ENODEV. A kind whose
 * impl has a kernel cannot have on_cancel, LKDF_BLOCKING or LKDF_TEAM.
 *
 * With nr_tries the library calls a failing body again, at once and on the same
 * thread, until it succeeds or has been called so many times. The task ends
 * with the error of the last try, whose text has the number of tries. The tries
 * end early if the task is cancelled or its deadline is over, or if a try has
 * called lkdf_then() or lkdf_hold() or left a group open. The children of a
 * failed try end before the next try begins, and their errors are dropped. If a
 * body returns LKDF_AGAIN, its next call has all tries again. A try finds what
 * the failed one has left: data with LKDF_RW have what it wrote, and values
 * that it owned or passed on are gone. The task keeps its tokens of a limit
 * from the first try to the last. Operations and kernels have one try.
 *
 * LKDF_TEAM is for bodies that make threads of their own, as with OpenMP. Such
 * a body owns @nr_cpus CPUs of its node, or as many as there are workers there:
 * it begins once so many workers less one have ended their bodies, which then
 * run nothing until it returns. Meanwhile its thread may run on the CPUs of all
 * workers of the node, as may threads that it makes, and OpenMP is told of that
 * many threads; lkdf_team_size() says how many. Bodies without LKDF_TEAM, on
 * workers and in the blocking pool, get one thread of OpenMP; option omp=no
 * leaves that alone. A body must not wait, but by a join, for one with
 * LKDF_TEAM to begin. LKDF_TEAM goes neither with LKDF_BLOCKING nor with
 * operations and kernels.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL a field, named in lkdf_errmsg(); -EOPNOTSUPP a field or
 * flag whose feature is not built yet; -ENOMEM.
 */
int lkdf_kind_create(struct lkdf *rt, const struct lkdf_kind_attr *a,
		     struct lkdf_kind **out);

/**
 * lkdf_kind_put() - give a kind back
 * @k: kind, or NULL; it ends with its last task or graph
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
 * lkdf_limit_create() - a number of tokens that bodies hold
 * @rt:     runtime, borrowed; must outlive the limit
 * @tokens: 1 .. 2^32-1
 * @out:    new limit, owned by the caller
 *
 * A task whose kind uses the limit starts only when its tokens are there, and
 * gives them back when it is complete, on every exit: success, error or cancel.
 * A task is not complete before its children are, so the spawn refuses a child
 * that needs more tokens than its parents leave.
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int lkdf_limit_create(struct lkdf *rt, uint64_t tokens,
		      struct lkdf_limit **out);

/**
 * lkdf_limit_create_with() - lkdf_limit_create() of a limit that has a name
 * @rt:  runtime, borrowed; must outlive the limit
 * @a:   name, tokens
 * @out: new limit, owned by the caller; untouched on failure
 *
 * Errors and log lines that tell of the limit call it by name and tokens:
 * limit "files" of 64 tokens. Two limits may have one name.
 *
 * Return: 0; -EINVAL @a or @out is NULL, or a field, named in lkdf_errmsg();
 * -ENOMEM.
 */
int lkdf_limit_create_with(struct lkdf *rt, const struct lkdf_limit_attr *a,
			   struct lkdf_limit **out);

/**
 * lkdf_limit_put() - give a limit back
 * @l: limit, or NULL; it ends with the last kind that uses it
 */
void lkdf_limit_put(struct lkdf_limit *l);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
