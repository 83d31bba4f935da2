/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The runtime owns the workers and all other objects. The library has no global
 * state: a process may open several runtimes.
 */
#ifndef LKDF_RUNTIME_H
#define LKDF_RUNTIME_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lkdf_log_level {
	LKDF_LOG_ERROR,
	LKDF_LOG_INFO,
	LKDF_LOG_DEBUG,
};

/* Features in use; "lkdf doctor" says why the others are not. */
enum lkdf_cap {
	LKDF_CAP_PINNED = 1 << 0, /* workers are bound to one CPU each */
	LKDF_CAP_NODES = 1 << 1, /* more than one NUMA node is in use */
	LKDF_CAP_TRACE = 1 << 2, /* tools see counters and events */
	LKDF_CAP_BIND = 1 << 3, /* memory of a node is bound to it */
	LKDF_CAP_URING = 1 << 4, /* operations go through io_uring */
	LKDF_CAP_PAGES = 1 << 5, /* the runtime can ask where pages are */
	LKDF_CAP_KMOD = 1 << 6, /* the kernel module reports page moves */
	LKDF_CAP_PROBE = 1 << 7, /* lkdf probe sees the workers */
};

/* A thread of the runtime that runs bodies. */
struct lkdf_thread {
	uint32_t size;
	int32_t executor; /* as lkdf_worker(): workers have the first numbers */
	int32_t cpu; /* CPU that the worker is bound to; -1: not bound to one */
	int32_t node; /* the worker's NUMA node, as the system numbers it;
		       * -1: any */
	const char *name; /* name of the thread in the system: "lkdf/0.1" */
};

struct lkdf_open_attr {
	uint32_t size, flags;
	const char *options;
	void (*log)(void *u, int level, const char *text);
	void *u; /* of log and thread_begins */
	const char *thread_name; /* NULL: "lkdf"; 7 bytes at most, copied */
	void (*thread_begins)(void *u, const struct lkdf_thread *t); /* or NULL
								      */
};

/* Attributes for one call, in C: LKDF_OPEN(.options = "workers=4"). */
#define LKDF_OPEN(...) LKDF_ATTR(lkdf_open_attr, __VA_ARGS__)

/**
 * lkdf_open() - start a runtime
 * @options: "name=value,name=value"; NULL or "" for all defaults. Variables of
 *           the environment (LKDF_<NAME>) override the text, unless it contains
 *           "final". lkdf_describe(rt, "options", ...) lists names, ranges and
 *           values
 * @out:     new runtime, owned by the caller
 *
 * Context: any thread that is not a worker; creates threads.
 * Return: 0; -EINVAL an option is wrong (lkdf_errmsg() names the nearest known
 * one) or @out is NULL; -ENOMEM; -EAGAIN the system has no more threads; -EPERM
 * option topology or hooks in a program with raised rights (setuid).
 */
int lkdf_open(const char *options, struct lkdf **out);

/**
 * lkdf_open_with() - start a runtime with callbacks and thread names
 * @a:   attributes. options: as for lkdf_open(). log: called from any thread,
 *       must not call lkdf. thread_name, thread_begins: see below
 * @out: new runtime, owned by the caller
 *
 * The name of a thread that runs bodies is thread_name, a slash and a number.
 * Each such thread calls thread_begins() once, before its first body. Workers
 * call it during lkdf_open_with() or soon after; threads of the blocking pool
 * and spare threads call it when the runtime creates them. The function may set
 * properties of the thread, such as its priority, its CPUs (with option pin=no
 * the runtime does not set them) or thread-local variables of another library.
 * It must not call lkdf. Options cpus and workers_per_node choose the CPUs that
 * have workers. With serial=yes no thread of the runtime runs bodies, so the
 * function is not called.
 *
 * Without a log callback, and after lkdf_open(), the library writes log lines
 * to standard error. At level error these are the errors that no call has
 * returned to the program. Option log, or LKDF_LOG in the environment, sets the
 * level: "none", "error", "info" or "debug".
 *
 * Return: as lkdf_open(); -EINVAL thread_name is too long.
 */
int lkdf_open_with(const struct lkdf_open_attr *a, struct lkdf **out);

/**
 * lkdf_close() - stop the workers and free everything
 * @rt: runtime, or NULL
 *
 * The call writes errors that the program has not read to the log. In a forked
 * child it only frees memory.
 *
 * At level info the log names the kinds, graphs, scopes, limits, events and
 * data that the program has not put. A put of such a handle after the close,
 * unless it is an event, only logs an error.
 *
 * A program may call exit(3) instead. Then the library completes the recording
 * of option trace, reports no errors, and bodies run until the process ends.
 *
 * Context: any thread that is not a worker; joins the workers.
 * Return: 0; -EBUSY tasks or runs have not ended, or a thread holds an acquired
 * data; lkdf_errmsg() names it, and the runtime stays open: wait for it or use
 * lkdf_close_now(); -EDEADLK in a body.
 */
int lkdf_close(struct lkdf *rt);

/**
 * lkdf_close_now() - cancel all tasks and runs, wait for them, and close
 * @rt: runtime, or NULL
 *
 * The call cancels tasks and runs that have not ended with -ECANCELED and logs
 * that as an error. It waits for bodies that have started: a body that waits
 * for this thread is a deadlock.
 *
 * Context: as lkdf_close().
 * Return: as lkdf_close(); -EBUSY while a thread has acquired a data.
 */
int lkdf_close_now(struct lkdf *rt);

/**
 * lkdf_default() - the runtime that all libraries of the process share
 * @out: the runtime, with one more reference; lkdf_default_put() drops it
 *
 * The first call opens the runtime as lkdf_open() does with @options NULL: only
 * the environment sets options. In a forked child the first call opens a new
 * one.
 *
 * Context: any thread; the first call waits until the workers have started.
 * Return: 0; -EINVAL; as lkdf_open().
 */
int lkdf_default(struct lkdf **out);

/**
 * lkdf_default_put() - drop a reference to the shared runtime
 * @rt: from lkdf_default(), or NULL; do not call lkdf_close() on it
 *
 * The call that drops the last reference waits for all tasks and runs, then
 * closes the runtime. If references are left at exit(3), the library cancels
 * all tasks, waits at most two seconds for bodies that have started, and
 * closes. In a forked child a put of the parent's runtime does nothing.
 *
 * Context: any thread that is not in a body.
 * Return: 0; -EDEADLK in a body; -EBUSY a thread holds an acquired data: the
 * runtime stays open, and lkdf_default() does not return it any more.
 */
int lkdf_default_put(struct lkdf *rt);

/**
 * lkdf_caps() - which optional features this runtime uses
 * @rt: runtime
 *
 * Return: LKDF_CAP_* bits.
 */
uint64_t lkdf_caps(const struct lkdf *rt);

/**
 * lkdf_nr_workers() - how many workers the runtime has
 * @rt: runtime
 *
 * Threads of the blocking pool and spare threads are not workers, see
 * lkdf_nr_executors(). With serial=yes the count is 1. The count is constant
 * until close. It includes workers that do not run at present: because the CPU
 * quota has fallen, because they are in reserve for a higher quota (option
 * reserve_workers), or because they are substitutes (option substitutes), which
 * run while other workers rest in joins. Substitutes have the highest numbers.
 *
 * Context: any thread, does not block.
 * Return: a count >= 1; -EINVAL @rt is NULL.
 */
int lkdf_nr_workers(const struct lkdf *rt);

/**
 * lkdf_nr_executors() - how many different numbers lkdf_worker() can return
 * @rt: runtime
 *
 * An array of this size has an entry for each thread that may run a body.
 * Workers have the first numbers. Then come the threads of the blocking pool,
 * which the runtime creates when it needs them, the threads of devices, and the
 * spare threads, which run LKDF_URGENT tasks.
 *
 * Context: any thread, does not block.
 * Return: a count > lkdf_nr_workers(); -EINVAL @rt is NULL.
 */
int lkdf_nr_executors(const struct lkdf *rt);

/**
 * lkdf_describe() - write a description of the runtime to a descriptor
 * @rt:     runtime
 * @what:   "topo", "caps", "options" or "stats"
 * @format: "text" or "json"
 * @fd:     open for writing
 *
 * Return: 0; -EINVAL unknown @what or @format; -errno of write(2).
 */
int lkdf_describe(struct lkdf *rt, const char *what, const char *format,
		  int fd);

/**
 * lkdf_why() - write what waits in the runtime, and what it waits for
 * @rt:     runtime
 * @format: "text" or "json"
 * @fd:     open for writing
 *
 * The text has one line for each task, run or thread that waits for one of
 * these: tokens of a limit; an event; a value of a channel, or room in it;
 * data, or its bytes on the way from a device; an operation; memory, a queue or
 * work of a device; room in a scope. The line names the ancestors of the task,
 * the limits of which these hold tokens, and how many unresolved tasks come
 * after it. A run in which the call found no such task has a line as well. In
 * JSON (schema "lkdf/why/1") the lines are the array "waits" of {cause, who,
 * waits, behind, next}; a cause is "token", "event", "channel", "data", "io",
 * "device", "room" or "run". If workers sleep because a gang has their seats, a
 * line has their number ("seats" in JSON) and says whether any worker is left
 * for other tasks.
 *
 * With option stall each running body has a line, too: its kind, its executor
 * and how long it has run. In JSON that is the array "bodies" of {kind,
 * executor, ns}, which is empty without the option.
 *
 * If lkdf probe watches the workers, each body whose thread does not run has a
 * line, too. It says whether the thread sleeps in a futex of the program,
 * sleeps elsewhere or waits for a CPU, and for how long. For a futex the line
 * has its address and, for PI and robust mutexes, the thread that holds it. In
 * JSON that is the array "sleeps" of {kind, executor, state, ns, word,
 * holder_tid, holder, preempted_by_tid, preempted_by}. A state is "futex",
 * "blocked" or "preempted"; an unknown holder_tid is 0, and an unknown holder
 * -1. If the body's thread or the holder waits for a CPU, the last two fields
 * are the number and the name of the thread that has this CPU, else 0 and "".
 *
 * The call reads one object after another while the workers go on. So the text
 * is no consistent snapshot, and a wait may be over before its line is written.
 * No lines: tasks queued for workers, tasks that wait for the end of another
 * task, and children that wait for data of each other. There are at most 128
 * lines, at most 8 for one limit, ring, device or side of a channel, and at
 * most 64 for bodies; the text says how many more wait.
 *
 * Context: any thread, bodies included; the call waits for no body, and
 * allocates memory that it frees again.
 * Return: 0; -EINVAL @format is unknown; -ENOMEM; -EOWNERDEAD in a forked
 * child; -errno of write(2).
 */
int lkdf_why(struct lkdf *rt, const char *format, int fd);

/**
 * lkdf_stat() - one counter by name
 * @rt:   runtime
 * @name: "lkdf.worker.3.tasks" or "lkdf.tasks" (summed over the workers);
 *        "lkdf.kind.NAME.bodies" with option kinds; lkdf_describe(rt, "stats",
 * ...) lists all
 * @out:  the value, which may be slightly old while workers run
 *
 * Return: 0; -ENOENT unknown name.
 */
int lkdf_stat(struct lkdf *rt, const char *name, uint64_t *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
